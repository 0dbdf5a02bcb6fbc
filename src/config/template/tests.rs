use proptest::prelude::*;

use super::*;

fn names() -> Names {
    let inputs = BTreeMap::from([("model".to_owned(), "m.bin".to_owned())]);
    Names { inputs, prepares: vec!["gguf".to_owned()] }
}

fn parse(text: &str) -> Template {
    Template::parse(text, &names()).unwrap()
}

fn refusal(text: &str) -> String {
    Template::parse(text, &names()).unwrap_err().to_string()
}

fn filled(text: &str) -> String {
    let values = Values::new()
        .with(Placeholder::Src, "/s")
        .with(Placeholder::Input("model".to_owned()), "/m x.bin");
    parse(text).fill(&values).unwrap()
}

#[test]
fn placeholders_are_filled_in() {
    assert_eq!(filled("{src}/bin"), "/s/bin");
    assert_eq!(filled("-m={inputs.model}{src}"), "-m=/m x.bin/s");
}

#[test]
fn doubled_braces_are_literal() {
    assert_eq!(filled("{{src}}"), "{src}");
    assert_eq!(filled("{{{src}}}"), "{/s}");
    assert_eq!(filled("a}}b"), "a}b");
}

#[test]
fn json_and_shell_braces_stay_as_written() {
    for text in [r#"{"a":{"b":1}}"#, "{1..3}", "{}", "{a,b}", "${HOME}/x", "{ print }", "a{", "}"] {
        assert_eq!(filled(text), text);
    }
    assert_eq!(filled(r#"{"p":"{src}"}"#), r#"{"p":"/s"}"#);
    assert_eq!(filled(r#"{{"a":{"b":1}}}"#), r#"{"a":{"b":1}}"#);
}

#[test]
fn an_unknown_word_is_refused_with_what_is_allowed() {
    let said = refusal("{scr}/x");
    assert!(said.contains("unknown placeholder `{scr}`; did you mean `src`?"), "{said}");
    assert!(said.contains("{src} {build} {out}"), "{said}");
    assert!(said.contains("{inputs.NAME}"), "{said}");
    assert!(said.contains("write `{{scr}}`"), "{said}");
}

#[test]
fn an_unknown_input_is_refused_with_those_declared() {
    assert_eq!(
        refusal("{inputs.modle}"),
        "`{inputs.modle}` names no input; did you mean `model`? Declared: model"
    );
}

#[test]
fn a_placeholder_of_a_later_version_is_refused_by_name() {
    assert_eq!(refusal("{port}"), "placeholder `{port}` is not available yet");
}

#[test]
fn a_shell_variable_named_as_a_placeholder_is_refused() {
    assert_eq!(
        refusal("${out}"),
        "`${out}` could be the placeholder or a shell variable: write `{out}` or `${{out}}`"
    );
    assert_eq!(filled("${{out}}"), "${out}");
}

#[test]
fn a_missing_value_is_named() {
    let error =
        parse("{src}/{parent}").fill(&Values::new().with(Placeholder::Src, "/s")).unwrap_err();
    assert_eq!(error.placeholder, Placeholder::Parent);
    assert_eq!(error.to_string(), "`{src}/{parent}` needs {parent}, which has no value here");
}

#[test]
fn placeholders_tell_what_depends_on_the_commit() {
    let dependent: Vec<_> = parse("{src}{commit}{inputs.model}{short}{parent}{commit_date}")
        .placeholders()
        .filter(|p| p.depends_on_commit())
        .map(ToString::to_string)
        .collect();
    assert_eq!(dependent, ["{commit}", "{short}", "{parent}", "{commit_date}"]);
}

proptest! {
    /// Braces in a value are never expanded.
    #[test]
    fn a_value_is_never_expanded(value in "[{}a-z$ ]{0,12}|\\{build\\}|\\{\\{src\\}\\}") {
        let values = Values::new().with(Placeholder::Src, value.clone());
        prop_assert_eq!(parse("<{src}|{src}>").fill(&values).unwrap(), format!("<{value}|{value}>"));
    }

    #[test]
    fn the_text_is_kept_as_written(text in "[{}a-z$\". ]{0,16}") {
        if let Ok(template) = Template::parse(&text, &names()) {
            prop_assert_eq!(template.text(), text);
        }
    }

    /// A text with every brace doubled is filled in as the text itself.
    #[test]
    fn doubling_escapes_everything(text in "\\PC{0,24}|[{}$a-z]{0,16}") {
        let doubled = text.replace('{', "{{").replace('}', "}}");
        prop_assert_eq!(parse(&doubled).fill(&Values::new()).unwrap(), text);
    }
}

#[test]
fn a_prepare_placeholder_is_the_folder_of_its_step() {
    let values = Values::new().with(Placeholder::Prepare("gguf".to_owned()), "/p/gguf");
    assert_eq!(parse("{prepare.gguf}/m.gguf").fill(&values).unwrap(), "/p/gguf/m.gguf");
    assert_eq!(
        refusal("{prepare.ggu}"),
        "`{prepare.ggu}` names no [[prepare]] that comes before; did you mean `gguf`? Those \
         before: gguf"
    );
}
