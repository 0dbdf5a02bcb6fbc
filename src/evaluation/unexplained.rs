//! What the confirmed commits leave unexplained of the bad end.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Metric;

/// Something that the bad end shows and that the confirmed commits do not explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unexplained {
    /// A metric's step, or a part of it.
    Metric(Metric),
    /// The failure of a measure.
    Measure(String),
    /// The failure of the build.
    Build,
    /// The failure that the confirmed commit was named for.
    OwnFailure,
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metric(metric) => metric.fmt(f),
            Self::Measure(measure) => write!(f, "the failure of {measure}"),
            Self::Build => f.write_str("the failure of its build"),
            Self::OwnFailure => f.write_str("its failure"),
        }
    }
}
