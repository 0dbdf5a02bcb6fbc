//! Groups that take only a part of a printed duration, such as `1` or `02` of `1:02`, or `1` of
//! `1m5.2s`. Below a minute the same program may print `58`.

use std::sync::LazyLock;

use regex::{Captures, Match, Regex};

use crate::evaluation::{Failure, Metric};
use crate::measure::unit::unit_of;

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
/// Any word right before the front.
static WORD_BEFORE: LazyLock<Regex> = LazyLock::new(|| own_pattern(r"[A-Za-z]\W*$"));
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

/// Fails if the group with this index takes only a part of a printed duration. What another metric
/// takes is not lost. Nor is what the pattern itself asks for beside the group, unless a word of
/// time or a unit says that it is a part of a duration. `end`: where the whole match ends.
pub(super) fn refuse_part(
    metric: &Metric,
    by: (&Regex, usize),
    line: &str,
    end: usize,
    found: Match<'_>,
) -> Result<(), Failure> {
    let parts = [front_before(by, line, found), rest_behind(by, line, end, found)];
    let [less, more] = parts.map(|part| part.map_or(0, |part| part.length));
    if more + less == 0 {
        return Ok(());
    }
    let [is_open_before, is_open_behind] =
        parts.map(|part| part.is_some_and(|part| !part.is_certain));
    let advice = if is_open_before {
        "; if what stands before the colon is no time, put it into the pattern, as in \
         `[0-9]+:([0-9.]+)`"
    } else if is_open_behind {
        "; if what stands behind the colon is no time, put the colon into the pattern, as in \
         `([0-9]+):`"
    } else {
        ""
    };
    let whole = line[found.start() - less..found.end() + more].trim();
    Err(refused(
        metric,
        found,
        &format!(
            "duration `{whole}`; let the program print seconds, or take each part, as in \
             `(?<m>[0-9]+):(?<s>[0-9]+)`{advice}"
        ),
    ))
}

/// What stands before minutes or seconds, such as `1:`, or behind minutes or hours.
#[derive(Clone, Copy)]
struct Part {
    length: usize,
    /// Whether a word of time or a unit says that it is a part of a duration.
    is_certain: bool,
}

/// The minutes and seconds behind a number. If they are certainly a part of a duration, they are
/// lost even if the pattern asks for them without a group, as `([0-9]+):[0-9]+` does.
fn rest_behind(by: (&Regex, usize), line: &str, end: usize, found: Match<'_>) -> Option<Part> {
    let (before, after) = (&line[..found.start()], &line[found.end()..]);
    let taken = found.as_str();
    if taken.is_empty() || !taken.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let with_colons = || {
        let length = REST.find(after)?.end();
        Some((length, is_surely_time(before, &after[..length], &after[length..])))
    };
    let with_units = || {
        let rest = UNITS_REST.find(after).filter(|_| !has_extremes(line))?;
        Some((rest.end(), true))
    };
    let (length, is_certain) = with_colons().or_else(with_units)?;
    // `1:023` is no duration.
    if after[length..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let place = [found.end(), found.end() + length];
    let is_lost = end == found.end()
        || (!is_taken_beside(by, line, place, found)
            && (is_certain || !asks_for(by, line, place, found)));
    is_lost.then_some(Part { length, is_certain })
}

/// What stands before minutes or seconds. If it is zero, as in `0:12`, nothing is lost. If it is
/// certainly a part of a duration, it is lost even if the pattern asks for it without a group, as
/// `[0-9]+:([0-9.]+)` does.
fn front_before(by: (&Regex, usize), line: &str, found: Match<'_>) -> Option<Part> {
    let (before, after) = (&line[..found.start()], &line[found.end()..]);
    let taken = found.as_str();
    let with_colons = || {
        let front = FRONT.find(before).filter(|_| PART.is_match(taken))?;
        let words = &before[..front.start()];
        let is_certain = is_surely_time(words, front.as_str(), after);
        let may_be = || may_be_time(words, line, found) && !asks_for_digit(by, line, found);
        (is_certain || may_be()).then_some((front, is_certain))
    };
    let with_units = || {
        let is_part = UNITS_PART.is_match(taken) && UNIT_BEHIND.is_match(after);
        let front = UNITS_FRONT.find(before).filter(|_| is_part && !has_extremes(line))?;
        Some((front, true))
    };
    let (front, is_certain) = with_colons().or_else(with_units)?;
    let is_lost = front.as_str().contains(|c: char| matches!(c, '1'..='9'))
        && !is_taken_beside(by, line, [front.start(), front.end()], found);
    is_lost.then(|| Part { length: front.len(), is_certain })
}

/// Whether a part such as `1:` or `:02` belongs to a duration. `1:` may also be the number of a
/// line, as in the output of `grep -n`, or of a device: `GPU 1:45.2`.
fn is_surely_time(before: &str, part: &str, after: &str) -> bool {
    let has_hours = part.matches(':').count() > 1;
    let has_word = || TIME_BEFORE.is_match(before) || TIME_BEHIND.is_match(after);
    !before.trim().is_empty() && (has_hours || has_word())
}

/// Whether a front may be minutes behind another word: `phase 1:02`. It may also be the number of a
/// thing, as in `chunk 3:12.5`. Only a pattern that asks for it says so.
fn may_be_time(before: &str, line: &str, found: Match<'_>) -> bool {
    let unit = unit_of(line, [found.start(), found.end()], |_| true);
    WORD_BEFORE.is_match(before) && matches!(unit.as_str(), "" | "s" | "min" | "h")
}

/// Whether another metric's group takes something between two places. A group without a name beside
/// this one is no metric.
fn is_taken_beside(
    (regex, index): (&Regex, usize),
    line: &str,
    [start, end]: [usize; 2],
    found: Match<'_>,
) -> bool {
    let is_own = |captures: &Captures<'_>| {
        captures.get(index).is_some_and(|own| own.range() == found.range())
    };
    regex.captures_iter(line).find(is_own).is_some_and(|captures| {
        let is_there = |other: usize| {
            let other = captures.get(other);
            other.is_some_and(|it| it.start() < end && start < it.end())
        };
        let mut names = regex.capture_names().enumerate();
        names.any(|(other, name)| name.is_some() && other != index && is_there(other))
    })
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
            // Any other word before it.
            ("step.*:([0-9.]+)", "step 1:15", "15", "1:15"),
            (".*:([0-9.]+)", "chunk 3:12.5", "12.5", "3:12.5"),
            ("phase.*:([0-9.]+)", "phase 1:02", "02", "1:02"),
            ("phase.*:([0-9.]+)", "phase (1:15.5 min)", "15.5", "1:15.5"),
            // The pattern asks for the minutes and drops them.
            ("[0-9]+:([0-9]+)", "time 12:02", "02", "12:02"),
            ("took [0-9]+:([0-9.]+)", "took 1:02 s", "02", "1:02"),
            ("[0-9]+m([0-9.]+)s", "1m2.2s", "2.2", "1m2.2"),
            // The pattern asks for the seconds and drops them, or takes any text there.
            ("([0-9]+):[0-9]+", "time 1:02", "1", "1:02"),
            ("took ([0-9]+):", "took 1:02 s", "1", "1:02"),
            ("took ([0-9]+) min", "took 1 min 5 s", "1", "1 min 5 s"),
            ("([0-9]+)m[0-9.]+s", "real 1m2.2s", "1", "1m2.2s"),
            ("phase ([0-9]+).*", "phase 1:02", "1", "1:02"),
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
            // The pattern asks for the other part.
            ("chunk ([0-9]+):[0-9.]+", "chunk 3:12.5"),
            ("chunk [0-9]+:([0-9.]+)", "chunk 3:12.5"),
            ("phase [0-9]+:([0-9.]+)", "phase 3:12.5"),
            (".*:([0-9.]+)", "{1:45.2}"),
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
            ("[0-9]+m([0-9.]+)s", "0m2.2s"),
            ("min ([0-9.]+)", "runs 8 min 3 s max 4 s"),
            ("runs ([0-9]+)", "runs 8 min 3 s max 4 s"),
        ] {
            assert_eq!(said(pattern, line), None, "{pattern}: {line}");
        }
    }

    #[test]
    fn minutes_that_another_metric_takes_are_not_lost() {
        let is_refused = |pattern: &str, index: usize| {
            let regex = Regex::new(pattern).unwrap();
            let captures = regex.captures("took 1:02").unwrap();
            let (whole, found) = (captures.get(0).unwrap(), captures.get(index).unwrap());
            let end = whole.end();
            refuse_part(&Metric::of("t"), (&regex, index), "took 1:02", end, found).is_err()
        };
        assert!(!is_refused("took (?<m>[0-9]+):(?<s>[0-9]+)", 1));
        assert!(!is_refused("took (?<m>[0-9]+):(?<s>[0-9]+)", 2));
        assert!(is_refused("took (?<m>[0-9]+):[0-9]+", 1));
        assert!(is_refused("took ([0-9]+):(?<s>[0-9]+)", 2));
    }
}
