use super::*;
use crate::evaluation::FailureKind;

fn read_as(kind: MeasureKind, pointer: &str, stdout: &str) -> Result<Value, Failure> {
    let parser = Document::new("m", &[(None, pointer.to_owned())].into(), kind);
    parser.finish(stdout).map(|reading| reading.values[&Metric::of("m")].clone())
}

fn read(pointer: &str, stdout: &str) -> Result<Value, Failure> {
    read_as(MeasureKind::Number, pointer, stdout)
}

fn fact(pointer: &str, stdout: &str) -> Value {
    read_as(MeasureKind::Fact, pointer, stdout).unwrap()
}

fn detail(pointer: &str, stdout: &str) -> String {
    let failure = read(pointer, stdout).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreadable);
    failure.detail
}

#[test]
fn pointers_lead_to_numbers() {
    let bench = r#"[ {"n_gen": 0, "avg_ts": 812.5}, {"n_gen": 32, "avg_ts": 0.1, "a/b": {"m~n": "1e-5"}} ]"#;
    assert_eq!(read("/1/avg_ts", bench), Ok(Value::Number(0.1)));
    assert_eq!(read("/0/n_gen", bench), Ok(Value::Number(0.0)));
    assert_eq!(read("/1/a~1b/m~0n", bench), Ok(Value::Number(1e-5)));
    assert_eq!(read("", " 17.25\n"), Ok(Value::Number(17.25)));
}

#[test]
fn a_number_with_too_many_digits_is_refused() {
    for printed in ["12345678901234567890", "-9007199254740993", "1234567890123456789012345"] {
        let told = detail("/x", &format!("{{\"a\": 1, \"x\": {printed}}}"));
        assert!(told.contains(printed) && told.contains("kind = \"fact\""), "{told}");
    }
    let text = r#"{"x": 1e30, "y": 9007199254740994, "z": 12345678901234567890}"#;
    assert_eq!(read("/x", text), Ok(Value::Number(1e30)));
    assert_eq!(read("/y", text), Ok(Value::Number(9_007_199_254_740_994.0)));
    let named = fact("/x", r#"{"x": 12345678901234567890}"#);
    assert_eq!(named, Value::Fact("12345678901234567890".to_owned()));
}

#[test]
fn each_pointer_has_its_name() {
    let pointers =
        [(Some("pp".to_owned()), "/0".to_owned()), (Some("tg".to_owned()), "/1".to_owned())];
    let parser = Document::new("m", &pointers.into(), MeasureKind::Number);
    let values = parser.finish("[1, 2]").unwrap().values;
    assert_eq!(values[&Metric::named("m", "pp")], Value::Number(1.0));
    assert_eq!(values[&Metric::named("m", "tg")], Value::Number(2.0));
}

#[test]
fn banners_before_the_document_are_passed_over() {
    let pretty = "{\n  \"a\": [\n    {\"x\": 1},\n    {\"x\": 2}\n  ]\n}\n";
    for banner in ["", "\n", "[INFO] loading \"model\n", "{}\n", "engine 1.0\n[1]\n\n  "] {
        assert_eq!(
            read("/a/1/x", &format!("{banner}{pretty}")),
            Ok(Value::Number(2.0)),
            "{banner}"
        );
    }
    // With one document per line, the last one counts.
    assert_eq!(read("/x", "{\"x\": 1}\n{\"x\": 2}\n"), Ok(Value::Number(2.0)));
}

#[test]
fn text_behind_the_document_is_refused() {
    assert!(detail("/x", "{\"x\": 1}\ndone\n").contains("no JSON document"));
}

#[test]
fn nan_is_never_a_number() {
    for nan in
        ["NaN", "-nan", "nan(ind)", "Infinity", "-Infinity", "inf", "1e999", "\"nan\"", "\"-inf\""]
    {
        let text = format!(
            "loading \"nan\n{{\"note\": \"is nan, \\\" or NaN\", \"ppl\": {nan}, \"n\": 24}}"
        );
        let failure = read("/ppl", &text).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Nan, "{nan}");
        // Other values are still read, and no text is changed.
        assert_eq!(read("/n", &text), Ok(Value::Number(24.0)), "{nan}");
        assert_eq!(fact("/note", &text), Value::Fact("is nan, \" or NaN".into()), "{nan}");
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let text = r#"{"results": [{"ppl": 1, "n": null}], "ok": true}"#;
    assert_eq!(
        detail("/results/0/kld", text),
        "m: nothing at `/results/0/kld`; `/results/0` is an object with ppl, n"
    );
    assert_eq!(
        detail("/results/3/ppl", text),
        "m: nothing at `/results/3/ppl`; `/results` is an array of 1"
    );
    assert_eq!(
        detail("/speed", text),
        "m: nothing at `/speed`; the document is an object with results, ok"
    );
    assert_eq!(
        detail("/results/0/ppl/x", text),
        "m: nothing at `/results/0/ppl/x`; `/results/0/ppl` is 1"
    );
    assert_eq!(detail("/ok", text), "m: `true` is not a number");
    assert_eq!(detail("/results/0/n", text), "m: `null` is not a number");
    assert_eq!(detail("/results", text), "m: `an array of 1` is not a number");
    assert_eq!(detail("", ""), "nothing on stdout where a JSON document belongs");
}

#[test]
fn facts_are_scalars() {
    let text = r#"{"backend": " cpu ", "n": 1.50, "ok": true, "none": null, "all": [1]}"#;
    assert_eq!(fact("/backend", text), Value::Fact("cpu".into()));
    assert_eq!(fact("/n", text), Value::Fact("1.5".into()));
    assert_eq!(fact("/ok", text), Value::Fact("true".into()));
    assert_eq!(fact("/none", text), Value::Fact("null".into()));
    let failure = read_as(MeasureKind::Fact, "/all", text).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreadable);
    assert_eq!(failure.detail, "m: `/all` is an array of 1, not a single value");
}

#[test]
fn a_key_beside_the_number_says_its_unit() {
    let unit = |kind, stdout: &str| {
        let parser = Document::new("m", &[(None, "/a/real_time".to_owned())].into(), kind);
        let units = parser.finish(stdout).unwrap().units;
        units.get(&Metric::of("m")).map(ToString::to_string)
    };
    for (beside, wanted) in [
        ("\"unit\": \"msec\"", "ms"),
        ("\"time_unit\": \"ns\"", "ns"),
        ("\"units\": \"tok/s\"", "tok/s"),
        ("\"memory_unit\": \"MB\"", "no unit"),
        ("\"unit\": \"attention\"", "no unit"),
        ("\"unit\": 3", "no unit"),
    ] {
        let stdout = format!("{{\"a\": {{\"real_time\": 3, {beside}}}}}");
        assert_eq!(unit(MeasureKind::Number, &stdout).unwrap(), wanted, "{stdout}");
        assert_eq!(unit(MeasureKind::Fact, &stdout), None);
    }
}

#[test]
fn an_element_of_an_array_has_the_form_of_its_texts_or_of_the_length() {
    let form = |pointer: &str, text: &str| form_at(&serde_json::from_str(text).unwrap(), pointer);
    let wiki = r#"{"results": [{"name": "wiki", "ppl": 7.1, "at": "12:01:02"}]}"#;
    let reference = r#"{"results": [{"name": "ref", "ppl": 7}, {"name": "wiki", "ppl": 7.1}]}"#;
    assert_eq!(form("/results/0/ppl", wiki).unwrap(), "name wiki");
    assert_eq!(form("/results/0/ppl", reference).unwrap(), "name ref");
    assert_eq!(form("/results/1/ppl", reference).unwrap(), "name wiki");
    assert_eq!(form("/0", "[7.1]").unwrap(), "the only element");
    assert_ne!(form("/0", "[7.1]"), form("/0", "[7, 7.1]"));
    let nested = form("/0/0", "[[1, 2, 3, 4]]").unwrap();
    assert_eq!(nested, "one of several elements; the only element");
    assert_eq!(form("/9", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]"), form("/3", "[1, 2, 3, 4]"));
    assert_eq!(form("/a~1b/m~0n", r#"{"a/b": {"m~n": 1}, "name": "x"}"#), None);
    let parser = Document::new("m", &[(None, "/0".to_owned())].into(), MeasureKind::Number);
    let reading = parser.finish("[7.1]").unwrap();
    assert_eq!(reading.forms[&Metric::of("m")].to_string(), "`the only element`");
}

#[test]
fn texts_beside_the_value_are_in_its_form() {
    let form = |pointer: &str, text: &str| form_at(&serde_json::from_str(text).unwrap(), pointer);
    let quantized = form("/ppl", r#"{"model": "q4_0", "ppl": 7.1}"#).unwrap();
    assert_eq!(quantized, "model q4_0");
    assert_ne!(form("/ppl", r#"{"model": "f16", "ppl": 7.1}"#), Some(quantized));
    let nested = r#"{"a/b": {"m~n": 1, "name": "x"}}"#;
    assert_eq!(form("/a~1b/m~0n", nested).unwrap(), "name x");
    // The value itself, a unit, a time, and prose are no names.
    let others = r#"{"ppl": "7.1", "unit": "ms", "at": "12:01", "text": "a b c d e f g h i"}"#;
    assert_eq!(form("/ppl", others), None);
    let element = r#"[{"state": "ok"}]"#;
    assert_eq!(form("/0/state", element).unwrap(), "the only element");
}
