//! Groups that take only a part of a printed duration, such as `1` or `02` of `1:02`, or `1` of
//! `1m5.2s`. Below a minute the same program may print `58`.

use std::sync::LazyLock;

use regex::{Match, Regex};

use crate::evaluation::{Failure, Metric};

use super::asked::asks_for;
use super::cut::refused;
use super::not_a_number::own_pattern;

/// The last unit of a duration.
const UNIT: &str = r" ?(?:s|secs?|seconds?|m|mins?)\b";

/// Minutes and seconds behind a number, with a fraction.
static REST: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"^(?::[0-5][0-9]){1,2}(?:\.[0-9]+)?"));
/// A number in front of minutes or seconds.
static FRONT: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"\b[0-9]{1,2}(?::[0-5][0-9])?:$"));
/// Minutes or seconds.
static PART: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"^[0-5][0-9](?:\.[0-9]+)?$"));
/// A word of time right before the front of a duration.
static TIME_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    own_pattern(r"(?i)(?:\b|_)(?:time|runtime|took|elapsed|duration|in|after|wall|real|ss)\W*$")
});
/// A word of time right behind a duration.
static TIME_BEHIND: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"^ ?(?i:elapsed)\b"));
/// The rest behind hours or minutes if each part has a unit.
static UNITS_REST: LazyLock<Regex> = LazyLock::new(|| {
    own_pattern(&format!(r"^(?:(?:[hm]| ?min) ?[0-5]?[0-9](?:\.[0-9]+)?){{1,2}}{UNIT}"))
});
/// Hours and minutes with their units.
static UNITS_FRONT: LazyLock<Regex> =
    LazyLock::new(|| own_pattern(r"\b(?:[0-9]+(?:[hm]| ?min) ?){1,2}$"));
/// Minutes or seconds before a unit.
static UNITS_PART: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"^[0-5]?[0-9](?:\.[0-9]+)?$"));
static UNIT_BEHIND: LazyLock<Regex> = LazyLock::new(|| own_pattern(&format!("^{UNIT}")));

/// Fails if the group with this index takes only a part of a printed duration. What the pattern
/// itself asks for beside the group does not belong to the duration. `end`: where the whole match
/// ends.
pub(super) fn refuse_part(
    metric: &Metric,
    (regex, index): (&Regex, usize),
    line: &str,
    end: usize,
    found: Match<'_>,
) -> Result<(), Failure> {
    let taken = found.as_str();
    let more = if end == found.end() { rest_behind(taken, line, end) } else { 0 };
    let less = front_before(line, found)
        .filter(|_| !asks_for_digit((regex, index), line, found))
        .unwrap_or(0);
    if more + less == 0 {
        return Ok(());
    }
    let whole = line[found.start() - less..found.end() + more].trim();
    Err(refused(
        metric,
        found,
        &format!(
            "duration `{whole}`; let the program print seconds, or take each part, as in \
             `(?<m>[0-9]+):(?<s>[0-9]+)`"
        ),
    ))
}

/// The length of the minutes and seconds behind a number; 0 if there are none.
fn rest_behind(taken: &str, line: &str, end: usize) -> usize {
    let after = &line[end..];
    if taken.is_empty() || !taken.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    let with_units = || UNITS_REST.find(after).filter(|_| !has_extremes(line));
    let length = REST.find(after).or_else(with_units).map_or(0, |rest| rest.end());
    // `1:023` is no duration.
    if after[length..].starts_with(|c: char| c.is_ascii_digit()) { 0 } else { length }
}

/// The length of what stands before minutes or seconds, such as `1:`. A front of 0 takes nothing
/// away.
fn front_before(line: &str, found: Match<'_>) -> Option<usize> {
    let (before, after) = (&line[..found.start()], &line[found.end()..]);
    let taken = found.as_str();
    let with_colons = || {
        FRONT.find(before).filter(|front| {
            PART.is_match(taken) && is_surely_time(&before[..front.start()], front.as_str(), after)
        })
    };
    let with_units = || {
        let is_part = UNITS_PART.is_match(taken) && UNIT_BEHIND.is_match(after);
        UNITS_FRONT.find(before).filter(|_| is_part && !has_extremes(line))
    };
    let front = with_colons().or_else(with_units)?;
    front.as_str().contains(|c: char| matches!(c, '1'..='9')).then(|| front.len())
}

/// Whether a front such as `1:` belongs to a duration. It may also be the number of a line, as in
/// the output of `grep -n`, or of a device: `GPU 1:45.2`.
fn is_surely_time(before: &str, front: &str, after: &str) -> bool {
    let has_hours = front.matches(':').count() > 1;
    let has_word = || TIME_BEFORE.is_match(before) || TIME_BEHIND.is_match(after);
    !before.trim().is_empty() && (has_hours || has_word())
}

/// Whether `min` is a label, as in `8 runs, min 3 s, max 4 s`.
fn has_extremes(line: &str) -> bool {
    line.contains("max")
}

/// Whether the pattern itself asks for the last digit before the group.
fn asks_for_digit(by: (&Regex, usize), line: &str, found: Match<'_>) -> bool {
    let place = line[..found.start()].rfind(|c: char| c.is_ascii_digit());
    place.is_some_and(|place| asks_for(by, line, [place, place + 1], found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of the first match of the pattern's first group.
    fn said(pattern: &str, line: &str) -> Option<String> {
        let regex = Regex::new(pattern).unwrap();
        let captures = regex.captures(line).unwrap();
        let (whole, found) = (captures.get(0).unwrap(), captures.get(1).unwrap());
        let result = refuse_part(&Metric::of("t"), (&regex, 1), line, whole.end(), found);
        result.err().map(|failure| failure.detail)
    }

    #[test]
    fn a_part_of_a_duration_is_refused() {
        for (pattern, line, part, whole) in [
            ("time ([0-9.]+)", "time 1:02", "1", "1:02"),
            ("time ([0-9.]+)", "time 1:02.50 (m:ss)", "1", "1:02.50"),
            ("time ([0-9]+)", "time 12:02:03, ok", "12", "12:02:03"),
            ("([0-9.]+) s", "took 1:02 s", "02", "1:02"),
            ("([0-9.]+) s", "took 1:02:03.4 s", "03.4", "1:02:03.4"),
            ("time.*:([0-9.]+)", "time: 1:02", "02", "1:02"),
            ("([0-9.]+)elapsed", "0.10system 1:02.30elapsed", "02.30", "1:02.30"),
            ("time +([0-9.]+)", "time 1m5.2s", "1", "1m5.2s"),
            ("time.*?([0-9.]+)s", "time 1m5.2s", "5.2", "1m5.2"),
            ("real.*m([0-9.]+)s", "real\t1m2.204s", "2.204", "1m2.204"),
            ("took ([0-9.]+)", "took 1 min 5 s", "1", "1 min 5 s"),
            ("([0-9.]+) s", "took 1 min 5 s", "5", "1 min 5"),
            ("time ([0-9]+)", "time 1h2m3s", "1", "1h2m3s"),
        ] {
            let said = said(pattern, line).expect(line);
            let wanted = format!("takes only `{part}` of the duration `{whole}`; let");
            assert!(said.contains(&wanted), "{line}: {said}");
        }
    }

    #[test]
    fn other_colons_belong_to_no_duration() {
        for (pattern, line) in [
            ("time ([0-9.]+)", "time 58"),
            ("time ([0-9]+)", "time 1:2"),
            ("time ([0-9]+)", "time 1:99"),
            ("time ([0-9]+)", "time 1:023"),
            ("time ([0-9.]+)", "time 1.5:30"),
            ("chunk ([0-9]+):", "chunk 3:12.5"),
            ("time (?<m>[0-9]+):[0-9]+", "time 1:02"),
            // The pattern asks for the first part, or for a word.
            ("chunk [0-9]+:([0-9.]+)", "chunk 3:12.5"),
            ("[0-9]+:([0-9]+)", "time 12:02"),
            ("chunk.*:( *[0-9.]+)", "chunk 3: 12.5"),
            (".*:([0-9.]+)", "layer3:12.5"),
            (".*:([0-9.]+)", "chunk 3:7.5"),
            ("ppl ([0-9.]+)", "12:00:59 ppl 12"),
            // Numbers of lines, devices and sizes.
            ("([0-9.]+)$", "12:12.34"),
            ("([0-9.]+) tok/s", "GPU 1:45.2 tok/s"),
            ("([0-9.]+) tok/s", "GPU 0:45.2 tok/s"),
            ("([0-9.]+) ms", "ctx 4096:12.34 ms"),
            // Below a minute.
            ("([0-9.]+)elapsed", "0.10system 0:12.34elapsed"),
            ("real.*m([0-9.]+)s", "real\t0m50.204s"),
            ("[0-9]+m([0-9.]+)s", "1m2.2s"),
            ("min ([0-9.]+)", "runs 8 min 3 s max 4 s"),
            ("runs ([0-9]+)", "runs 8 min 3 s max 4 s"),
        ] {
            assert_eq!(said(pattern, line), None, "{pattern}: {line}");
        }
    }
}
