//! Values from another place of the output than those of the ends.

use super::*;
use crate::evaluation::{FormsAtEnds, PlacesAtEnds, ValueForms, ValuePlaces};

fn of(form: &str) -> ValueForms {
    std::iter::once(form.to_owned()).collect()
}

/// The decision on runs with this value, each from a line of this form. `ends`: the forms of the
/// good and the bad end.
fn judged(ends: [&str; 2], forms: &[&str]) -> Decision {
    let [good, bad] = ends.map(|form| Some(of(form)));
    let target = GuardTarget {
        forms: FormsAtEnds::of(good, bad),
        ..target(GuardForm::MaxIncrease(0.1), 7.0, 7.5)
    };
    let runs = forms.iter().map(|form| {
        let mut run = ppl(7.02);
        run.result.as_mut().unwrap().forms.insert(Metric::of("ppl"), of(form));
        run
    });
    decide(&seen('a', "ppl", runs), &guarded(target))
}

#[test]
fn a_value_from_another_place_than_at_both_ends_says_nothing() {
    let ends = ["ppl VALUE"; 2];
    assert_eq!(settled(judged(ends, &["ppl VALUE"])).verdict, Verdict::Good);
    assert_eq!(judged(ends, &["reference ppl VALUE"]), Decision::More(2));
    let judgement = settled(judged(ends, &["reference ppl VALUE"; 2]));
    assert_eq!(judgement.skip, Some(SkipReason::OtherForm));
    assert_eq!(
        judgement.reason,
        "ppl comes from another place of the output: `reference ppl VALUE`, but `ppl VALUE` at \
         both ends"
    );
}

#[test]
fn a_place_that_varies_says_nothing_about_the_value() {
    let is_good = |ends, forms: &[&str]| settled(judged(ends, forms)).verdict == Verdict::Good;
    let ends = ["ppl by avx VALUE"; 2];
    assert!(is_good(ends, &["ppl by neon VALUE", "ppl by avx VALUE"]));
    assert!(is_good(ends, &["ppl by neon VALUE", "ppl by sse VALUE"]));
    assert!(is_good(["ppl VALUE", "final ppl VALUE"], &["another ppl VALUE"]));
}

#[test]
fn a_name_that_the_ends_share_counts_unless_it_varies_in_the_commits_runs() {
    let ends = ["q4_0 at d1 VALUE", "q4_0 at d2 VALUE"];
    assert_eq!(settled(judged(ends, &["q4_0 at d3 VALUE"])).verdict, Verdict::Good);
    let judgement = settled(judged(ends, &["q8_0 at d3 VALUE", "q8_0 at d4 VALUE"]));
    assert_eq!(judgement.skip, Some(SkipReason::OtherForm));
    assert!(judgement.reason.contains("`q8_0 at # VALUE`, but `q4_0 at # VALUE` at both ends"));
    let varies = settled(judged(ends, &["q8_0 at d3 VALUE", "q4_1 at d3 VALUE"]));
    assert_eq!(varies.verdict, Verdict::Good);
}

#[test]
fn a_value_of_another_thing_than_at_both_ends_says_nothing() {
    let ends = Some(ValuePlaces::of_names("q4", &["f16"]));
    let target = GuardTarget {
        places: PlacesAtEnds::of(ends.clone(), ends),
        ..target(GuardForm::MaxIncrease(0.1), 7.0, 7.5)
    };
    let judged = |runs: &[[&str; 2]]| {
        let runs = runs.iter().map(|[own, other]| {
            let mut run = ppl(7.02);
            let places = ValuePlaces::of_names(own, &[*other]);
            run.result.as_mut().unwrap().places.insert(Metric::of("ppl"), places);
            run
        });
        decide(&seen('a', "ppl", runs), &guarded(target.clone()))
    };
    let swapped = ["f16", "q4"];
    assert_eq!(judged(&[swapped]), Decision::More(2));
    let judgement = settled(judged(&[swapped; 2]));
    assert_eq!(judgement.skip, Some(SkipReason::OtherForm));
    assert_eq!(
        judgement.reason,
        "ppl comes from another place of the output: `f16`, but `q4` at both ends"
    );
    assert_eq!(settled(judged(&[["q4", "f16"]])).verdict, Verdict::Good);
    assert_eq!(settled(judged(&[["q8", "bf16"]])).verdict, Verdict::Good);
    assert_eq!(settled(judged(&[swapped, ["q4", "f16"]])).verdict, Verdict::Good);
}
