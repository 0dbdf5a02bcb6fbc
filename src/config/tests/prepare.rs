//! `[[prepare]]`.

use std::convert::Infallible;

use super::*;

const TWO: &str = r#"
[[prepare]]
name = "f16"
command = "{src}/convert {prepare.f16}/m"
[[prepare]]
name = "q4"
command = "{build}/quantize {prepare.f16}/m {prepare.q4}/m"
timeout = "2h"
env = { OMP = "{threads}" }
outputs = ["m"]
failure = "bad"
[[prepare]]
name = "unused"
command = "true"
"#;

fn with(text: &str) -> String {
    let text = text.to_owned() + &SMALL.replace("version = 1\n", "");
    format!("version = 1\n{}", text.replace("{build}/ppl", "{build}/ppl {prepare.q4}/m"))
}

#[test]
fn what_a_measure_needs_is_found_in_order() {
    let config = parse(&with(TWO)).unwrap();
    assert_eq!(config.prepares.len(), 3);
    let needed = config.prepares_of(config.measures[0].templates());
    let names: Vec<_> = needed.iter().map(|prepare| prepare.name.as_str()).collect();
    assert_eq!(names, ["f16", "q4"]);
    assert_eq!(config.prepares[0].timeout, Duration::from_mins(30));
    assert_eq!(config.prepares[0].failure, Policy::Skip);
    assert_eq!(config.prepares[1].outputs, ["m"]);
    assert_eq!(config.prepares[1].failure, Policy::Bad);
}

#[test]
fn an_override_reaches_into_it_by_name() {
    let over = "[[override]]\nwhen = { exists = 'x' }\nprepare.f16.command = 'old {prepare.f16}'\n";
    let config = parse(&format!("{}{over}", with(TWO))).unwrap();
    let old = config.resolve::<Infallible>(&mut |_| Ok(true)).unwrap();
    assert_eq!(old.prepares[0].command.text, "old {prepare.f16}");
    assert_eq!(old.prepares[1].command.text, config.prepares[1].command.text);
}

#[test]
fn what_is_wrong_with_them_is_told() {
    let step = |keys: &str| format!("[[prepare]]\nname='q4'\ncommand='c'\n{keys}\n");
    for (text, said) in [
        (step("outputs=['../m']"), "prepare.q4.outputs[1]: `../m` must be a relative path"),
        (step("failure='ignore'"), "prepare.q4.failure: `ignore` is not allowed. Allowed: skip"),
        (
            step("").replace("'c'", "'c {out}'"),
            "{out} belongs to a single run; a [[prepare]] serves",
        ),
        (step("env={A='{prepare.x}'}"), "`{prepare.x}` names no [[prepare]] that comes before"),
        (step("") + &step(""), "prepare[2].name: there is a prepare `q4` already."),
        (
            "[[prepare]]\ncommand='c'\n".to_owned(),
            "prepare[1].name: is missing; e.g. `name = \"gguf\"`",
        ),
        (
            step("") + "[build]\ncommands=['make {prepare.q4}']\n",
            "`{prepare.q4}` names no [[prepare]] that comes before. There is none",
        ),
    ] {
        let error = parse(&with(&text)).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let axis =
        with(&TWO.replace("/convert", "/convert {matrix.kind}")) + "[matrix]\nkind=['a','b']\n";
    let error = parse(&axis).unwrap_err().to_string();
    assert!(
        error.contains("prepare.f16.command: {matrix.kind} differs from cell to cell"),
        "{error}"
    );
    assert!(error.contains("and all cells share the result of a [[prepare]]."), "{error}");
    let over = with(TWO) + "[[override]]\nwhen={exists='x'}\nprepare.f61.timeout='1s'\n";
    let error = parse(&over).unwrap_err().to_string();
    assert!(error.contains("there is no prepare `f61`; did you mean `f16`?"), "{error}");
}
