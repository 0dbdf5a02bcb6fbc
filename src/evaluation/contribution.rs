//! A range of a gradual change.

use serde::{Deserialize, Serialize};

use super::{CommitId, Metric, number};

/// A range of history over which a metric got slightly worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Contribution {
    /// The last commit before the range.
    pub from: CommitId,
    /// The last commit of the range.
    pub to: CommitId,
    /// How many commits the range has.
    pub commits: usize,
    /// How much worse the metric got over the range, in its unit.
    #[serde(with = "number")]
    pub rise: f64,
    /// The metric.
    pub metric: Metric,
}
