//! Groups that leave out the minus sign of their number, such as `0.3` of `diff = -0.3` for
//! `diff = .*?([0-9.]+)`: a value and its opposite would be the same.

use regex::{Match, Regex};

use crate::evaluation::{Failure, Metric};
use crate::measure::value::in_place_of_number;

use super::asked::asks_for;

/// What may be printed as a minus sign.
const MINUS: [char; 2] = ['-', '\u{2212}'];

/// Fails if a minus sign stands right before the group's number, and the pattern does not ask for
/// it. A sign follows white space, `=`, `:` or `(`: in `7-3` and `Q4-3` the character is no sign.
pub(super) fn refuse_unsigned(
    metric: &Metric,
    by: (&Regex, usize),
    line: &str,
    found: Match<'_>,
) -> Result<(), Failure> {
    let Some(before) = line[..found.start()].strip_suffix(MINUS) else { return Ok(()) };
    let is_sign = before.ends_with(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | '('));
    let is_number = found.as_str().starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !is_sign || !is_number || asks_for(by, line, [before.len(), found.start()], found) {
        return Ok(());
    }
    let what = format!(
        "the pattern leaves out the minus sign of `{}`; take the sign into the group, as in \
         `(-?[0-9.]+)`, or put the character into the pattern if it is no sign",
        line[before.len()..found.end()].trim()
    );
    Err(in_place_of_number(metric, &what))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of the first match of the pattern's first group.
    fn said(pattern: &str, line: &str) -> Option<String> {
        let regex = Regex::new(pattern).unwrap();
        let found = regex.captures(line).unwrap().get(1).unwrap();
        let result = refuse_unsigned(&Metric::of("t"), (&regex, 1), line, found);
        result.err().map(|failure| failure.detail)
    }

    #[test]
    fn a_minus_sign_that_the_pattern_leaves_out_is_refused() {
        for (pattern, line, number) in [
            ("diff = .*?([0-9.]+)", "diff = -0.3", "-0.3"),
            ("diff.*?([0-9.]+)", "diff=-0.3", "-0.3"),
            ("diff.*?([0-9.]+)", "diff:-.3", "-.3"),
            ("diff.*?([0-9.]+)", "diff (-3)", "-3"),
            ("diff.*?([0-9.]+)", "diff \u{2212}0.3", "\u{2212}0.3"),
        ] {
            let told = said(pattern, line).unwrap();
            assert!(told.contains(&format!("the minus sign of `{number}`")), "{told}");
        }
    }

    #[test]
    fn a_character_that_is_no_sign_or_is_asked_for_is_left_alone() {
        for (pattern, line) in [
            ("diff = -([0-9.]+)", "diff = -0.3"),
            ("diff = (-?[0-9.]+)", "diff = -0.3"),
            ("range.*?-([0-9.]+)", "range 5-7"),
            ("Q4.*?([0-9.]+)", "Q4-7.1"),
            ("ppl.*?([0-9.]+)", "ppl - 7.1"),
            ("ppl.*?([0-9.]+)", "ppl --7.1"),
            ("ppl.*?([0-9.]+)", "ppl 7.1"),
        ] {
            assert_eq!(said(pattern, line), None, "{pattern}: {line}");
        }
    }
}
