//! The cost of a hunt.

use serde::{Deserialize, Serialize};

/// The cost of a hunt. Cache hits do not count; each attempt counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Totals {
    /// Executions of a measure's command.
    pub runs: usize,
    /// Builds.
    pub builds: usize,
    /// Seconds during which a process drove the hunt.
    pub wall_s: f64,
    /// Seconds of all runs.
    pub run_s: f64,
    /// Seconds of all builds.
    pub build_s: f64,
    /// Seconds that searches on a shorter text saved, estimated from the mean duration of full
    /// runs. Negative if the range had to be searched again with the full text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_s: Option<f64>,
    /// Seconds for which jobs had their nodes. Missing if the hunt had no jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_s: Option<f64>,
    /// Seconds of GPUs: of the jobs, or of the runs if there are no jobs. Missing if the
    /// configuration names no GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_s: Option<f64>,
    /// `node_s` and `gpu_s` may be more: the end of a job is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usage_is_least: bool,
}
