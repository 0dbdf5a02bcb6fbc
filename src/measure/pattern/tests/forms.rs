//! The forms of the lines with a value.

use super::*;
use crate::evaluation::{ValueForms, ValuePlaces};

fn forms(pick: Pick, kind: MeasureKind, lines: &[&str]) -> Option<ValueForms> {
    let regex = Regex::new(r"ppl = (\S+)").unwrap();
    let mut parser = Pattern::new("m", &regex, pick, kind);
    for line in lines {
        parser.line(line);
    }
    parser.finish().unwrap().forms.remove(&Metric::of("m"))
}

fn of(forms: &[&str]) -> ValueForms {
    forms.iter().map(|form| (*form).to_owned()).collect()
}

#[test]
fn the_value_has_the_form_of_its_line() {
    let number = |pick, lines: &[&str]| forms(pick, MeasureKind::Number, lines);
    let lines = ["chunk 1 ppl = 6.1", "ppl = 7.5", "reference ppl = 7.02"];
    assert_eq!(number(Pick::Last, &lines), Some(of(&["reference ppl VALUE"])));
    assert_eq!(number(Pick::First, &lines), Some(of(&["chunk # ppl VALUE"])));
    assert_eq!(number(Pick::Last, &lines[..2]), Some(of(&["ppl VALUE"])));
    // The same number twice: either line may come last.
    let twice = ["log: ppl = 7.5", "ppl = 7.5"];
    assert_eq!(number(Pick::Last, &twice), Some(of(&["log ppl VALUE", "ppl VALUE"])));
    assert_eq!(forms(Pick::Last, MeasureKind::Fact, &lines[1..2]), Some(of(&["ppl VALUE"])));
}

#[test]
fn a_value_of_all_lines_has_the_forms_of_all_lines() {
    let least = |lines: &[&str]| forms(Pick::Min, MeasureKind::Number, lines);
    assert_eq!(least(&["a ppl = 6", "b ppl = 7"]), least(&["b ppl = 6", "a ppl = 7"]));
    assert_eq!(
        least(&["ppl = 7", "ppl = 6.9 (warmup)"]),
        Some(of(&["ppl VALUE; ppl VALUE warmup"]))
    );
}

#[test]
fn lines_of_many_things_have_no_form() {
    let lines: Vec<String> = ('a'..='z')
        .flat_map(|one| [format!("{one}{one} ppl = 7"), format!("{one}z{one} ppl = 7")])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(forms(Pick::Last, MeasureKind::Number, &lines), None);
}

#[test]
fn names_count_unless_there_are_many() {
    let last = |lines: &[&str]| forms(Pick::Last, MeasureKind::Number, lines);
    let swapped = ["q4_0 ppl = 7", "q8_0 ppl = 6"];
    assert_eq!(last(&swapped), Some(of(&["q8_0 ppl VALUE"])));
    let lines: Vec<String> = (0..40).map(|number| format!("chunk{number} ppl = 7")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(last(&lines), Some(of(&["# ppl VALUE"])));
}

fn places(pick: Pick, lines: &[&str]) -> Option<ValuePlaces> {
    let regex = Regex::new(r"ppl = (\S+)").unwrap();
    let mut parser = Pattern::new("m", &regex, pick, MeasureKind::Number);
    for line in lines {
        parser.line(line);
    }
    parser.finish().unwrap().places.remove(&Metric::of("m"))
}

#[test]
fn lines_with_the_same_form_are_told_apart_by_the_other_lines() {
    let words = "loaded all tensors of this model and its text,";
    for [one, two] in [
        ["./models/q4.gguf: ppl = 7", "./models/f16.gguf: ppl = 6"].map(str::to_owned),
        [
            "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf: ppl = 7",
            "Meta-Llama-3.1-8B-Instruct-F16.gguf: ppl = 6",
        ]
        .map(str::to_owned),
        ["f16", "bf16"].map(|name| format!("{name}: {words} ppl = {}", name.len())),
    ] {
        let lines = [one.as_str(), two.as_str()];
        let swapped = [lines[1], lines[0]];
        let last = [lines, swapped].map(|lines| places(Pick::Last, &lines).unwrap());
        let first = [lines, swapped].map(|lines| places(Pick::First, &lines).unwrap());
        assert!(last[0].told_apart(&last[1]).is_some(), "{one}");
        assert_eq!([&first[0], &first[1]], [&last[1], &last[0]]);
        assert_eq!(
            forms(Pick::Last, MeasureKind::Number, &lines),
            forms(Pick::Last, MeasureKind::Number, &swapped)
        );
        assert_eq!(places(Pick::Max, &lines), None);
    }
}

#[test]
fn lines_of_a_progress_are_no_other_things() {
    let steps = |count: u32| -> Option<ValuePlaces> {
        let lines: Vec<String> =
            (1..=count).map(|step| format!("[{step}] ppl = 7.{step}")).collect();
        places(Pick::Last, &lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(steps(9).unwrap().told_apart(&steps(10).unwrap()), None);
    assert_eq!(steps(40), None);
    // The same number at both places is one value.
    let [one, two] = [["./a: ppl = 7", "./b: ppl = 7"], ["./b: ppl = 7", "./a: ppl = 7"]];
    let [one, two] = [one, two].map(|lines| places(Pick::Last, &lines).unwrap());
    assert_eq!(one.told_apart(&two), None);
}
