//! Lines of test runners that have a form of their own: ctest, the summary of pytest, and TAP. Also
//! where a runner begins to list again which checks failed.

use std::sync::LazyLock;

use regex::Regex;

use super::state::State;

/// `3/12 Test  #3: rope .....***Failed  0.01 sec`. The numbers are not in the check's name, because
/// each new test changes them.
static CTEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:\d+/\d+\s+)?Test\s+#\d+:\s+(\S.*?)\s+\.{2,}\s*(Passed|[^*]*\*{3})\s*(.*)$")
});
/// `FAILED test_x.py::test_b - AssertionError: 3`.
static PYTEST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(PASSED|FAILED|ERROR)\s+(\S+\.py(?:::.*?)?)(?:\s+-\s.*)?$"));
/// `not ok 3 - rope # TODO slow`.
static TAP: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(not ok|ok)\s+\d+\s+-\s+(\S.*?)(?:\s+#\s*(\w+).*)?$"));
/// The heading of a summary, which names checks again.
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"short test summary info|listed below:$|^The following tests FAILED:$|^failures:$")
});
/// The beginning of a run, after the summary of another one.
static BEGINNING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"test session starts|\] Running \d+ tests?\b|^running \d+ tests?$|^Test project ")
});

/// A regular expression of the program itself.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of our own")
}

/// The result of a check, and the check's name.
pub(super) fn result(line: &str) -> Option<(State, &str)> {
    if let Some(found) = CTEST.captures(line) {
        let [word, rest] = [2, 3].map(|index| found.get(index).map_or("", |one| one.as_str()));
        let state = if word == "Passed" {
            State::Passed
        } else if rest.starts_with("Skipped") || rest.contains("(Disabled)") {
            State::Skipped
        } else {
            State::Failed
        };
        return Some((state, found.get(1)?.as_str()));
    }
    if let Some(found) = PYTEST.captures(line) {
        return Some((State::of(&found[1]), found.get(2)?.as_str()));
    }
    let found = TAP.captures(line)?;
    let directive = found.get(3).map_or("", |one| one.as_str());
    let is_directive = |name: &str| directive.eq_ignore_ascii_case(name);
    let state = if is_directive("skip") || is_directive("todo") {
        State::Skipped
    } else if &found[1] == "ok" {
        State::Passed
    } else {
        State::Failed
    };
    Some((state, found.get(2)?.as_str()))
}

/// Whether a summary, which names checks again, begins (`true`) or ends (`false`) with this line;
/// `None` if neither does.
pub(super) fn summary(line: &str) -> Option<bool> {
    let line = line.trim();
    if SUMMARY.is_match(line) {
        return Some(true);
    }
    BEGINNING.is_match(line).then_some(false)
}
