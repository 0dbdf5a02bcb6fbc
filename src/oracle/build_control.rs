//! The control of failed builds: builds the good endpoint again, to tell whether the commits or
//! the machine make builds fail.
//!
//! The exit code of a failed build says little (`make` exits with 2 for a broken compiler, a full
//! disk or a lost network share), and a control costs a whole build. So a control is made at the
//! second, fourth, eighth, … failure since a build last worked. It is also made at the first
//! failure, if that is at an endpoint or if failed builds count as bad. If the good endpoint's
//! build fails too, the machine is at fault for all of these failures. A build that was killed for
//! lack of memory counts like any other here: if every build is killed, no commit is at fault.

use crate::build::{self, BuildError};
use crate::config::Policy;
use crate::evaluation::{CommitId, Phase};
use crate::store::journal::Event;
use crate::store::{BuildRecord, Control};

use super::build_in_slot::SlotBuild;
use super::parts::Oracle;
use super::{OracleError, Task};

impl Oracle {
    /// Makes a control build after a failed build, if one is due. Fails if the control fails too.
    pub(super) fn make_control_build(
        &mut self,
        failed: &BuildRecord,
        phase: Phase,
    ) -> Result<(), OracleError> {
        let Some(good) = self.control.as_ref().map(|control| control.commit.clone()) else {
            return Ok(());
        };
        let suspects = self.recorder.failed_builds().to_vec();
        let decides = phase == Phase::Endpoint || self.recipes.config.failures.build == Policy::Bad;
        let is_time = suspects.len().is_power_of_two() && (decides || suspects.len() > 1);
        let is_own = phase.exclusion_reason().is_none() && failed.commit == good;
        if phase == Phase::Control || is_own || !is_time {
            return Ok(());
        }
        // A good endpoint that never built cannot serve as a control.
        let key = self.recipes.build_key_of(&good, &self.recipes.at(&good)?)?;
        if self.store.builds(&key)?.iter().all(|build| build.failure.is_some()) {
            return Ok(());
        }
        let control = self.build_again(&good)?;
        let worked = control.failure.is_none();
        for about in &suspects {
            let attempt = control.attempt.clone();
            self.store.put_control(&Control { about: about.clone(), attempt, worked })?;
        }
        let Some(failure) = control.failure else { return Ok(()) };
        let count = suspects.len();
        let s = if count == 1 { "" } else { "s" };
        let text = format!(
            "{count} failed build{s} did not count: the good endpoint does not build now either"
        );
        self.recorder.event(Event::Note { text })?;
        let commit = failed.commit.short().to_owned();
        let reason = format!("the good endpoint does not build now either ({})", failure.detail);
        Err(BuildError::MachineFault { commit, reason }.into())
    }

    /// Builds a commit again, even if the store has its build.
    fn build_again(&mut self, commit: &CommitId) -> Result<BuildRecord, OracleError> {
        let phase = Phase::Control;
        let recipe = self.recipes.at(commit)?;
        let key = self.recipes.build_key_of(commit, &recipe)?;
        let checkout_spec = match self.recipes.checkout_spec(commit, &recipe)? {
            Ok(checkout_spec) => checkout_spec,
            Err(refusal) => return Ok(build::refuse(&self.store, commit, &key, phase, &refusal)?),
        };
        let slot = self.pool.acquire(|_| false, |_| false)?;
        let asked = SlotBuild { commit, recipe: &recipe, key: &key, checkout_spec: &checkout_spec };
        let (built, _held) = self.build_in(&slot, asked, Task::Control, phase)?;
        self.recorder.build(&self.store, &built.record, commit, phase, false)?;
        Ok(built.record)
    }
}
