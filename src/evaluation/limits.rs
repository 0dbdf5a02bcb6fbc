//! Limits of a hunt that runs alone: how many runs, how long, until when; and which limit ended it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The limits that `--max-runs`, `--max-hours` and `--deadline` set. They count from the `start` or
/// `resume` that they were given to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_runs: Option<u32>,
    /// Maximum time, in seconds of the clock on the wall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<u64>,
    /// The point in time after which nothing is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl Limits {
    /// Whether no limit is set.
    pub fn is_empty(&self) -> bool {
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
        /// Seconds that were given.
        seconds: u64,
    },
    /// The deadline.
    Deadline {
        /// The deadline.
        at: Timestamp,
    },
}
