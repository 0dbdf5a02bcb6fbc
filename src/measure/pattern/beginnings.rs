//! The beginnings of the lines in which a pattern read a number. A line with another beginning
//! shows something else: `val loss = nan` says nothing about `train loss = 7.1`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::not_a_number::{NOT_FINITE, NOTHING, own_pattern};

/// A number, or a text in place of a number.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    own_pattern(&format!(
        r"[-+]?(?:\b{{start-half}}(?:{NOT_FINITE}|{NOTHING})\b{{end-half}}|[0-9]+(?:[.,:][0-9]+)*(?:[eE][-+]?[0-9]+)?)"
    ))
});

/// The beginnings, with all numbers made equal.
#[derive(Debug, Default)]
pub(super) struct Beginnings(BTreeSet<String>);

impl Beginnings {
    /// Adds the text of a line before its number.
    pub(super) fn add(&mut self, before: &str) {
        self.0.insert(normalised(before));
    }

    /// Whether a line with a number had the same text before it, but for other numbers.
    pub(super) fn has(&self, before: &str) -> bool {
        self.0.contains(&normalised(before))
    }
}

fn normalised(before: &str) -> String {
    let is_lead = |c: char| c.is_whitespace() || matches!(c, '+' | '-');
    let plain = NUMBER.replace_all(before.trim_end_matches(is_lead), "0");
    // Columns are padded: `chunk  9` and `chunk 10`.
    plain.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_and_spaces_are_the_same_beginning() {
        let is_same = |one: &str, other: &str| {
            let mut beginnings = Beginnings::default();
            beginnings.add(one);
            beginnings.has(other)
        };
        for (one, other) in [
            ("chunk  9 ppl = ", "chunk 10 ppl ="),
            ("[12:00:01] loss 2.5, ppl ", "[12:00:02] loss nan, ppl "),
            ("lr -1.5e-05, loss ", "lr 2E+3, loss -"),
            ("loss -nan(ind), ppl ", "loss 1.#QNAN, ppl "),
            ("", ""),
        ] {
            assert!(is_same(one, other), "{one}: {other}");
        }
        for (one, other) in [("train loss = ", "val loss = "), ("ppl = ", "final ppl = ")] {
            assert!(!is_same(one, other), "{one}: {other}");
        }
    }
}
