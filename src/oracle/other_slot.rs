//! Checks whether builds at another slot's path give the same values. Compilers write paths into
//! what they build, and an engine may depend on its path. Values of different slots are compared in
//! a confirmation only after this check.

use crate::evaluation::{CommitId, Phase};
use crate::store::StoredRun;

use super::OracleError;
use super::launch::Launch;
use super::parts::Oracle;

impl Oracle {
    /// Builds a commit in this process's slot and runs each measure once, whatever the store has.
    pub(crate) fn run_in_own_slot(
        &mut self,
        commit: &CommitId,
        measures: &[String],
    ) -> Result<(), OracleError> {
        let phase = Phase::Control;
        let recipe = self.recipes.at(commit)?;
        let placed = self.place(commit, &recipe, phase)?;
        for name in measures {
            let Some(measure) = recipe.measure(name) else { continue };
            let key = &self.recipes.run_key_of(commit, &recipe, measure)?;
            let launch = Launch { commit, recipe: &recipe, measure, key, phase, warm_up: false };
            let (run, derived) = match self.prepare(launch, &placed)? {
                Some(failed) => failed,
                None => self.launch(launch, &placed)?,
            };
            self.recorder.run(&run, &derived.sample, commit, phase)?;
        }
        Ok(())
    }

    /// Whether these runs of a commit, made at another path, gave exactly the values that the
    /// hunt's own runs gave.
    pub(crate) fn reads_the_same(
        &self,
        commit: &CommitId,
        measures: &[String],
        attempts: &[String],
    ) -> Result<bool, OracleError> {
        let recipe = self.recipes.at(commit)?;
        for name in measures {
            let Some(measure) = recipe.measure(name) else { return Ok(false) };
            let key = self.recipes.run_key_of(commit, &recipe, measure)?;
            let is_other = |run: &StoredRun| attempts.contains(&run.record.attempt);
            let runs = self.store.runs(&key)?.into_iter();
            let (other, own): (Vec<StoredRun>, Vec<StoredRun>) = runs
                .filter(|run| is_other(run) || self.recorder.names(&run.record.attempt))
                .partition(is_other);
            let (Some(other), Some(own)) = (other.last(), own.last()) else { return Ok(false) };
            let reads = |run| self.derived(run, measure, &recipe, None);
            let (there, here) = (reads(other)?.sample.result, reads(own)?.sample.result);
            if other.record.slot == own.record.slot || there.is_err() || there != here {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
