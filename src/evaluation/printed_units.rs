//! The units behind a metric's numbers, as printed. Numbers of units of another scale are
//! never compared.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The units behind the numbers of one run; several if the run printed several. An empty text is a
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

impl PrintedUnits {
    /// Whether some unit of one run is a known unit of another scale than one of the other run:
    /// `ms` and `s`. Other words, or none, may name the same unit: `t/s` and `tok/s`.
    pub(crate) fn differ_from(&self, other: &Self) -> bool {
        let has_new = |own: &Self, other: &Self| {
            let mut new = own.0.difference(&other.0);
            new.any(|unit| other.0.iter().any(|another| is_other_scale(unit, another)))
        };
        has_new(self, other) || has_new(other, self)
    }
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

fn bytes(unit: &str) -> Option<f64> {
    let prefix = unit.strip_suffix('B')?;
    let known = PREFIXES.iter().chain(&BINARY).find(|(name, _)| *name == prefix);
    known.map(|(_, scale)| *scale)
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
            of(one).differ_from(&of(other)) || of(other).differ_from(&of(one))
        };
        for (one, other) in [
            ("ms", "s"),
            ("s", "min"),
            ("kB/s", "MB/s"),
            ("MB/s", "MiB/s"),
            ("tok/s", "tok/min"),
            ("tok/s", "ktok/s"),
            ("GFLOPS", "TFLOPS"),
            ("ms,s", "ms"),
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
            ("ms,s", "ms,s,"),
            ("MB", "s"),
        ] {
            assert!(!is_other(one, other), "{one}: {other}");
        }
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
