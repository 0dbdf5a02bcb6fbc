//! The unit of a number, such as `KB/s`, behind the number or before it. Numbers of different units
//! cannot be compared.

/// Units that may stand as a word of their own, without their prefix. A word with `/`, `%` or `°`,
/// or right behind the digits, is always a unit. Others say something else: `PASS`, `done`.
const UNITS: [&str; 13] =
    ["s", "min", "h", "B", "iB", "b", "bps", "Bps", "tps", "Hz", "FLOP", "FLOPS", "W"];
const PREFIXES: [&str; 8] = ["", "n", "u", "m", "k", "M", "G", "T"];

/// Other spellings at the beginning and at the end of a unit.
const BEGINNINGS: [(&str, &str); 9] = [
    ("nano", "n"),
    ("micro", "u"),
    ("µ", "u"),
    ("μ", "u"),
    ("milli", "m"),
    ("kilo", "k"),
    ("K", "k"),
    ("mega", "M"),
    ("giga", "G"),
];
const ENDINGS: [(&str, &str); 7] = [
    ("second", "s"),
    ("sec", "s"),
    ("minute", "min"),
    ("min", "min"),
    ("hour", "h"),
    ("byte", "B"),
    ("bit", "b"),
];

/// What may stand around a unit.
const BRACKETS: [[char; 2]; 2] = [['(', ')'], ['[', ']']];

/// Longer words may be in the plural.
const SHORTEST_PLURAL: usize = 4;

/// Units at the end of a name, as in `time_ms`. Names are often in small letters, and `min` is the
/// smallest one.
const IN_NAMES: [(&str, &str); 12] = [
    ("ns", "ns"),
    ("us", "us"),
    ("ms", "ms"),
    ("s", "s"),
    ("B", "B"),
    ("kb", "kB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("kib", "kiB"),
    ("mib", "MiB"),
    ("gib", "GiB"),
    ("percent", "%"),
];

/// The unit of the number from `start` to `end`, in one spelling. Empty if there is none.
/// `counts`: whether the text between two places behind the number may be its unit. It may not be
/// if the pattern takes any text there, as with `.*`.
pub(super) fn unit_of(
    line: &str,
    [start, end]: [usize; 2],
    counts: impl Fn([usize; 2]) -> bool,
) -> String {
    let behind = unit_behind(line, end, counts);
    if behind.is_empty() { unit_before(&line[..start]) } else { behind }
}

/// The unit that a text says, such as the value of a key `unit`. Empty if the text is no unit.
pub(super) fn unit_in(text: &str) -> String {
    let text = text.trim();
    let is_of_unit = |c: char| c.is_alphabetic() || matches!(c, '%' | '°' | '/');
    let unit = text.split('/').map(spelled).collect::<Vec<_>>().join("/");
    let is_unit = text.contains(['/', '%', '°']) || is_known(&unit);
    if is_unit && text.chars().all(is_of_unit) { unit } else { String::new() }
}

/// The unit in brackets, or at the end of a name, right before a number: `time (ms): 12`,
/// `"time_ms": 12`, `ms: 12`. A pattern that has this text itself matches no other unit.
fn unit_before(before: &str) -> String {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '=' | ':' | '"' | '\'' | '|');
    let label = before.trim_end_matches(is_between);
    for [open, close] in BRACKETS {
        if let Some((_, inner)) = label.strip_suffix(close).and_then(|it| it.rsplit_once(open)) {
            return unit_in(inner);
        }
    }
    let rest = label.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let word = spelled(&label[rest.len()..].to_ascii_lowercase());
    // `t=1s: 5` has a unit of another number.
    let is_name = rest.ends_with(['_', '-', '.', ' ']) && label.len() < before.len();
    let unit = IN_NAMES.iter().find(|(name, _)| is_name && *name == word);
    unit.map_or(String::new(), |(_, unit)| (*unit).to_owned())
}

/// The unit behind a number, in brackets or not. Empty if there is none, or if it does not count.
/// `end`: where the number ends.
fn unit_behind(line: &str, end: usize, counts: impl Fn([usize; 2]) -> bool) -> String {
    let after = &line[end..];
    let rest = after.trim_start_matches([' ', '\t']);
    let start = line.len() - rest.len();
    for [open, close] in BRACKETS {
        if let Some((inner, _)) = rest.strip_prefix(open).and_then(|it| it.split_once(close)) {
            let is_unit = counts([start, start + open.len_utf8() + inner.len()]);
            return if is_unit { unit_in(inner) } else { String::new() };
        }
    }
    let is_first = |c: char| c.is_alphabetic() || matches!(c, '%' | '°');
    let length = rest.find(|c: char| !is_first(c) && c != '/').unwrap_or(rest.len());
    let (word, behind) = rest.split_at(length);
    let word = word.trim_end_matches('/');
    let is_apart = start > end;
    if !word.starts_with(is_first) || is_label(word, behind, is_apart) {
        return String::new();
    }
    let per = per_what(behind);
    let has_sign = word.contains(['/', '%', '°']) || per.is_some();
    let unit = word.split('/').chain(per).map(spelled).collect::<Vec<_>>().join("/");
    let is_unit = !is_apart || has_sign || is_known(&unit);
    if is_unit && counts([start, start + word.len()]) { unit } else { String::new() }
}

/// The second word of `tokens per second`. `behind`: the text behind the first word.
fn per_what(behind: &str) -> Option<&str> {
    let words = behind.strip_prefix(" per ")?;
    words.split(|c: char| !c.is_alphabetic()).next().filter(|word| !word.is_empty())
}

/// Whether a word behind a number is the label of what follows: `loss 3.1 lr=0.1`, `3.1 lr 0.1`.
fn is_label(word: &str, behind: &str, is_apart: bool) -> bool {
    let next = behind.trim_start();
    let is_name = behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let has_number = next.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
    is_name || next.starts_with(['=', ':']) || (is_apart && has_number && !word.contains('/'))
}

/// One spelling of a unit: `msec`, `milliseconds` and `ms` are the same.
fn spelled(unit: &str) -> String {
    let singular = unit.strip_suffix('s').filter(|_| unit.len() >= SHORTEST_PLURAL);
    let ending = |unit: &str| -> Option<String> {
        let (long, short) = ENDINGS.iter().find(|(long, _)| unit.ends_with(*long))?;
        Some(format!("{}{short}", unit.strip_suffix(*long)?))
    };
    let ended = singular.and_then(ending).or_else(|| ending(unit));
    let unit = ended.as_deref().unwrap_or(unit);
    let beginning = BEGINNINGS.iter().find_map(|(long, short)| {
        let rest = unit.strip_prefix(*long)?;
        Some(format!("{short}{rest}"))
    });
    beginning.unwrap_or_else(|| unit.to_owned())
}

fn is_known(unit: &str) -> bool {
    let mut bases = PREFIXES.iter().filter_map(|prefix| unit.strip_prefix(*prefix));
    bases.any(|base| UNITS.contains(&base))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The unit behind the number of `t=NUMBER…`.
    fn unit(line: &str) -> String {
        let end = 2 + line[2..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(0);
        unit_behind(line, end, |_| true)
    }

    #[test]
    fn units_have_one_spelling() {
        for (line, wanted) in [
            ("t=9 KB/s", "kB/s"),
            ("t=9 kB/sec, 3 files", "kB/s"),
            ("t=9 MB/s 12 files", "MB/s"),
            ("t=9ms", "ms"),
            ("t=9 milliseconds.", "ms"),
            ("t=9 msec", "ms"),
            ("t=9 µs", "us"),
            ("t=9 s (total)", "s"),
            ("t=9 seconds", "s"),
            ("t=9 min", "min"),
            ("t=9 mins", "min"),
            ("t=9 Mbit", "Mb"),
            ("t=9 tok/s", "tok/s"),
            ("t=9 tps", "tps"),
            ("t=9 tokens per second, 3 runs", "tokens/s"),
            ("t=9 ms per token", "ms/token"),
            ("t=9 %", "%"),
            ("t=9x", "x"),
            ("t=9 MiB", "MiB"),
            ("t=9 GFLOPS", "GFLOPS"),
            ("t=9 (ms)", "ms"),
            ("t=9 [msec], ok", "ms"),
        ] {
            assert_eq!(unit(line), wanted, "{line}");
        }
    }

    #[test]
    fn other_words_are_no_units() {
        for line in [
            "t=9",
            "t=9 PASS",
            "t=9 done",
            "t=9 tests",
            "t=9 of 12",
            "t=9 tokens per",
            "t=9/12 passed",
            "t=9, ms",
            "t=9 s=3",
            "t=9 h: 3",
            "t=9 min 3 max 4",
            "t=9 ms_total",
            "t=9 (total)",
            "t=9 (3 s)",
        ] {
            assert_eq!(unit(line), "", "{line}");
        }
        assert_eq!(unit_behind("t=9 ms", 3, |place| place != [4, 6]), "", "any text may follow");
        assert_eq!(unit_behind("t=9 (ms)", 3, |place| place != [4, 7]), "", "any text may follow");
    }

    #[test]
    fn units_may_stand_before_the_number() {
        for (before, wanted) in [
            ("time (ms): ", "ms"),
            ("speed [tok/s] = ", "tok/s"),
            ("{\"time_ms\": ", "ms"),
            ("latency_milliseconds ", "ms"),
            ("size_KB=", "kB"),
            ("time in ms: ", "ms"),
            ("cpu_percent: ", "%"),
            ("t=", ""),
            ("time (total): ", ""),
            ("loss_min = ", ""),
            ("items: ", ""),
            ("t=1s: ", ""),
            ("x_s", ""),
        ] {
            let line = format!("{before}12");
            let place = [before.len(), line.len()];
            assert_eq!(unit_of(&line, place, |_| true), wanted, "{line}");
        }
        let line = "time (ms): 12 s";
        assert_eq!(unit_of(line, [11, 13], |_| true), "s");
    }
}
