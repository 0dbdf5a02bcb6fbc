//! Failed runs of one measure at one commit, and which of them must be seen again before they
//! count.

use crate::evaluation::{Failure, FailureKind};
use crate::store::StoredRun;

use super::Sample;

/// The failed runs of one measure at one commit.
#[derive(Debug, Default)]
pub(super) struct FailedRuns {
    /// Whether a run was cut short or killed, so that the next such run counts.
    pub(super) was_cut: bool,
    /// Whether a crash or a time-out was seen before the last run. Then the next one counts.
    pub(super) was_seen: bool,
    /// The last run, if it was the first crash or time-out.
    pub(super) unconfirmed: Option<(StoredRun, Sample)>,
    /// Whether only a control run can tell that the commit is at fault for that run.
    pub(super) needs_control: bool,
    /// The port that a run wanted and another program held.
    pub(super) taken_port: Option<u16>,
}

impl FailedRuns {
    /// Whether this failure is a crash, a time-out or a failed `[[prepare]]` step, and is the first
    /// of these.
    pub(super) fn is_first(&self, failure: &Failure) -> bool {
        must_be_seen_twice(failure) && !self.was_seen && self.unconfirmed.is_none()
    }

    /// Whether a crash, a time-out, a failed `[[prepare]]` step or a taken port was seen. If so,
    /// later runs have no other run beside them. Two runs at the same time may have caused the
    /// failure; then the repeat would fail too, and count.
    pub(super) fn has_any(&self) -> bool {
        self.was_seen || self.unconfirmed.is_some() || self.taken_port.is_some()
    }
}

/// Whether a failure must be seen twice before it counts. A wrong output (NaN, no value) need not
/// be seen twice: it is treated like any other value.
pub(super) fn must_be_seen_twice(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout | FailureKind::Prepare)
}
