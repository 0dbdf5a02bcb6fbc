//! A change that an undecided hunt measured, and whose effect on the bad end is not known.

use serde::{Deserialize, Serialize};

use super::{CommitId, Metric, number};

/// A change of one metric, or of a failure, at one commit. The bad end may have it or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenStep {
    /// A confirmed first bad commit, or the commit at which a metric is better again. An earlier
    /// commit may have made it better.
    pub commit: CommitId,
    /// The metric; `None` for a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// How much worse the metric is than before, in its unit; negative if it is better. `None` for
    /// a failure or a fact.
    #[serde(with = "number", default)]
    pub change: Option<f64>,
    /// Whether fresh runs of the commit and its parents confirmed the change.
    pub is_confirmed: bool,
}
