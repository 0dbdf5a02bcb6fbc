//! Decides which new runs count. A failure that is the machine's fault never counts. A run that
//! was cut short is repeated before it counts.

use crate::config::Measure;
use crate::evaluation::{Ended, FailureKind, Fault};
use crate::store::StoredRun;

use super::derive::Derived;
use super::{Oracle, OracleError, Request};

impl Oracle {
    /// Whether a run counts. A run that stopped before its end, or was killed from outside, is
    /// repeated once. If the machine may be at fault, a control run decides. Fails if the machine
    /// is at fault.
    pub(super) fn is_admissible(
        &mut self,
        request: Request<'_>,
        measure: &Measure,
        run: &StoredRun,
        derived: &Derived,
        again: &mut usize,
    ) -> Result<bool, OracleError> {
        let (Some(fault), Err(failure)) = (derived.fault, &derived.sample.result) else {
            return Ok(true);
        };
        let is_second = *again > 0;
        let take_again = failure.kind == FailureKind::Incomplete || fault == Fault::Resource;
        if take_again && !is_second {
            *again += 1;
            return Ok(false);
        }
        let control = match fault {
            Fault::Commit | Fault::Machine => None,
            Fault::Resource | Fault::Unclear => self.run_control(run, measure)?,
        };
        let why = match (fault, control) {
            (Fault::Machine, _) => "the machine is at fault",
            (_, Some(false)) => {
                "the good endpoint's own build failed the same moment: the machine is at fault"
            }
            (Fault::Resource, None) if failure.kind == FailureKind::Crash => {
                "no control run was possible"
            }
            _ => return Ok(true),
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
