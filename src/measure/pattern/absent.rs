//! A text such as `None` or `---` as the value of a name that the pattern asks for, before the
//! number that the pattern takes: `ppl = None (3 chunks)` for `ppl.*?([0-9.]+)`. The number belongs
//! to something else.

use std::sync::LazyLock;

use regex::{Match, Regex};

use crate::evaluation::{Failure, Metric};
use crate::measure::value::in_place_of_number;

use super::asked::{asks_for, asks_for_words};
use super::not_a_number::{DASHES, NOTHING, own_pattern};

/// How many such texts before a number count, from the nearest one on.
const MOST: usize = 3;

/// A name and a text that says that the name has no value.
static ABSENT: LazyLock<Regex> = LazyLock::new(|| {
    own_pattern(&format!(
        r#"(?i)(\w+)["'\])]*\s*[=:]\s*["']?((?:{NOTHING}|nil|undefined|oom)\b|{DASHES})"#
    ))
});

/// A name without a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Absent<'l> {
    name: Match<'l>,
    /// The text in place of the value.
    text: Match<'l>,
}

/// The names without a value, in their order.
pub(super) fn in_line(line: &str) -> Vec<Absent<'_>> {
    let all = ABSENT.captures_iter(line);
    all.filter_map(|found| Some(Absent { name: found.get(1)?, text: found.get(2)? })).collect()
}

/// Fails if the group takes its number behind the name that the pattern asks for, although this
/// name has no value. Words of the pattern right beside the number say that the number is meant:
/// `loss.*?ppl = ([0-9.]+)` for `loss = None, ppl = 7.1`.
pub(super) fn refuse_other(
    metric: &Metric,
    by: (&Regex, usize),
    line: &str,
    absents: &[Absent<'_>],
    found: Match<'_>,
) -> Result<(), Failure> {
    let before = absents.iter().rev().filter(|one| one.text.end() <= found.start());
    let is_lost =
        |one: &&Absent<'_>| one.is_value_in(line, found) && one.is_asked_for(by, line, found);
    let lost = before.take(MOST).find(is_lost);
    lost.map_or(Ok(()), |one| Err(other_number(metric, one.text.as_str())))
}

/// The failure if the pattern takes another number of the line than the one that is lost.
pub(super) fn other_number(metric: &Metric, text: &str) -> Failure {
    let what = format!(
        "`{text}` is in place of the number, and the pattern takes another number of the line; put \
         the text right before the number into the pattern"
    );
    in_place_of_number(metric, &what)
}

impl Absent<'_> {
    /// Whether the text is a value, and no name itself (`skipped: none: 3`), no word of a sentence
    /// (`errors: none of 3`), and no line that leads to the number (`ppl: ---- 7.1`).
    fn is_value_in(&self, line: &str, found: Match<'_>) -> bool {
        let is_lead = self.text.as_str().starts_with('-')
            && line[self.text.end()..found.start()].trim().is_empty();
        let behind = line[self.text.end()..].trim_start();
        let rest = behind.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let is_name = |rest: &str| rest.trim_start().starts_with(['=', ':']);
        let is_sentence = behind.starts_with(char::is_alphabetic) && !is_name(rest);
        !is_lead && !is_name(behind) && !is_sentence
    }

    /// Whether the pattern asks for this name, but not for the text, and for no word right beside
    /// the number.
    fn is_asked_for(&self, by: (&Regex, usize), line: &str, found: Match<'_>) -> bool {
        let after = &line[found.end()..];
        let word = after.trim_start();
        let length = word.find(char::is_whitespace).unwrap_or(word.len());
        let behind = [found.end(), found.end() + after.len() - word.len() + length];
        let between = [self.text.end(), found.start()];
        let place = |one: Match<'_>| [one.start(), one.end()];
        asks_for(by, line, place(self.name), found)
            && !asks_for(by, line, place(self.text), found)
            && !asks_for_words(by, line, between, found)
            && !asks_for_words(by, line, behind, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the first match of the pattern's first group is refused.
    fn is_refused(pattern: &str, line: &str) -> bool {
        let regex = Regex::new(pattern).unwrap();
        let found = regex.captures(line).unwrap().get(1).unwrap();
        refuse_other(&Metric::of("t"), (&regex, 1), line, &in_line(line), found).is_err()
    }

    #[test]
    fn a_number_behind_a_name_without_a_value_is_refused() {
        for (pattern, line) in [
            ("ppl.*?([0-9.]+)", "ppl = None (3 chunks)"),
            ("ppl.*?([0-9.]+)", "ppl: --- (3 chunks)"),
            ("ppl.*?([0-9.]+)", "ppl = OOM, 3 chunks"),
            ("ppl.*?([0-9.]+)", "val_ppl = None, std = None (3 chunks)"),
            ("(?i)PPL.* ([0-9.]+)", "ppl = None, lr = 3"),
            ("ppl.*= ([0-9.]+)", "ppl = null (n = 3)"),
            (r#""ppl".*?([0-9.]+)"#, r#"{"ppl": null, "chunks": 3}"#),
        ] {
            assert!(is_refused(pattern, line), "{pattern}: {line}");
        }
    }

    #[test]
    fn a_number_that_the_pattern_names_is_meant() {
        for (pattern, line) in [
            ("loss.*?ppl = ([0-9.]+)", "loss = None, ppl = 7.1"),
            ("skipped.*?([0-9]+) passed", "skipped: none, 7 passed"),
            ("filter = none.*?([0-9.]+)", "filter = none, 7.1"),
            // A name that the pattern does not have.
            ("eval.*?([0-9.]+)", "eval: filter = none, ppl = 7"),
            ("ppl.*?([0-9.]+)", "filter: none; ppl 7.1"),
            // A name, a sentence, a line that leads to the number.
            ("errors.*?([0-9]+)", "errors: none: 3"),
            ("errors.*?([0-9]+)", "errors: none of 3"),
            ("ppl.*?([0-9.]+)", "ppl: ------ 7.1"),
            ("ppl.*?([0-9.]+)", "ppl = 7.1, std = None"),
            ("ppl.*?([0-9.]+)", "ppl: nonexact 7.1"),
        ] {
            assert!(!is_refused(pattern, line), "{pattern}: {line}");
        }
    }
}
