//! Formats durations, numbers and counts, and cleans quoted text for one line. No IO.

use std::time::Duration;

use super::sanitize::{printable, printable_line};
use crate::evaluation::{CommitId, Value, Verdict};

/// Significant digits of a computed number. A number with at most two more digits is shown in
/// full, as an engine printed it.
const DIGITS: u8 = 6;

/// A duration for people: `0.4 s`, `12 s`, `3 min 05 s`, `1 h 05 min`, `2 d 03 h`.
pub(crate) fn duration(time: Duration) -> String {
    let tenths = (time.as_secs_f64() * 10.0).round();
    if tenths < 100.0 && tenths % 10.0 != 0.0 {
        return format!("{:.1} s", tenths / 10.0);
    }
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// A budget as it was typed, in hours: the shortest number that means these seconds, such as
/// `0.004`, `0.5` or `20`. Budgets are kept in whole seconds, rounded up.
pub(crate) fn typed_hours(seconds: u64) -> String {
    let hours = seconds as f64 / 3600.0;
    let means_it = |text: &String| {
        let typed = text.parse().map_or(0.0, |hours: f64| hours * 3600.0);
        let time = Duration::try_from_secs_f64(typed).unwrap_or_default();
        time.as_secs() + u64::from(time.subsec_nanos() > 0) == seconds
    };
    let mut shorter = (0..=4).map(|digits: usize| format!("{hours:.digits$}"));
    shorter.find(means_it).unwrap_or_else(|| figure(hours))
}

/// A command as a user could type it.
pub(crate) fn typed(words: &[String]) -> String {
    // An executed argument cannot contain NUL, so quoting does not fail.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// The time left, in minutes: seconds would be false precision.
pub fn about(left: Duration) -> String {
    match left.as_secs() {
        0..60 => "under 1 min left".to_owned(),
        60..3600 => format!("about {} min left", (left.as_secs() + 30) / 60),
        _ => format!("about {} left", duration(left)),
    }
}

/// A duration in seconds for people; `0 s` if negative or NaN.
pub fn seconds(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A running clock: `0:12`, `1:02:03`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds % 3600 / 60, seconds % 60),
    }
}

/// A number: in full if it is short, otherwise with six significant digits and no trailing
/// zeros; also `nan`, `inf` and `-inf`.
pub fn figure(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    let size = x.abs();
    if !x.is_finite() || x == 0.0 {
        return format!("{x}");
    }
    if !(1e-5..1e15).contains(&size) {
        let text = format!("{x:.*e}", usize::from(DIGITS) - 1);
        return match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", trim_zeros(mantissa)),
            None => text,
        };
    }
    let whole = format!("{x}");
    let digits = whole.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit);
    if digits.count() <= usize::from(DIGITS) + 2 {
        return whole;
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -5 and 14, as checked above")]
    let exponent = size.log10().floor() as i32;
    let decimals = usize::try_from(i32::from(DIGITS) - 1 - exponent).unwrap_or(0);
    trim_zeros(&format!("{x:.decimals$}")).to_owned()
}

/// A computed number with two significant digits: `0.0031`, `12`. For noise, where more digits
/// mean nothing.
pub(crate) fn rounded(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return figure(x);
    }
    let rounded: f64 = format!("{x:.1e}").parse().unwrap_or(x);
    figure(rounded)
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A computed difference with three significant digits, but with all digits before the point:
/// `0.464`, `2797`, `1.46e-6`.
pub fn difference(x: f64) -> String {
    let size = x.abs();
    if !(1e-5..1e15).contains(&size) {
        let [mantissa, exponent] = match format!("{x:.2e}").split_once('e') {
            Some((mantissa, exponent)) => [mantissa.to_owned(), exponent.to_owned()],
            None => return figure(x),
        };
        return if x == 0.0 || !x.is_finite() {
            figure(x)
        } else {
            format!("{}e{exponent}", trim_zeros(&mantissa))
        };
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -5 and 14, as checked above")]
    let decimals = usize::try_from(2 - size.log10().floor() as i32).unwrap_or(0);
    trim_zeros(&format!("{x:.decimals$}")).to_owned()
}

/// A difference, with its sign: `+0.31`, `-2`, `0`.
pub fn diff(x: f64) -> String {
    if x > 0.0 { format!("+{}", figure(x)) } else { figure(x) }
}

/// The change from one level to another, relative to the first: `+4.3 %`, `−78 %`. `None` if
/// nothing changed, or if percentages mean nothing: from zero, or to the other sign.
pub fn change(before: f64, after: f64) -> Option<String> {
    let percent = 100.0 * (after - before) / before.abs();
    let has_one_sign = before * after >= 0.0;
    if !percent.is_finite() || percent == 0.0 || !has_one_sign {
        return None;
    }
    let sign = if percent > 0.0 { '+' } else { '\u{2212}' };
    let size = percent.abs();
    if !(1e-4..1e6).contains(&size) {
        return None;
    }
    // Two significant digits.
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 6, as checked above")]
    let decimals = usize::try_from(1 - size.log10().floor() as i32).unwrap_or(0);
    Some(format!("{sign}{} %", trim_zeros(&format!("{size:.decimals$}"))))
}

/// Maximum length of a fact that is shown in full, in characters.
const FACT: usize = 64;

/// A value for people; a fact is quoted text and is cleaned. A long fact is shown by its beginning
/// and its end.
pub fn value(value: &Value) -> String {
    match value {
        Value::Number(x) => figure(*x),
        Value::Fact(text) => part_of(&line(text).chars().collect::<Vec<_>>(), 0),
    }
}

/// [`value`] without a limit.
pub(crate) fn full_value(value: &Value) -> String {
    match value {
        Value::Number(x) => figure(*x),
        Value::Fact(text) => line(text),
    }
}

/// `7.21 → 7.52`. Of long facts, the part where they differ.
pub fn values(before: &Value, after: &Value) -> String {
    pair(before, after).join(" → ")
}

/// Two values for people. Of long facts, the part where they differ.
pub fn pair(before: &Value, after: &Value) -> [String; 2] {
    let (Value::Fact(first), Value::Fact(second)) = (before, after) else {
        return [value(before), value(after)];
    };
    let [first, second] = [first, second].map(|text| line(text).chars().collect::<Vec<char>>());
    let same = first.iter().zip(&second).take_while(|(a, b)| a == b).count();
    // A few equal characters before the difference say where it is.
    let from = same.saturating_sub(FACT / 4);
    [part_of(&first, from), part_of(&second, from)]
}

/// A text, or if it is long, its characters after `from` and its end.
fn part_of(text: &[char], from: usize) -> String {
    if text.len() <= FACT {
        return text.iter().collect();
    }
    let from = from.min(text.len() - FACT);
    let before = if from > 0 { "…" } else { "" };
    let [begin, end] = [FACT - FACT / 4, FACT / 4];
    let (shown, rest) = text[from..].split_at(begin);
    let shown: String = shown.iter().collect();
    let (between, last) = match rest.len().checked_sub(end) {
        Some(hidden) if hidden > 0 => (" … ", &rest[hidden..]),
        _ => ("", rest),
    };
    let last: String = last.iter().collect();
    format!("{before}{shown}{between}{last} ({} characters)", text.len())
}

/// A probability, never rounded up to certainty: `99.7 %`, `more than 99.9999 %`.
pub fn percent(p: f64) -> String {
    if p >= 1.0 {
        return "100 %".to_owned();
    }
    if p > 0.999_999 {
        return "more than 99.9999 %".to_owned();
    }
    let decimals = match 1.0 - p {
        rest if rest < 0.000_1 => 4,
        rest if rest < 0.001 => 3,
        rest if rest < 0.01 => 2,
        _ => 1,
    };
    // Floor, not round; the small term corrects binary fractions such as 99.7.
    let scale = 10_f64.powi(decimals);
    let floored = (p * 100.0 * scale + 1e-6).floor() / scale;
    format!("{} %", trim_zeros(&format!("{floored:.*}", decimals.unsigned_abs() as usize)))
}

/// Bytes for people: `0 B`, `812 B`, `12.4 KiB`, `3.0 GiB`.
pub fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = count as f64;
    let mut unit = "B";
    for larger in units {
        // A size that would print as 1024.0 moves to the larger unit.
        if size < 1023.95 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    if unit == "B" { format!("{count} B") } else { format!("{size:.1} {unit}") }
}

/// `1 commit`, `3 commits`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `a, b and c`.
pub(crate) fn joined(mut names: Vec<String>) -> String {
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// `1a2b3c4d5e subject`, cleaned for a terminal; only the id if the subject is empty.
pub fn commit(id: &CommitId, subject: &str) -> String {
    format!("{} {}", id.short(), line(subject)).trim_end().to_owned()
}

/// Columns of a value and of a threshold in a line for a judged commit.
const VALUE: usize = 14;
const THRESHOLD: usize = 20;

/// One line for a commit that was skipped: the reason is in place of the value and the threshold of
/// [`verdict_line`].
pub(crate) fn skip_line(verdict: Verdict, id: &CommitId, why: &str, subject: &str) -> String {
    let width = VALUE + 2 + THRESHOLD;
    let text =
        format!("{:<7}  {}  {:<width$}  {}", verdict.to_string(), id.short(), why, line(subject));
    text.trim_end().to_owned()
}

/// One line for a judged commit, with columns that align across lines:
/// `good  1a2b3c4d5e  ppl 6.1234  (threshold 6.18)  subject`.
pub(crate) fn verdict_line(
    verdict: Verdict,
    id: &CommitId,
    figure: Option<(&str, &Value)>,
    limit: Option<f64>,
    subject: &str,
) -> String {
    let figure = figure.map_or_else(String::new, |(metric, v)| format!("{metric} {}", value(v)));
    let limit = limit.map_or_else(String::new, |x| format!("(threshold {})", self::figure(x)));
    let text = format!(
        "{:<7}  {}  {figure:<VALUE$}  {limit:<THRESHOLD$}  {}",
        verdict.to_string(),
        id.short(),
        line(subject)
    );
    text.trim_end().to_owned()
}

/// The text in at most `width` characters; a cut text ends with an ellipsis.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Quoted text cleaned for one line: no control sequences, no control characters, no invisible
/// characters or changes of direction; line breaks and tabs become spaces.
pub fn line(text: &str) -> String {
    printable_line(text)
}

/// The same as `line()`, with line breaks and tabs kept.
pub fn lines(text: &str) -> String {
    printable(text)
}

#[cfg(test)]
mod tests;
