//! Metrics: the named numbers and facts that a measure yields.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::number::{Number, NumberOrText};
use super::{Checks, PrintedUnits, TextLength, ValueForms, ValuePlaces};

/// A metric's name: `MEASURE`, or `MEASURE.NAME` if a measure yields several.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Metric {
    /// The `[[measure]]` that yields it.
    pub measure: String,
    /// The value's name in the measure, such as a regex group; `None` for the measure's one unnamed
    /// value.
    pub name: Option<String>,
}

/// The text is not a metric name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a metric: write MEASURE or MEASURE.NAME")]
pub struct ParseMetricError(String);

impl Metric {
    /// The unnamed metric of a measure.
    pub fn of(measure: &str) -> Self {
        Self { measure: measure.to_owned(), name: None }
    }

    /// Splits a metric of a matrix cell into the metric without the cell and the cell's labels, as
    /// pairs of axis and label.
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
/// In JSON: a number, or one of the strings `"nan"`, `"inf"`, `"-inf"`; any other string is a
/// fact.
#[derive(Clone, Debug)]
pub enum Value {
    /// A measured number, in whatever unit the engine prints.
    Number(f64),
    /// A text that the engine prints about itself, such as its launch configuration.
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
}

/// Compares bit for bit: NaN equals NaN with the same payload, and 0.0 differs from -0.0.
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
            Self::Number(x) => Number(*x).fmt(f),
            Self::Fact(text) => f.write_str(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(x) => Number(*x).serialize(serializer),
            Self::Fact(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match NumberOrText::deserialize(deserializer)? {
            NumberOrText::Number(x) => Self::Number(x),
            NumberOrText::Text(text) => match Number::of_text(&text) {
                Some(Number(x)) => Self::Number(x),
                None => Self::Fact(text),
            },
        })
    }
}

/// All values that the parser found in a run's output.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Reading {
    /// The metrics, by name. Without `wall_s` and `peak_rss_mib`, which do not come from the
    /// output.
    pub values: BTreeMap<Metric, Value>,
    /// Per-chunk values in the order printed (cumulative perplexity after chunk 1, 2, …); empty
    /// if the parser has no chunks. [`Self::same_bits`] compares them too.
    pub chunks: Vec<f64>,
    /// Tokens in each chunk, if the output has this number.
    pub context: Option<u32>,
    /// A metric's repeats within one run, in the order printed. The metric's value is computed from
    /// its repeats; [`Self::same_bits`] compares only the value.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// The checks that ran, if the parser reads checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
    /// Those of them that failed.
    #[serde(skip_serializing_if = "Checks::is_empty")]
    pub failed: Checks,
    /// The checks that were skipped, if the output names them. They did not run.
    #[serde(skip)]
    pub skipped: Checks,
    /// The units of each metric's numbers, if the parser looks for units.
    #[serde(skip)]
    pub units: BTreeMap<Metric, PrintedUnits>,
    /// The forms of the places with each metric's value, if the parser looks for them.
    #[serde(skip)]
    pub forms: BTreeMap<Metric, ValueForms>,
    /// What the place of each metric's value says, and the places that could have had the value.
    #[serde(skip)]
    pub places: BTreeMap<Metric, ValuePlaces>,
    /// How many digits each metric's number has behind its point, if the parser counts them.
    #[serde(skip)]
    pub decimals: BTreeMap<Metric, usize>,
    /// The beginning of a generated text, for people. [`Self::same_bits`] compares it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Whether a parser that counts checks gives this name to a count of those that failed.
pub(crate) fn is_count_of_failures(name: &str) -> bool {
    matches!(name, "failed" | "failures" | "errors")
}

impl Reading {
    /// How many checks failed. Only for a parser that counts checks: a value of another parser may
    /// have the name of such a count.
    pub(crate) fn failed_checks(&self) -> Option<f64> {
        let is_count = |metric: &Metric| metric.name.as_deref().is_some_and(is_count_of_failures);
        let counts = self.values.iter().filter(|(metric, _)| is_count(metric));
        counts.filter_map(|(_, value)| value.number()).reduce(|sum, count| sum + count)
    }

    /// The reading as if these checks were not in the output: neither in the lists nor in the counts
    /// of `parity`.
    pub(crate) fn without_checks(mut self, left_out: &Checks) -> Self {
        let Some(ran) = self.checks.as_ref().filter(|_| !left_out.is_empty()) else { return self };
        let failed = self.failed.among(left_out);
        let passed = ran.among(left_out).without(&failed);
        let skipped = self.skipped.among(left_out);
        for (metric, value) in &mut self.values {
            let gone = match metric.name.as_deref() {
                Some("failed") => failed.len(),
                Some("passed") => passed.len(),
                Some("skipped") => skipped.len(),
                _ => 0,
            };
            if let Value::Number(count) = value {
                *count -= gone as f64;
            }
        }
        self.checks = Some(ran.without(left_out));
        self.failed = self.failed.without(left_out);
        self.skipped = self.skipped.without(left_out);
        self
    }

    /// The amount of text that the run read, if the output has it.
    pub(crate) fn text_length(&self) -> Option<TextLength> {
        let chunks = self.chunks.len();
        (chunks > 0).then_some(TextLength { chunks, context: self.context })
    }

    /// The checks that ran, if the output lists checks.
    pub(crate) fn checks(&self) -> Option<&Checks> {
        self.checks.as_ref()
    }

    /// The units of a metric's numbers if these cannot be compared with numbers of the units
    /// `wanted`. `baseline`: one of those numbers.
    pub(crate) fn other_units(
        &self,
        metric: &Metric,
        wanted: &PrintedUnits,
        baseline: Option<f64>,
    ) -> Option<&PrintedUnits> {
        let number = self.values.get(metric).and_then(Value::number);
        self.units.get(metric).filter(|own| own.differ_from(wanted, [number, baseline]))
    }

    /// The factor between a metric's number and another one, if both lack a unit and the factor is
    /// exactly that of two scales. `wanted`: the units of the other number.
    pub(crate) fn hidden_factor(
        &self,
        metric: &Metric,
        wanted: &PrintedUnits,
        other: Option<f64>,
    ) -> Option<f64> {
        let number = self.values.get(metric).and_then(Value::number)?;
        self.units.get(metric)?.hidden_factor(wanted, [number, other?])
    }

    /// Whether all values are facts or whole numbers, and there is no generated text. Two causes
    /// easily give equal values of this kind. Equal fractions or texts point to one cause.
    pub(crate) fn is_plain(&self) -> bool {
        let numbers = self.values.values().filter_map(Value::number);
        self.text.is_none() && numbers.chain(self.chunks.iter().copied()).all(|x| x.fract() == 0.0)
    }

    /// Whether two runs are bit-identical: all parsed values, including those of chunks, and the
    /// checks that ran and failed.
    pub(crate) fn same_bits(&self, other: &Self) -> bool {
        self.values == other.values
            && self.checks == other.checks
            && self.failed == other.failed
            && self.text == other.text
            && self.chunks.len() == other.chunks.len()
            && self.chunks.iter().zip(&other.chunks).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}
