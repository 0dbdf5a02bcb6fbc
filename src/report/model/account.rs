//! How much of a metric's change the found commits explain.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Metric, Value};

/// An [`Account`](crate::evaluation::Account) whose numbers may be NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AccountLine {
    /// The metric.
    pub metric: Metric,
    /// How much worse the bad endpoint is than the good one.
    pub total: Value,
    /// The sum of the confirmed commits' steps.
    pub explained: Value,
    /// `total` minus `explained`.
    pub rest: Value,
    /// The rest is made of small steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_small_steps: bool,
    /// What two confirmed commits explain both: each alone makes the step at the bad end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Value>,
    /// The standard error of the rest, in the metric's unit; absent if values repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The guard's tolerance, in the metric's unit.
    pub limit: Value,
}

/// A [`Contribution`](crate::evaluation::Contribution) whose numbers may be NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rise {
    /// The last commit before the range.
    pub from: CommitId,
    /// The last commit of the range.
    pub to: CommitId,
    /// Number of commits in the range.
    pub commits: usize,
    /// How much worse the metric gets over the range.
    #[expect(clippy::struct_field_names, reason = "a key of report.json")]
    pub rise: Value,
    /// The metric.
    pub metric: Metric,
}
