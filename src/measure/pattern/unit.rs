//! The unit behind a number, such as `KB/s`. Numbers of different units cannot be compared.

/// Units that may stand as a word of their own, without their prefix. A word with `/`, `%` or `°`,
/// or right behind the digits, is always a unit. Others say something else: `PASS`, `done`.
const UNITS: [&str; 12] =
    ["s", "min", "h", "B", "iB", "b", "bps", "Bps", "Hz", "FLOP", "FLOPS", "W"];
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

/// Longer words may be in the plural.
const SHORTEST_PLURAL: usize = 4;

/// The unit behind a number, in one spelling. Empty if there is none, or if the pattern itself says
/// what follows the number. `end`: where the number ends; `match_end`: where the match ends.
pub(super) fn unit_behind(line: &str, end: usize, match_end: usize) -> String {
    let after = &line[end..];
    let rest = after.trim_start_matches([' ', '\t']);
    let start = line.len() - rest.len();
    // A pattern may take the white space, but no more.
    if start < match_end {
        return String::new();
    }
    let is_first = |c: char| c.is_alphabetic() || matches!(c, '%' | '°');
    let length = rest.find(|c: char| !is_first(c) && c != '/').unwrap_or(rest.len());
    let (word, behind) = rest.split_at(length);
    let word = word.trim_end_matches('/');
    let is_apart = start > end;
    if !word.starts_with(is_first) || is_label(word, behind, is_apart) {
        return String::new();
    }
    let has_sign = word.contains(['/', '%', '°']);
    let unit = word.split('/').map(spelled).collect::<Vec<_>>().join("/");
    if !is_apart || has_sign || is_known(&unit) { unit } else { String::new() }
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
        unit_behind(line, end, end)
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
            ("t=9 %", "%"),
            ("t=9x", "x"),
            ("t=9 MiB", "MiB"),
            ("t=9 GFLOPS", "GFLOPS"),
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
            "t=9/12 passed",
            "t=9, ms",
            "t=9 s=3",
            "t=9 h: 3",
            "t=9 min 3 max 4",
            "t=9 ms_total",
            "t=9 (ms)",
        ] {
            assert_eq!(unit(line), "", "{line}");
        }
        assert_eq!(unit_behind("t=9 ms", 3, 6), "", "the pattern has the unit");
        assert_eq!(unit_behind("t=9 ms", 3, 4), "ms", "the pattern ends with a space");
    }
}
