//! What the commits of an answer explain of a metric's change.

use serde::{Deserialize, Serialize};

use super::{Metric, number};

/// How much of a metric's change the found steps explain: total = explained + rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The metric.
    pub metric: Metric,
    /// How much worse the bad endpoint is than the good one, in the metric's unit.
    #[serde(with = "number")]
    pub total: f64,
    /// The sum of the own steps found.
    #[serde(with = "number")]
    pub explained: f64,
    /// `total` minus `explained`.
    #[serde(with = "number")]
    pub rest: f64,
    /// The rest is made of small steps: among the measured commits between the found ones, none is
    /// worse than the one before it by more than the tolerance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_small_steps: bool,
    /// The part of the rest that named commits took back themselves: steps that their parents still
    /// had, of commits that were undone or that the bad end does not need. In the metric's unit;
    /// `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<f64>,
    /// What two named commits explain both: each alone makes the step at the bad end. `None` if no
    /// steps overlap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// The standard error of the rest, in the metric's unit; `None` if values repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// The guard's tolerance, in the metric's unit.
    #[serde(with = "number")]
    pub limit: f64,
}

impl Account {
    /// Whether the found steps exceed the whole change by more than the tolerance.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.rest < -self.limit.max(0.0)
    }

    /// What neither the found steps nor small steps explain.
    pub(crate) fn left(&self) -> f64 {
        if self.in_small_steps { 0.0 } else { self.rest - self.taken_back.unwrap_or(0.0) }
    }
}
