//! Limits of a hunt without supervision (runs, time, GPUs, deadline), and the limit that ended it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The limits that `--max-runs`, `--max-hours`, `--max-gpu-hours` and `--deadline` set. They count
/// from the `start` or `resume` with these options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Maximum number of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_runs: Option<u32>,
    /// Maximum wall-clock time, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<u64>,
    /// Maximum seconds of GPUs: the time of jobs or runs, times their GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_gpu_seconds: Option<u64>,
    /// The point in time after which nothing is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl Limits {
    /// Whether no limit is set.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A limit that a hunt reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "limit", rename_all = "kebab-case")]
pub enum ReachedLimit {
    /// The number of runs.
    Runs {
        /// Maximum number of runs of the whole hunt.
        runs: u32,
    },
    /// The time.
    Time {
        /// The allowed seconds.
        seconds: u64,
    },
    /// The time of GPUs.
    GpuTime {
        /// The allowed seconds of GPUs.
        seconds: u64,
    },
    /// The deadline.
    Deadline {
        /// The deadline.
        at: Timestamp,
    },
}
