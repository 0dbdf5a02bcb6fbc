//! Decides which runs count. Failures of the machine never count, and a run that was cut short is
//! repeated before it counts.

use std::time::Duration;

use crate::config::{Config, Measure, Prepare};
use crate::evaluation::{Ended, FailureKind, Fault};
use crate::store::{RunKey, StoredRun};

use super::derive::Derived;
use super::{Oracle, OracleError, Request, Sample};

impl Oracle {
    /// Whether a run counts. A run that stopped before its end, or was killed from outside, is
    /// first repeated once. If the fault is unclear, the control runs.
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
            Fault::Commit | Fault::World => None,
            Fault::Resource | Fault::Unclear => self.ask_control(run, &measure.name)?,
        };
        let why = match (fault, control) {
            (Fault::World, _) => "that is not the commit's fault",
            (_, Some(false)) => {
                "the good endpoint's own build failed the same moment: the machine is at fault"
            }
            (Fault::Resource, None) if failure.kind == FailureKind::Crash => {
                "there is no control to ask"
            }
            _ => return Ok(true),
        };
        self.recorder.void(run, &derived.sample, request.commit, request.phase)?;
        Err(OracleError::World {
            commit: request.commit.short().to_owned(),
            what: failure.detail.clone(),
            control: why.to_owned(),
        })
    }

    /// The stored runs that count for this request, oldest first.
    pub(super) fn usable(
        &self,
        request: Request<'_>,
        recipe: &Config,
        measure: &Measure,
        key: &RunKey,
    ) -> Result<Vec<(StoredRun, Sample)>, OracleError> {
        let mut whole = Vec::new();
        let mut failed = Vec::new();
        for run in self.store.runs(key)? {
            let is_ours = run.record.hunt.as_deref() == self.recorder.hunt();
            let serves = request.phase.takes(run.record.phase, is_ours)
                || self.taken_over.contains(&run.record.attempt);
            if !serves || (!is_ours && self.is_of_other_libraries(&run)?) {
                continue;
            }
            // The time-out was shorter then than now.
            let its = |p: &&Prepare| {
                run.record.prepare.as_ref().is_some_and(|failed| failed.name == p.name)
            };
            let limit = recipe.prepares.iter().find(its).map_or(measure.timeout, |p| p.timeout);
            if run.record.ended == Ended::TimedOut && given(run.record.wall_s) < limit {
                continue;
            }
            let derived = self.derivations.of(&run, measure, recipe)?;
            let controlled = run.control.as_ref().is_some_and(|control| control.worked);
            match (derived.fault, &derived.sample.result) {
                (None, _) => whole.push((run, derived.sample)),
                (Some(Fault::Commit), Err(failure)) if failure.kind != FailureKind::Incomplete => {
                    whole.push((run, derived.sample));
                }
                (Some(Fault::Commit), _) => failed.push((run, derived.sample)),
                (Some(Fault::Unclear), _) if controlled => whole.push((run, derived.sample)),
                (Some(Fault::Resource), _) if controlled => failed.push((run, derived.sample)),
                _ => {}
            }
        }
        // An incomplete or killed run counts only if the commit has no better run.
        if whole.is_empty() {
            let needs = |sample: &Sample| if sample.starved { 1 } else { 2 };
            if failed.last().is_some_and(|(_, sample)| failed.len() >= needs(sample)) {
                whole.extend(failed.pop());
            }
        }
        Ok(whole)
    }

    /// Whether a program or shared object from outside changed since this stored run.
    pub(super) fn is_of_other_libraries(&self, run: &StoredRun) -> Result<bool, OracleError> {
        let Some(loaded) = &run.record.loaded else { return Ok(false) };
        Ok(self.present.differs(loaded, &self.store)?)
    }
}

/// The wall time as a duration. For a process that timed out, it is at least the time-out.
pub(super) fn given(wall_s: f64) -> Duration {
    Duration::try_from_secs_f64(wall_s).unwrap_or(Duration::MAX)
}
