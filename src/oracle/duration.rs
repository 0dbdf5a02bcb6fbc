//! Durations of stored runs and builds.

use std::time::Duration;

/// The wall time as a duration. For a process that timed out, it is at least the time-out.
pub(super) fn as_duration(wall_s: f64) -> Duration {
    Duration::try_from_secs_f64(wall_s).unwrap_or(Duration::MAX)
}
