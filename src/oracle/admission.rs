//! Decides which new runs count. A failure that is the machine's fault never counts. A run that
//! was cut short is repeated before it counts. A crash or a time-out counts when it is seen twice.

use crate::config::Measure;
use crate::evaluation::{Ended, Failure, FailureKind, Fault};
use crate::store::StoredRun;

use super::derive::Derived;
use super::{Oracle, OracleError, Request, Sample};

/// What becomes of a new run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The run counts.
    Counts,
    /// The run does not count, and another one is made.
    Again,
    /// The first crash or time-out: it counts if the next run fails so too.
    Unconfirmed,
}

/// The failed runs of one measure at one commit.
#[derive(Debug, Default)]
pub(super) struct FailedRuns {
    /// Whether a run was cut short or killed, so that the next such run counts.
    pub(super) was_cut: bool,
    /// Whether a crash or a time-out was seen before the last run. Then the next one counts.
    pub(super) was_seen: bool,
    /// The last run, if it was the first crash or time-out.
    pub(super) unconfirmed: Option<(StoredRun, Sample)>,
}

impl FailedRuns {
    /// Whether a run that fails so is the first of its kind: a crash, a time-out, or a failed
    /// `[[prepare]]` step.
    pub(super) fn is_first(&self, failure: &Failure) -> bool {
        is_seen_twice(failure) && !self.was_seen && self.unconfirmed.is_none()
    }
}

/// Whether a failure must be seen twice before it counts. What a program prints (NaN, no value)
/// repeats or not like any other value.
pub(super) fn is_seen_twice(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout | FailureKind::Prepare)
}

impl Oracle {
    /// Whether a run counts. A run that stopped before its end, or was killed from outside, is
    /// repeated once, and so is the first crash or time-out. If the machine may be at fault, a
    /// control run decides. Fails if the machine is at fault.
    pub(super) fn admit(
        &mut self,
        request: Request<'_>,
        measure: &Measure,
        run: &StoredRun,
        derived: &Derived,
        failed: &mut FailedRuns,
    ) -> Result<Admission, OracleError> {
        let (Some(fault), Err(failure)) = (derived.fault, &derived.sample.result) else {
            return Ok(Admission::Counts);
        };
        let take_again = failure.kind == FailureKind::Incomplete || fault == Fault::Resource;
        if take_again && !std::mem::replace(&mut failed.was_cut, true) {
            return Ok(Admission::Again);
        }
        if matches!(fault, Fault::Commit | Fault::Unclear) && failed.is_first(failure) {
            return Ok(Admission::Unconfirmed);
        }
        let control = match fault {
            Fault::Commit | Fault::Machine => None,
            Fault::Resource | Fault::Unclear => {
                let first = failed.unconfirmed.as_ref().map(|(run, _)| run);
                self.run_control(run, first, measure)?
            }
        };
        let why = match (fault, control) {
            (Fault::Machine, _) => "the machine is at fault",
            (_, Some(false)) => {
                "the good endpoint's own build failed the same moment: the machine is at fault"
            }
            (Fault::Resource, None) if failure.kind == FailureKind::Crash => {
                "no control run was possible"
            }
            _ => return Ok(Admission::Counts),
        };
        self.recorder.record_excluded(run, &derived.sample, request.commit, request.phase)?;
        if let Ended::NotFound(program) = &run.record.ended
            && fault == Fault::Machine
        {
            let (measure, program) = (measure.name.clone(), program.clone());
            return Err(OracleError::Missing { measure, program });
        }
        Err(OracleError::MachineFault {
            commit: request.commit.short().to_owned(),
            what: failure.detail.clone(),
            control: why.to_owned(),
        })
    }
}
