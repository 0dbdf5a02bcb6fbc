//! The noise of a metric that one run prints several times.

use serde::{Deserialize, Serialize};

use crate::evaluation::Metric;

/// A metric that one run prints several times. Repeats within a run vary less than runs do, so a
/// run is one sample, however many repeats it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RepeatLine {
    /// The metric.
    pub metric: Metric,
    /// Number of runs that count.
    pub launches: usize,
    /// The minimum and the maximum of repeats in a run.
    pub repeats: [usize; 2],
    /// The mean over all runs.
    pub mean: f64,
    /// Winsorised standard deviation of a run's value about its commit's mean, pooled over all
    /// commits; `None` if no commit has two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<f64>,
    /// Winsorised standard deviation of a repeat about its run's mean, pooled over all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
}
