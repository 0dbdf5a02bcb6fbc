//! The units of a metric's numbers, as printed. Numbers of units of another scale are never
//! compared.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The units of the numbers of one run; several if the run printed several. An empty text is a
/// number without a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct PrintedUnits(BTreeSet<String>);

impl FromIterator<String> for PrintedUnits {
    fn from_iter<I: IntoIterator<Item = String>>(units: I) -> Self {
        Self(units.into_iter().collect())
    }
}

/// Prefixes of counts and bytes, or none. Parsers write `k` for `K`.
const PREFIXES: [(&str, f64); 5] = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("", 1.0)];
/// Further prefixes of bytes.
const BINARY: [(&str, f64); 4] =
    [("ki", 1024.0), ("Mi", 1_048_576.0), ("Gi", 1_073_741_824.0), ("Ti", 1_099_511_627_776.0)];

/// From this ratio on, two numbers may have units of different scale. A byte has 8 bits, and in the
/// same commit the number may get better or worse by a factor of 1.6.
const LEAST_RATIO: f64 = 5.0;

/// Factors between two scales of a number without a unit: per cent and a share, seconds and
/// milliseconds or microseconds.
const HIDDEN_FACTORS: [f64; 3] = [100.0, 1e3, 1e6];
/// Largest difference between the ratio of two rounded numbers and such a factor, as a share of the
/// factor.
const ROUNDING: f64 = 0.005;
/// Minimum number of digits that one of the two numbers must have. With fewer digits, the ratio of
/// two levels on one scale is often such a factor by chance.
const LEAST_DIGITS: usize = 2;

/// Other words for what is counted. Engines rename them without any change of the numbers.
const COUNTED: [(&str, &str); 13] = [
    ("t", "tok"),
    ("toks", "tok"),
    ("token", "tok"),
    ("tokens", "tok"),
    ("its", "it"),
    ("iter", "it"),
    ("iters", "it"),
    ("iteration", "it"),
    ("iterations", "it"),
    ("reqs", "req"),
    ("request", "req"),
    ("requests", "req"),
    ("tps", "tok/s"),
];

impl PrintedUnits {
    /// Whether the numbers of two runs cannot be compared, because their units are of different
    /// scale: `ms` and `s`, or `it/s` and `s/it`. Other words, or none, may name the same unit. So
    /// for these the numbers must be far apart too: 80 `%` and 0.8. `numbers`: one of each run.
    pub(super) fn differ_from(&self, other: &Self, numbers: [Option<f64>; 2]) -> bool {
        let [own, other] = [self, other].map(Self::with_short_words);
        own.has_other_scale(&other) || (own != other && may_be_rescaled(numbers))
    }

    /// The factor between two numbers without a unit, if it is exactly that of two scales, such as
    /// per cent and a share: 45.2 and 0.452. Whole numbers may be counts, which have one scale.
    pub(super) fn hidden_factor(&self, other: &Self, numbers: [f64; 2]) -> Option<f64> {
        let has_unit = |units: &Self| units.0.iter().any(|unit| !unit.is_empty());
        let are_whole = numbers.iter().all(|number| number.fract() == 0.0);
        let has_digits = numbers.into_iter().any(|number| digits(number) >= LEAST_DIGITS);
        if has_unit(self) || has_unit(other) || are_whole || !has_digits {
            return None;
        }
        let ratio = ratio_of(numbers);
        HIDDEN_FACTORS.into_iter().find(|factor| (ratio / factor - 1.0).abs() <= ROUNDING)
    }

    /// The units with one word for each thing that is counted: `tok/s` for `t/s`.
    fn with_short_words(&self) -> Self {
        let short = |unit: &String| unit.split('/').map(short_word).collect::<Vec<_>>().join("/");
        self.0.iter().map(short).collect()
    }

    /// Whether some unit of one run is a known unit of another scale than one of the other run.
    fn has_other_scale(&self, other: &Self) -> bool {
        let has_new = |own: &Self, other: &Self| {
            let mut new = own.0.difference(&other.0);
            new.any(|unit| {
                let mut others = other.0.iter();
                others.any(|another| is_other_scale(unit, another) || is_inverse(unit, another))
            })
        };
        has_new(self, other) || has_new(other, self)
    }
}

/// Whether two numbers are so far apart that one may be the other in another unit.
fn may_be_rescaled(numbers: [Option<f64>; 2]) -> bool {
    let [Some(own), Some(other)] = numbers else { return false };
    let ratio = ratio_of([own, other]);
    ratio.is_finite() && ratio >= LEAST_RATIO
}

/// The larger number divided by the smaller one, for two positive numbers.
fn ratio_of([one, other]: [f64; 2]) -> f64 {
    (one / other).max(other / one)
}

/// A unit with the word of [`COUNTED`], and with `/s` for a rate: `Mb/s` for `Mbps`.
fn short_word(word: &str) -> String {
    if let Some((_, short)) = COUNTED.iter().find(|(long, _)| *long == word) {
        return (*short).to_owned();
    }
    let rate = |end: &str, unit: &str| Some(format!("{}{unit}", word.strip_suffix(end)?));
    rate("bps", "b/s").or_else(|| rate("Bps", "B/s")).unwrap_or_else(|| word.to_owned())
}

/// How many digits a number has, without zeros at its ends: 3 for 45.2 and for 0.452.
fn digits(number: f64) -> usize {
    let text = format!("{number:e}");
    let mantissa = text.split('e').next().unwrap_or_default();
    mantissa.bytes().filter(u8::is_ascii_digit).count()
}

/// Whether one is the inverse of the other, or one is a time for each thing and the other a number
/// of things for each time: `ms/tok` and `tok/s`.
fn is_inverse(own: &str, other: &str) -> bool {
    let parts = [own, other].map(|unit| unit.split_once('/'));
    let [Some((above, below)), Some((other_above, other_below))] = parts else { return false };
    let is_time_above = |above: &str, below: &str| {
        let is_time = [above, below].map(|part| seconds(part).is_some());
        (is_time[0] != is_time[1]).then_some(is_time[0])
    };
    let places = [is_time_above(above, below), is_time_above(other_above, other_below)];
    let is_exact = above != below && above == other_below && below == other_above;
    is_exact || matches!(places, [Some(own), Some(other)] if own != other)
}

/// Whether both are known units of one kind and of different scales.
fn is_other_scale(own: &str, other: &str) -> bool {
    if own.matches('/').count() != other.matches('/').count() {
        return false;
    }
    let mut product = 1.0_f64;
    for (place, (own, other)) in own.split('/').zip(other.split('/')).enumerate() {
        let Some(ratio) = ratio(own, other) else { return false };
        product *= if place == 0 { ratio } else { ratio.recip() };
    }
    (product - 1.0).abs() > 1e-6
}

/// How much larger one unit is; `None` if they cannot be compared.
fn ratio(own: &str, other: &str) -> Option<f64> {
    if own == other {
        return Some(1.0);
    }
    if own.is_empty() || other.is_empty() {
        return None;
    }
    let by = |scale: fn(&str) -> Option<f64>| Some(scale(own)? / scale(other)?);
    by(seconds).or_else(|| by(bytes)).or_else(|| counts(own, other))
}

fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

/// Bytes, and bits as parts of them.
fn bytes(unit: &str) -> Option<f64> {
    let (prefix, size) = match unit.strip_suffix('B') {
        Some(prefix) => (prefix, 1.0),
        None => (unit.strip_suffix('b')?, 0.125),
    };
    let known = PREFIXES.iter().chain(&BINARY).find(|(name, _)| *name == prefix);
    known.map(|(_, scale)| *scale * size)
}

/// The ratio of two counts of the same thing: `ktok` and `tok`.
fn counts(own: &str, other: &str) -> Option<f64> {
    without_prefix(own).find_map(|(rest, scale)| {
        let (_, other_scale) = without_prefix(other).find(|(another, _)| *another == rest)?;
        Some(scale / other_scale)
    })
}

/// For each prefix with which a unit begins: the rest of the unit, and the scale of the prefix.
fn without_prefix(unit: &str) -> impl Iterator<Item = (&str, f64)> {
    let prefixes = PREFIXES.into_iter();
    prefixes.filter_map(move |(prefix, scale)| Some((unit.strip_prefix(prefix)?, scale)))
}

/// `kB/s`, `ms and s`, or `no unit`.
impl fmt::Display for PrintedUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.0.iter().map(String::as_str);
        let named = units.map(|unit| if unit.is_empty() { "no unit" } else { unit });
        f.write_str(&named.collect::<Vec<_>>().join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_scale_is_another_unit() {
        let is_other = |one: &str, other: &str| {
            let of = |units: &str| units.split(',').map(str::to_owned).collect::<PrintedUnits>();
            let near = [Some(100.0), Some(120.0)];
            of(one).differ_from(&of(other), near) || of(other).differ_from(&of(one), near)
        };
        for (one, other) in [
            ("ms", "s"),
            ("s", "min"),
            ("kB/s", "MB/s"),
            ("MB/s", "MiB/s"),
            ("Mb", "MB"),
            ("Mbps", "MB/s"),
            ("tok/s", "tok/min"),
            ("tok/s", "ktok/s"),
            ("GFLOPS", "TFLOPS"),
            ("ms,s", "ms"),
            ("it/s", "s/it"),
            ("ms/tok", "tokens/s"),
            ("tok/W", "W/tok"),
            ("t/s", "tokens/min"),
        ] {
            assert!(is_other(one, other), "{one}: {other}");
        }
        for (one, other) in [
            ("t/s", "tok/s"),
            ("", "tok/s"),
            ("", "ms"),
            ("", "k"),
            ("ms", "ms/token"),
            ("%", "x"),
            ("kB/ms", "MB/s"),
            ("tok/s", "it/s"),
            ("ms/tok", "ms/it"),
            ("ms/s", "s/tok"),
            ("ms,s", "ms,s,"),
            ("MB", "s"),
        ] {
            assert!(!is_other(one, other), "{one}: {other}");
        }
    }

    #[test]
    fn another_word_is_another_unit_if_the_numbers_are_far_apart() {
        let of = |unit: &str| -> PrintedUnits { [unit.to_owned()].into_iter().collect() };
        let is_other = |[one, other]: [&str; 2], [own, reference]: [f64; 2]| {
            of(one).differ_from(&of(other), [Some(own), Some(reference)])
        };
        assert!(is_other(["", "ms"], [0.012, 7.0]));
        assert!(is_other(["ms", ""], [12.0, 0.007]));
        assert!(is_other(["", "%"], [0.7, 80.0]));
        assert!(is_other(["min", ""], [1.2, 58.0]));
        assert!(is_other(["MB", ""], [10.0, 80.0]));
        assert!(!is_other(["", "tok/s"], [80.0, 100.0]));
        // One unit under two names.
        assert!(!is_other(["t/s", "tok/s"], [4.1, 101.5]));
        assert!(!is_other(["tps", "tokens/s"], [4.1, 101.5]));
        assert!(!is_other(["iters/s", "it/s"], [4.1, 101.5]));
        assert!(!is_other(["ms", "ms"], [2.0, 0.01]));
        for number in [0.0, -7.0, f64::NAN] {
            assert!(!is_other(["", "ms"], [number, 7.0]), "{number}");
        }
        assert!(!of("").differ_from(&of("ms"), [None, Some(7.0)]));
    }

    #[test]
    fn numbers_without_a_unit_may_be_of_two_scales() {
        let of = |unit: &str| -> PrintedUnits { [unit.to_owned()].into_iter().collect() };
        let factor = |units: [&str; 2], numbers| of(units[0]).hidden_factor(&of(units[1]), numbers);
        assert_eq!(factor(["", ""], [45.2, 0.452]), Some(100.0));
        assert_eq!(factor(["", ""], [0.452, 45.23]), Some(100.0));
        assert_eq!(factor(["", ""], [0.0123, 12.3]), Some(1e3));
        for numbers in [
            [45.2, 0.41],
            [0.452, 40.0],
            [4500.0, 45.0],
            [0.8, 80.0],
            [7.1, 0.0],
            [7.1, f64::NAN],
            [7.1, f64::INFINITY],
        ] {
            assert_eq!(factor(["", ""], numbers), None, "{numbers:?}");
        }
        assert_eq!(factor(["ms", "ms"], [45.2, 0.452]), None);
    }

    #[test]
    fn a_missing_unit_has_words() {
        let of = |units: &[&str]| -> PrintedUnits {
            units.iter().map(|unit| (*unit).to_owned()).collect()
        };
        assert_eq!(of(&[""]).to_string(), "no unit");
        assert_eq!(of(&["s", "ms", "s"]).to_string(), "ms and s");
    }
}
