//! Decides which new runs count. A failure that is the machine's fault never counts. A run that
//! was cut short is repeated before it counts. A crash or a time-out counts when it is seen twice.

use crate::config::Measure;
use crate::evaluation::{Ended, FailureKind, Fault};
use crate::store::{Control, StoredRun};

use super::derive::Derived;
use super::failed_runs::{FailedRuns, must_be_seen_twice};
use super::{Oracle, OracleError, Request, Sample};

/// What becomes of a new run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The run counts.
    Counts,
    /// The run does not count, and another one is made.
    Again,
    /// The first crash or time-out. It counts if the next run crashes or times out too.
    Unconfirmed,
}

impl Oracle {
    /// Whether a run counts. A run that stopped before its end, was killed from outside, or wanted a
    /// port that another program holds is repeated once, and so is the first crash or time-out. If the machine may be at fault, a
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
        if let Some(taken) = &run.record.taken_port {
            // It may be a run beside this one that holds the port.
            if failed.taken_port.replace(taken.port).is_none() {
                return Ok(Admission::Again);
            }
            self.recorder.record_excluded(run, &derived.sample, request.commit, request.phase)?;
            return Err(OracleError::PortTaken {
                measure: measure.name.clone(),
                commit: request.commit.short().to_owned(),
                what: failure.detail.clone(),
            });
        }
        let take_again = failure.kind == FailureKind::Incomplete || fault == Fault::Resource;
        if take_again && !std::mem::replace(&mut failed.was_cut, true) {
            return Ok(Admission::Again);
        }
        if must_be_seen_twice(failure)
            && let Some(lost) = self.recipes.facts.lost_gpus()
        {
            return self.exclude_run_without_gpu(request, run, &derived.sample, lost);
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
                "a run of the good endpoint's build failed too: the machine is at fault"
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

    /// The error after a run that failed because a GPU is gone. The run never counts.
    fn exclude_run_without_gpu(
        &mut self,
        request: Request<'_>,
        run: &StoredRun,
        sample: &Sample,
        lost: String,
    ) -> Result<Admission, OracleError> {
        let attempt = run.record.attempt.clone();
        self.store.put_control(&Control { about: attempt.clone(), attempt, worked: false })?;
        self.recorder.record_excluded(run, sample, request.commit, request.phase)?;
        let what = sample.result.as_ref().err().map_or_else(String::new, |it| it.detail.clone());
        let commit = request.commit.short().to_owned();
        Err(OracleError::MachineFault { commit, what, control: lost })
    }
}
