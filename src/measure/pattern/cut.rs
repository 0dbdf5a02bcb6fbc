//! Groups that take only a part of a printed number, such as `1` of `1,990`, `5` of `5e-05` or
//! `7.1` of `7.1x10^2`, or of a duration, such as `1` of `1:02`. The part is another number, and
//! may be the same at both ends.

use std::sync::LazyLock;

use regex::{Match, Regex};

use crate::evaluation::{Failure, Metric};
use crate::measure::value::in_place_of_number;

use super::asked::asks_for;
use super::not_a_number::own_pattern;

/// Digits of a group of thousands.
const THOUSANDS: usize = 3;
/// What may stand between groups of thousands.
const SEPARATORS: [char; 6] = [',', '_', '\'', '\u{a0}', '\u{2009}', '\u{202f}'];
/// Those of them that never stand between two columns.
const NARROW_SPACES: [char; 3] = ['\u{a0}', '\u{2009}', '\u{202f}'];

/// A power of ten behind a number.
static POWER: LazyLock<Regex> = LazyLock::new(|| {
    own_pattern(r"^ ?[x*×·] ?10(?:(?:\^|\*\*)[-+({]?[0-9]+|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|^ [eE][-+]?[0-9]+\b")
});
/// The rest of a hexadecimal number behind its `0`.
static HEXADECIMAL: LazyLock<Regex> =
    LazyLock::new(|| own_pattern(r"^[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?(?:[pP][-+]?[0-9]+)?"));
/// Thousands that a plain space separates. Without a fraction, they may be columns.
static SPACED: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"^(?: [0-9]{3})+\.[0-9]+"));

/// Fails if the group takes only a part of a printed number. `end`: where the whole match ends.
pub(super) fn refuse_part(
    metric: &Metric,
    by: (&Regex, usize),
    line: &str,
    end: usize,
    found: Match<'_>,
) -> Result<(), Failure> {
    let Some(whole) = number_around(by, line, end, found) else { return Ok(()) };
    let cure = if whole.contains(SEPARATORS) || whole.contains(' ') {
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
    let more = match (continued(bare, before, after), spaced_thousands(bare, before, after)) {
        (0, spaced) if spaced > 0 && takes_fraction(by, line, found) => spaced,
        (more, _) => more,
    };
    let place = [found.end(), found.end() + more];
    let is_asked_for = more > 0 && end != found.end() && asks_for(by, line, place, found);
    let more = if is_asked_for { 0 } else { more };
    // A pattern such as `.*([0-9.]+)` leaves only the last digit to its group.
    let is_signed = bare.len() < taken.len();
    let less = match trailing_digits(before) {
        _ if is_signed => 0,
        0 => thousands_before(bare, before),
        less => less,
    };
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
            length = after.len() - group.len() + THOUSANDS;
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
    let pattern = if taken == "0" && length == 0 { &HEXADECIMAL } else { &POWER };
    length + pattern.find(&after[length..]).map_or(0, |rest| rest.len())
}

/// The length of the thousands that plain spaces separate from the first ones, as in `1 234.5`. A
/// number before the first ones says that these are columns.
fn spaced_thousands(taken: &str, before: &str, after: &str) -> usize {
    let is_first = digits(taken) == taken.len() && taken.len() <= THOUSANDS;
    let is_column = before.trim_end().ends_with(|c: char| c.is_ascii_digit());
    if !is_first || is_column || taken.starts_with('0') {
        return 0;
    }
    SPACED.find(after).map_or(0, |rest| rest.len())
}

/// The length of the first thousands and a narrow space before the last ones, as in `1` before
/// `234.5`.
fn thousands_before(taken: &str, before: &str) -> usize {
    let (last, fraction) = taken.split_once('.').unwrap_or((taken, ""));
    let is_last = last.len() == THOUSANDS && digits(last) == THOUSANDS;
    let first = before.strip_suffix(NARROW_SPACES).filter(|_| is_last && !fraction.contains('.'));
    first.map_or(0, |first| match trailing_digits(first) {
        0 => 0,
        length => before.len() - first.len() + length,
    })
}

/// Whether the group would take a number with a fraction in place of its own one.
fn takes_fraction((regex, index): (&Regex, usize), line: &str, found: Match<'_>) -> bool {
    const FRACTION: &str = "1.5";
    let changed = [&line[..found.start()], FRACTION, &line[found.end()..]].concat();
    let mut others = regex.captures_iter(&changed).filter_map(|captures| captures.get(index));
    others.any(|other| other.start() == found.start() && other.as_str() == FRACTION)
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

/// How many digits a text ends with.
fn trailing_digits(text: &str) -> usize {
    text.bytes().rev().take_while(u8::is_ascii_digit).count()
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
