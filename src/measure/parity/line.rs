//! Parses one line of a test program.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::evaluation::parse_number;

use super::behind::{BEHIND, TIME};
use super::mark;
use super::runner::{self, pattern};
use super::state::State;

/// The parts of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) state: Option<State>,
    /// The words before the first number.
    pub(super) name: String,
    pub(super) distance: Option<f64>,
    pub(super) loss: Option<f64>,
    pub(super) step: Option<u64>,
}

const WORD: &str = "PASS(?:ED)?|OK|FAIL(?:ED)?|SKIP(?:PED)?";
/// Other words for a failure.
const OTHER: &str = "ERROR|TIMEOUT|CRASH(?:ED)?|MISMATCH|NOK";
/// A number, including NaN and infinity as C libraries spell them.
const NUMBER: &str =
    r"[-+]?(?:1\.#\w+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan(?:\(\w*\))?|inf(?:inity)?)\b";

static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*TEST(?:\s+\d+)?:\s*(\S.*)$"));
static IN_BRACKETS: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\[\s*({WORD})\s*\]")));
static FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"^(?:-{{3}}\s+)?({WORD})(?:[:\s]|$)")));
static LAST: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?:^|[:\s])({WORD}){}", *BEHIND)));
/// Other words for a failure, at the end of a line only: logs have lines such as `[ERROR] no file`
/// and sentences with small letters.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    let words = format!("FAIL(?:ED)?|Failed|{OTHER}");
    pattern(&format!(r"(?:[:\s]|\*{{2}})\[?\s*\**({words})[!*]*\s*\]?{}", *BEHIND))
});
/// A result in any letters behind a colon or dots: `rope: fail`, `test rope ... ok`.
static SEPARATED: LazyLock<Regex> = LazyLock::new(|| {
    let words = format!(r"{WORD}|{OTHER}|IGNORED(?:,.*)?");
    pattern(&format!(r"(?i)(?::|\.{{2,}}|…)\s*\[?\s*\**({words})[!*]*\s*\]?{}", *BEHIND))
});
/// A result in any letters with a time behind it: `rope failed after 3s`.
static TIMED: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)\s({WORD}|{OTHER})\s+(?:\(\s*{TIME}\s*\)|{TIME})$")));
/// The word before a failure word in a setting, as in `log level: ERROR`, or in the heading of a
/// table, as in `MAX ERROR`. Such a line is no check.
static NO_NAME: LazyLock<Regex> = LazyLock::new(|| {
    let figures = "max|mean|avg|rms|std|abs(?:olute)?|rel(?:ative)?";
    pattern(&format!(r"(?i)\b(?:level|verbosity|mode|policy|passed|{figures})\W*$"))
});
static DISTANCE: LazyLock<Regex> = LazyLock::new(|| {
    let what = r"(?:[_ ]?abs(?:olute)?(?:[_ ]?(?:diff|err)\w*)?|[_ ]?(?:diff|err)\w*)";
    pattern(&format!(r"(?i)(?:^|[^\w])max{what}\s*[:=]\s*({NUMBER})"))
});
static LOSS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)\bloss\b\s*[:=]?\s*({NUMBER})")));
static STEP: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:step|iter|iteration|epoch)\b\s*[:=#]?\s*(\d+)"));
/// The first named number of a line.
static FIGURES: LazyLock<Regex> = LazyLock::new(|| {
    let keys = "max|mean|tol|rel|err|diff|abs|avg|min|rms|cos|speedup|ratio|range|expected|got";
    pattern(&format!(r"(?i)(?:^|[\s(,\[|])(?:{keys})[\w ]*?\s*[:=]\s*\[?{NUMBER}"))
});
/// A total over checks, which is not a check itself.
static SUM: LazyLock<Regex> = LazyLock::new(|| {
    let count = r"^\W*\d+\W*(?:/\s*\d+\W*)?(?:test\b.*)?$";
    pattern(&format!(r"(?i)\b(?:all|some|tests|checks|comparisons|failures)\b|{count}"))
});

/// The words of a heading.
pub(super) fn heading(line: &str) -> Option<&str> {
    HEADING.captures(line).and_then(|found| found.get(1)).map(|name| name.as_str())
}

impl Line {
    /// Reads a line without control sequences.
    pub(super) fn of(line: &str) -> Self {
        let line = line.trim();
        let number = |pattern: &Regex| parse_number(pattern.captures(line)?.get(1)?.as_str());
        let (state, words) = match state(line) {
            Some((state, words)) => (Some(state), words),
            None => (None, line.to_owned()),
        };
        let loss = number(&LOSS);
        let step = STEP.captures(line).and_then(|found| found[1].parse().ok());
        let name = if loss.is_some() && state.is_none() { String::new() } else { named(&words) };
        Self { state, name, distance: number(&DISTANCE), loss, step }
    }
}

/// The result of the check, and the words for its name. A word for the result counts before a mark.
fn state(line: &str) -> Option<(State, String)> {
    let of_mark = || {
        let [without, with_word] = mark::in_words(line)?;
        worded(&without).or_else(|| worded(&with_word))
    };
    worded(line).or_else(of_mark)
}

/// The result that a word says.
fn worded(line: &str) -> Option<(State, String)> {
    if let Some((state, name)) = runner::result(line) {
        return Some((state, name.to_owned()));
    }
    let is_last = |found: &Captures<'_>| {
        // `3 FAILED` is a count.
        let before = &line[..found.get(1).map_or(0, |word| word.start())];
        !before.trim_end().rsplit([' ', ':']).next().is_some_and(is_count)
    };
    let (found, is_first) = if let Some(found) = IN_BRACKETS.captures(line) {
        let is_first = line.starts_with('[');
        (found, is_first)
    } else if let Some(found) = FIRST.captures(line) {
        (found, true)
    } else {
        let last = LAST.captures(line).or_else(|| named_result(line));
        (last.filter(is_last)?, false)
    };
    let whole = found.get(0)?;
    let (before, after) = (&line[..whole.start()], &line[whole.end()..]);
    let words = if is_first {
        // `[FAIL] layer 3: shapes differ`, `PASS - all the same`.
        let after = after.trim_start_matches([':', '-', '–', ' ']);
        after.split([':', '(']).next().unwrap_or_default().trim()
    } else {
        before.trim()
    };
    let rest = if is_first { after } else { before };
    if SUM.is_match(words) || SUM.is_match(rest) {
        return None;
    }
    Some((State::of(&found[1]), words.to_owned()))
}

/// The match of another word for a result, if the name of a check stands before this word. If only
/// a time marks the word as a result, the name must be one word: logs have sentences.
fn named_result(line: &str) -> Option<Captures<'_>> {
    let with_name = |pattern: &Regex| {
        let found = pattern.captures(line)?;
        let name = &line[..found.get(0)?.start()];
        let is_name = name.contains(char::is_alphanumeric) && !NO_NAME.is_match(name);
        is_name.then_some((found, name))
    };
    let is_one_word = |name: &str| !name.trim().contains(char::is_whitespace);
    let timed = || with_name(&TIMED).filter(|(_, name)| is_one_word(name));
    let found = with_name(&FAILURE).or_else(|| with_name(&SEPARATED)).or_else(timed);
    found.map(|(found, _)| found)
}

fn is_count(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words before the first named number or the first number with a decimal point.
fn named(words: &str) -> String {
    let keys = FIGURES.find(words).map_or(words.len(), |found| found.start());
    let is_figure = |word: &&str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '+');
        let bare = bare.trim_end_matches(|c: char| c.is_alphabetic());
        bare.contains('.') && parse_number(bare).is_some()
    };
    let plain = words[..keys].split_whitespace().take_while(|word| !is_figure(word));
    plain.collect::<Vec<_>>().join(" ")
}
