//! Why an output has no value although the run exited with 0.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the output lacks. Metrics and tests are given by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unreadable {
    /// The file that the measure is read from.
    NoFile,
    /// Its end: the output is too long to be read completely.
    TooLong,
    /// An exit code: the run did not exit.
    NoExitCode,
    /// A perplexity.
    NoPerplexity,
    /// One perplexity: stdout and stderr have different ones.
    TwoPerplexities,
    /// A KL divergence.
    NoDivergence,
    /// Logits in the file.
    NoLogits,
    /// Logits of the reference's shape and tokens.
    OtherLogits,
    /// A tensor.
    NoTensor,
    /// The tensors' values: an old version printed other numbers instead.
    WrongValues,
    /// A JSON document.
    NoJson,
    /// An XML document.
    NoXml,
    /// An XML document of JUnit.
    NoJunit,
    /// The results of lm-evaluation-harness.
    NoResults,
    /// A test in the list of tests.
    NoTest,
    /// A list of llama-bench's tests.
    NoLlamaBench,
    /// A check that passes or fails.
    NoCheck,
    /// A number for this metric.
    NotANumber(String),
    /// A line that matches this metric's pattern.
    NoMatch(String),
    /// A value at the metric's place in the document.
    Nothing {
        /// The metric.
        metric: String,
        /// The place.
        at: String,
    },
    /// A single value for this metric.
    NotSingle(String),
    /// A speed of this metric's test.
    NoSpeed(String),
    /// One value for this test or metric: there are several.
    Twice(String),
}

/// The text in records: a format, which older versions compare. It never changes.
impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("no file"),
            Self::TooLong => f.write_str("too long"),
            Self::NoExitCode => f.write_str("no exit code"),
            Self::NoPerplexity => f.write_str("no perplexity"),
            Self::TwoPerplexities => f.write_str("two perplexities"),
            Self::NoDivergence => f.write_str("no KL divergence"),
            Self::NoLogits => f.write_str("no logits"),
            Self::OtherLogits => f.write_str("other logits"),
            Self::NoTensor => f.write_str("no tensor"),
            Self::WrongValues => f.write_str("wrong values"),
            Self::NoJson => f.write_str("no JSON document"),
            Self::NoXml => f.write_str("no XML document"),
            Self::NoJunit => f.write_str("no JUnit XML"),
            Self::NoResults => f.write_str("no results"),
            Self::NoTest => f.write_str("no test"),
            Self::NoLlamaBench => f.write_str("no llama-bench"),
            Self::NoCheck => f.write_str("no check"),
            Self::NotANumber(metric) => write!(f, "{metric}: not a number"),
            Self::NoMatch(metric) => write!(f, "{metric}: no match"),
            Self::Nothing { metric, at } => write!(f, "{metric}: nothing at {at}"),
            Self::NotSingle(metric) => write!(f, "{metric}: not a single value"),
            Self::NoSpeed(metric) => write!(f, "{metric}: no speed"),
            Self::Twice(name) => write!(f, "{name} twice"),
        }
    }
}
