//! How long a job worked, as the job itself wrote it down.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// For how long a job had its node. The time in Slurm's queue does not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobTime {
    /// Seconds so far. If Slurm began the job again, all its times together.
    pub seconds: f64,
    /// The GPUs that the job asked for.
    pub gpus: u32,
    /// When this was written.
    pub at: Timestamp,
    /// Whether it was written at the job's end. If not, the job may have worked longer.
    pub is_over: bool,
}
