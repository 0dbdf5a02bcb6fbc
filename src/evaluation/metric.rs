//! What a measure yields: named numbers and facts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Extent;

/// A metric's name: `MEASURE`, or `MEASURE.NAME` where a measure yields several.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Metric {
    /// The `[[measure]]` it comes from.
    pub measure: String,
    /// The named group or pointer; `None` for the measure's one unnamed value.
    pub name: Option<String>,
}

/// The text is no metric name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a metric: write MEASURE or MEASURE.NAME")]
pub struct ParseMetricError(String);

impl Metric {
    /// The unnamed metric of a measure.
    pub fn of(measure: &str) -> Self {
        Self { measure: measure.to_owned(), name: None }
    }

    /// Of a metric in one cell of a matrix: the metric without it, and what each axis is.
    pub fn cell(&self) -> Option<(Self, Vec<(&str, &str)>)> {
        let (measure, cell) = self.measure.strip_suffix(']')?.split_once('[')?;
        let axes = cell.split(',').map(|axis| axis.split_once('=')).collect::<Option<_>>()?;
        Some((Self { measure: measure.to_owned(), name: self.name.clone() }, axes))
    }

    /// A named metric of a measure.
    pub fn named(measure: &str, name: &str) -> Self {
        Self { measure: measure.to_owned(), name: Some(name.to_owned()) }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}.{name}", self.measure),
            None => f.write_str(&self.measure),
        }
    }
}

impl FromStr for Metric {
    type Err = ParseMetricError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = |w: &str| {
            !w.is_empty() && w.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        };
        // A measure, or one cell of it: `ppl[model=tiny,threads=8]`.
        let measure = |text: &str| match text.split_once('[') {
            None => word(text),
            Some((name, cell)) => {
                let axis = |part: &str| {
                    part.split_once('=').is_some_and(|(axis, label)| word(axis) && word(label))
                };
                word(name) && cell.strip_suffix(']').is_some_and(|cell| cell.split(',').all(axis))
            }
        };
        match text.split_once('.') {
            None if measure(text) => Ok(Self::of(text)),
            Some((of, name)) if measure(of) && word(name) => Ok(Self::named(of, name)),
            _ => Err(ParseMetricError(text.to_owned())),
        }
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// One value of a metric in one run.
///
/// In JSON a finite number is a number, one that is not finite is the string `"nan"`, `"inf"`
/// or `"-inf"`, and a fact is any other string.
#[derive(Clone, Debug)]
pub enum Value {
    /// A measured number, in whatever unit the engine prints.
    Number(f64),
    /// What the engine said of itself, such as its launch configuration.
    Fact(String),
}

impl Value {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Fact(_) => None,
        }
    }

    /// A number that is not finite: NaN or an infinity.
    pub fn is_broken_number(&self) -> bool {
        matches!(self, Self::Number(x) if !x.is_finite())
    }
}

/// Bit for bit: NaN equals NaN with the same payload, and 0.0 differs from -0.0.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.to_bits() == b.to_bits(),
            (Self::Fact(a), Self::Fact(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) if x.is_nan() => f.write_str("nan"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Fact(text) => f.write_str(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(x) if x.is_finite() => serializer.serialize_f64(*x),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Plain {
            Number(f64),
            Text(String),
        }
        Ok(match Plain::deserialize(deserializer)? {
            Plain::Number(x) => Self::Number(x),
            Plain::Text(text) => match text.as_str() {
                "nan" => Self::Number(f64::NAN),
                "inf" => Self::Number(f64::INFINITY),
                "-inf" => Self::Number(f64::NEG_INFINITY),
                _ => Self::Fact(text),
            },
        })
    }
}

/// What one run's output says: every value the parser found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reading {
    /// The metrics, by name; `wall_s` and `peak_rss_mib` are not among them, since they are
    /// not read from the output.
    pub values: BTreeMap<Metric, Value>,
    /// Per-chunk values in the order printed, where the parser knows chunks (cumulative
    /// perplexity after chunk 1, 2, …); empty otherwise. They count for "bit-identical".
    pub chunks: Vec<f64>,
    /// Tokens in each chunk, where the output says so.
    pub context: Option<u32>,
    /// What one launch said of a metric when it said it several times, in the order printed:
    /// repeats within a launch, of which the value is made. They are not among what counts for
    /// "bit-identical": the value is, and two runs whose values are the same bits measured the
    /// same.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// The checks or tests that ran, by name, where the parser knows such; those that were
    /// skipped are not among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<BTreeSet<String>>,
}

impl Reading {
    /// How much text the run read, where its output tells.
    pub fn extent(&self) -> Option<Extent> {
        let chunks = self.chunks.len();
        (chunks > 0).then_some(Extent { chunks, context: self.context })
    }

    /// Bit-identical: all parsed values, per-chunk ones included, are equal, and the same checks
    /// ran.
    pub fn same_bits(&self, other: &Self) -> bool {
        self.values == other.values
            && self.checks == other.checks
            && self.chunks.len() == other.chunks.len()
            && self.chunks.iter().zip(&other.chunks).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}
