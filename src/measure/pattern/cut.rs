//! Groups that take only a part of a printed number, such as `1` of `1,990` or `5` of `5e-05`, or of
//! a duration, such as `1` of `1:02`. The part is another number, and may be the same at both ends.

use regex::{Match, Regex};

use crate::evaluation::{Failure, Metric};
use crate::measure::value::in_place_of_number;

use super::asked::asks_for;

/// Digits of a group of thousands.
const THOUSANDS: usize = 3;
/// What may stand between groups of thousands.
const SEPARATORS: [char; 3] = [',', '_', '\''];

/// Fails if the group takes only a part of a printed number. `end`: where the whole match ends.
pub(super) fn refuse_part(
    metric: &Metric,
    by: (&Regex, usize),
    line: &str,
    end: usize,
    found: Match<'_>,
) -> Result<(), Failure> {
    let Some(whole) = number_around(by, line, end, found) else { return Ok(()) };
    let cure = if whole.contains(SEPARATORS) {
        "; if what follows is another number, put the text between them into the pattern, as in \
         `([0-9]+),`"
    } else {
        ""
    };
    Err(refused(metric, found, &format!("number `{whole}`{cure}")))
}

/// The failure of a group that takes only a part of a text. `whole`: what the text is, the text
/// itself, and what to do.
pub(super) fn refused(metric: &Metric, found: Match<'_>, whole: &str) -> Failure {
    let what = format!("the pattern takes only `{}` of the {whole}", found.as_str().trim());
    in_place_of_number(metric, &what)
}

/// The printed number around a group, if the group takes only a part of it. What the pattern
/// itself asks for after the group does not belong to the number; a pattern such as `([0-9]+).*`
/// takes any text there.
fn number_around<'l>(
    by: (&Regex, usize),
    line: &'l str,
    end: usize,
    found: Match<'_>,
) -> Option<&'l str> {
    let taken = found.as_str();
    let bare = taken.strip_prefix(['+', '-']).unwrap_or(taken);
    let ends = [bare.bytes().next()?, bare.bytes().next_back()?];
    if !ends.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (before, after) = (&line[..found.start()], &line[found.end()..]);
    let more = continued(bare, before, after);
    let place = [found.end(), found.end() + more];
    let is_asked_for = more > 0 && end != found.end() && asks_for(by, line, place, found);
    let more = if is_asked_for { 0 } else { more };
    // A pattern such as `.*([0-9.]+)` leaves only the last digit to its group.
    let is_signed = bare.len() < taken.len();
    let less = before.bytes().rev().take_while(|byte| !is_signed && byte.is_ascii_digit()).count();
    (more + less > 0).then(|| &line[found.start() - less..found.end() + more])
}

/// The number of bytes with which `after` continues the number `taken`. `before`: the text before
/// this number.
fn continued(taken: &str, before: &str, after: &str) -> usize {
    let mut length = digits(after);
    let is_whole = taken.bytes().all(|byte| byte.is_ascii_digit());
    // Thousands, as in 1,990,000.
    if is_whole && taken.len() + length <= THOUSANDS {
        while let Some(group) = after[length..].strip_prefix(SEPARATORS)
            && digits(group) == THOUSANDS
        {
            length += 1 + THOUSANDS;
        }
    }
    if is_whole
        && let Some(fraction) = after[length..].strip_prefix('.')
        && digits(fraction) > 0
    {
        length += 1 + digits(fraction);
    }
    if length == 0 && (is_whole || has_dotted_thousands(taken)) {
        length = decimals(before, after);
    }
    if let Some(exponent) = after[length..].strip_prefix(['e', 'E']) {
        let bare = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits(bare) > 0 {
            length += 1 + exponent.len() - bare.len() + digits(bare);
        }
    }
    length
}

/// Whether dots may separate the thousands of a number, as in `1.990` of `1.990,50`.
fn has_dotted_thousands(taken: &str) -> bool {
    let Some((first, groups)) = taken.split_once('.') else { return false };
    let is_first = (1..=THOUSANDS).contains(&first.len()) && !first.starts_with('0');
    let is_group = |group: &str| group.len() == THOUSANDS && digits(group) == THOUSANDS;
    is_first && digits(first) == first.len() && groups.split('.').all(is_group)
}

/// The length of a comma and the decimals behind it, as in `7,05`. Several commas, or one behind
/// another comma or a bracket, separate numbers.
fn decimals(before: &str, after: &str) -> usize {
    let Some(fraction) = after.strip_prefix(',') else { return 0 };
    let length = digits(fraction);
    let goes_on = fraction[length..].strip_prefix([',', '.']);
    let is_list =
        before.ends_with([',', '(', '[', '{']) || goes_on.is_some_and(|next| digits(next) > 0);
    if length == 0 || is_list { 0 } else { 1 + length }
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
