//! A guard, its values at the endpoints and their noise; or the failure instead of a guard.

use serde::{Deserialize, Serialize};

pub(crate) use crate::evaluation::FormName;
use crate::evaluation::{Failure, Metric, NoiseKind, Value};

/// A guard and its values at the endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GuardLine {
    /// The metric.
    pub metric: Metric,
    /// The guard's form; `None` if the journal lacks it.
    pub form: Option<FormName>,
    /// The configured amount, in the form's unit.
    pub amount: Option<Value>,
    /// The tolerance, in the metric's unit.
    pub limit: Option<Value>,
    /// The level at the good endpoint.
    pub baseline: Option<Value>,
    /// The level at the bad endpoint.
    pub bad: Option<Value>,
    /// The threshold; `None` if values repeat bit for bit.
    pub threshold: Option<Value>,
    /// Levels and noise of the endpoints' runs; `None` if values repeat bit for bit.
    #[serde(default)]
    pub noise: Option<NoiseLine>,
    /// Whether the guard decides verdicts.
    pub target: bool,
    /// Why the guard is a target, or why not.
    pub why: String,
}

/// The failure that a hunt looks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetFailure {
    /// The measure that fails; `None` if the build fails.
    pub measure: Option<String>,
    /// The failure.
    pub failure: Failure,
}

/// Levels and noise of a metric that varies from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NoiseLine {
    /// The samples: values, their logarithms (`log`: the guard is in percent), or whether each run
    /// fails (`breaks`, `differs`).
    pub kind: NoiseKind,
    /// The good level in the metric's unit, or the share of good runs that fail.
    pub good: Value,
    /// The bad level in the metric's unit, or the share of bad runs that fail.
    pub bad: Value,
    /// Standard deviation of one run, or of a pair's difference if `paired`. In the metric's unit;
    /// for `log` as a share of the value; 0 if failing runs are counted.
    pub sd: Value,
    /// The effect size d: standard deviations between good and bad; `inf` if failing runs are
    /// counted.
    pub distance: Value,
    /// Runs at each end.
    pub runs: usize,
    /// Whether each run is compared with a run of the good endpoint beside it, since the machine
    /// drifts.
    pub paired: bool,
}
