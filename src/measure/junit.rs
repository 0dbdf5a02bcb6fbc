//! Parses JUnit XML from pytest, CTest, GoogleTest, Gradle and others.
//!
//! The parser counts the cases and ignores the suites' own totals, which leave out cases of plugins
//! and mean different things in different programs. A case counts once, by its worst result.

use roxmltree::{Document, Node, ParsingOptions};

use crate::evaluation::{Checks, Failure, Metric, Reading, Unreadable, Value};

use super::value::excerpt;

/// The result of a case, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Error,
    Failure,
    Skipped,
    Passed,
}

/// The reading of a run that ended by itself.
pub(super) fn read(measure: &str, text: &str) -> Result<Reading, Failure> {
    // Text before the document is a banner; text after it is an error.
    let start = text.find("<?xml").or_else(|| text.find("<testsuite"));
    let text = text[start.unwrap_or(0)..].trim_end();
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let detail = match text.trim_start() {
            "" => "nothing on stdout where JUnit's XML belongs".to_owned(),
            begin => {
                let line = excerpt(begin.lines().next().unwrap_or_default());
                format!("stdout is not a complete XML document ({error}); it begins with `{line}`")
            }
        };
        Failure::unreadable(Unreadable::NoXml, detail)
    })?;
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "testsuites" | "testsuite") {
        return Err(Failure::unreadable(
            Unreadable::NoJunit,
            format!("the XML begins with <{}>, not with <testsuite>", root.tag_name().name()),
        ));
    }
    let cases = || root.descendants().filter(|node| node.has_tag_name("testcase"));
    let count = |wanted: State| cases().filter(|case| state(*case) == wanted).count();
    let counts = [
        ("tests", cases().count()),
        ("passed", count(State::Passed)),
        ("failures", count(State::Failure)),
        ("errors", count(State::Error)),
        ("skipped", count(State::Skipped)),
    ];
    let value =
        |(name, count): (&str, usize)| (Metric::named(measure, name), Value::Number(count as f64));
    let ran: Checks = cases().filter(|case| state(*case) != State::Skipped).map(name).collect();
    let fails = |case: &Node<'_, '_>| matches!(state(*case), State::Failure | State::Error);
    let skipped = cases().filter(|case| state(*case) == State::Skipped).map(name);
    Ok(Reading {
        values: counts.into_iter().map(value).collect(),
        checks: Some(ran),
        failed: cases().filter(fails).map(name).collect(),
        skipped: skipped.collect(),
        ..Reading::default()
    })
}

fn state(case: Node<'_, '_>) -> State {
    let has = |tag: &str| case.children().any(|child| child.has_tag_name(tag));
    let says =
        |key: &str, words: &[&str]| case.attribute(key).is_some_and(|value| words.contains(&value));
    if has("error") {
        State::Error
    } else if has("failure") {
        State::Failure
    } else if has("skipped")
        // CTest and GoogleTest mark skipped cases with an attribute.
        || says("status", &["notrun", "disabled", "skipped"])
        || says("result", &["skipped", "suppressed"])
    {
        State::Skipped
    } else {
        State::Passed
    }
}

/// The case's name, as in `tests.test_rope::test_split[4]`, from the parts that exist.
fn name(case: Node<'_, '_>) -> String {
    let part = |key: &str| case.attribute(key).filter(|text| !text.is_empty());
    let parts = [part("classname"), part("name")];
    parts.into_iter().flatten().collect::<Vec<_>>().join("::")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;

    const PYTEST: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" skipped="2" tests="5">
<testcase classname="tests.test_rope" name="test_split[4]" time="0.01" />
<testcase classname="tests.test_rope" name="test_split[8]" time="0.01"><failure message="assert &lt;1&gt;">E   x</failure></testcase>
<testcase classname="tests.test_rope" name="test_gpu" time="0.0"><skipped type="pytest.skip" message="no GPU" /></testcase>
<testcase classname="tests.test_gelu" name="test_exact"><failure/><error message="teardown"/></testcase>
<testcase classname="" name="test_bare"/>
</testsuite></testsuites>
"#;

    fn counts(text: &str) -> Vec<(String, f64)> {
        let values = read("unit", text).unwrap().values;
        let counts = values.iter();
        counts.map(|(metric, value)| (metric.to_string(), value.number().unwrap())).collect()
    }

    #[test]
    fn cases_are_counted_each_by_its_worst() {
        let expected = [
            ("unit.errors", 1.0),
            ("unit.failures", 1.0),
            ("unit.passed", 2.0),
            ("unit.skipped", 1.0),
            ("unit.tests", 5.0),
        ];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        for banner in ["", "collecting ...\n"] {
            assert_eq!(counts(&format!("{banner}{PYTEST}")), expected);
        }
        let ran = read("unit", PYTEST).unwrap().checks.unwrap().into_iter().collect::<Vec<_>>();
        let expected = [
            "test_bare",
            "tests.test_gelu::test_exact",
            "tests.test_rope::test_split[4]",
            "tests.test_rope::test_split[8]",
        ];
        assert_eq!(ran, expected);
        let skipped = read("unit", PYTEST).unwrap().skipped.into_iter().collect::<Vec<_>>();
        assert_eq!(skipped, ["tests.test_rope::test_gpu"]);
    }

    #[test]
    fn suites_in_suites_and_attributes_of_other_programs() {
        let text = r#"<testsuite name="a"><testsuite name="b"><testcase name="x" status="run"/>
            <testcase name="y" status="notrun"/></testsuite>
            <testcase name="z" status="disabled"/><testcase name="w" result="suppressed"/></testsuite>"#;
        assert_eq!(
            counts(text)[3..],
            [("unit.skipped".to_owned(), 3.0), ("unit.tests".to_owned(), 4.0)]
        );
    }

    #[test]
    fn what_is_no_whole_document_is_unreadable() {
        for (text, said) in [
            ("", "nothing on stdout where JUnit's XML belongs"),
            (&PYTEST[..400], "stdout is not a complete XML document ("),
            ("3 passed in 0.1s\n", "it begins with `3 passed in 0.1s`"),
            ("<?xml version=\"1.0\"?><html/>", "the XML begins with <html>, not with <testsuite>"),
            (
                "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"b\">]><testsuite/>",
                "not a complete XML",
            ),
        ] {
            let failure = read("unit", text).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Unreadable);
            assert!(failure.detail.contains(said), "{}", failure.detail);
        }
    }
}
