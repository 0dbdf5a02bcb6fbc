//! Finds a word in place of a number that the pattern cannot match, such as `OOM`, `-0.3` or `9`.
//! For example `bs 8: OOM` behind `bs 1: 10.2`: the earlier line's number would count.
//!
//! The pattern must have fixed text right before its number. What stands behind the number in the
//! pattern may be missing. If the group takes a number there, the line shows something else:
//! `speed: 9 tok/s` for `speed: ([0-9.]+) ms`.

use std::sync::OnceLock;

use regex::{Match, Regex};
use regex_syntax::hir::{Hir, HirKind};

use super::not_a_number::{has_text, is_number, leads_to_text, own_syntax};

/// A variant of a pattern that ends with a group, or with any word in its place. Built late.
#[derive(Debug, Default)]
pub(super) struct Replaced(OnceLock<Option<Regex>>);

impl Replaced {
    /// The words in place of the number of the group with this index.
    pub(super) fn in_line<'l>(
        &self,
        pattern: &Regex,
        group: usize,
        line: &'l str,
    ) -> Vec<Match<'l>> {
        let Some(regex) = self.0.get_or_init(|| variant(pattern, group)) else {
            return Vec::new();
        };
        let word = regex.captures_len() - 1;
        regex.captures_iter(line).filter_map(|captures| captures.get(word)).collect()
    }
}

/// The pattern up to the group, then the group or a word; `None` without fixed text before it.
fn variant(pattern: &Regex, group: usize) -> Option<Regex> {
    let original = regex_syntax::parse(pattern.as_str()).ok()?;
    let (mut parts, number) = up_to(&original, group)?;
    if !has_text(&parts) || !leads_to_text(parts.iter().rev()) || !is_number(&number) {
        return None;
    }
    parts.push(Hir::alternation(vec![number, own_syntax(r"(\S+)")]));
    Regex::new(&Hir::concat(parts).to_string()).ok()
}

/// What a pattern has before a group, and the group.
fn up_to(hir: &Hir, group: usize) -> Option<(Vec<Hir>, Hir)> {
    match hir.kind() {
        HirKind::Capture(capture) if usize::try_from(capture.index) == Ok(group) => {
            Some((Vec::new(), hir.clone()))
        }
        HirKind::Concat(parts) => parts.iter().enumerate().find_map(|(place, part)| {
            let (inner, number) = up_to(part, group)?;
            Some(([&parts[..place], &inner[..]].concat(), number))
        }),
        kind => kind.subs().iter().find_map(|part| up_to(part, group)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'l>(pattern: &str, line: &'l str) -> Vec<&'l str> {
        let regex = Regex::new(pattern).unwrap();
        let group = regex.captures_len() - 1;
        let found = Replaced::default().in_line(&regex, group, line);
        found.into_iter().map(|found| found.as_str()).collect()
    }

    #[test]
    fn any_word_may_stand_in_place_of_a_number() {
        for (pattern, line, word) in [
            (r"bs [0-9]+: ([0-9.]+)", "bs 8: OOM", "OOM"),
            (r"bs [0-9]+: ([0-9.]+) ms", "bs 8:  **** in kernel", ""),
            (r"bs [0-9]+: *([0-9.]+) ms", "bs 8:  **** in kernel", "****"),
            (r"score = ([0-9.]+)", "score = -0.3", "-0.3"),
            (r"ppl = ([0-9]+\.[0-9]+)", "ppl = 9", "9"),
            (r"(?i)ppl = (?<ppl>[0-9]+\.[0-9]+)", "PPL = 1e+06", "1e+06"),
            (r"a ([a-z])|(?:ppl: (-?[0-9.]+))", "ppl: failed", "failed"),
            // Nothing, or a number with another text behind it.
            (r"ppl = ([0-9.]+)", "ppl = ", ""),
            (r"speed: ([0-9.]+) ms", "speed: 9 tok/s", ""),
            // No fixed text before the number.
            (r"ppl.*?([0-9.]+)", "ppl: failed", ""),
            (r"\| ([0-9.]+)", "| failed", ""),
            (r"([0-9.]+) tok/s", "failed", ""),
            (r"ppl (\S+)", "ppl failed", ""),
        ] {
            let wanted: Vec<_> = Some(word).filter(|word| !word.is_empty()).into_iter().collect();
            assert_eq!(words(pattern, line), wanted, "{pattern}: {line}");
        }
    }
}
