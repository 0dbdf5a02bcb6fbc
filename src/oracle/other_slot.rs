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
            let launch = Launch {
                commit,
                recipe: &recipe,
                measure,
                key,
                phase,
                warm_up: false,
                after_failure: false,
            };
            let (run, derived) = match self.prepare(launch, &placed)? {
                Some(failed) => failed,
                None => self.launch(launch, &placed)?,
            };
            self.recorder.run(&run, &derived.sample, commit, phase)?;
        }
        Ok(())
    }

    /// Whether these runs of a commit gave exactly the same values as the hunt's own runs in another
    /// slot. The own runs may be stored ones of an earlier hunt, since a repository's slots keep
    /// their paths. `Some(false)` if a measure differs; `None` if none differs, but a measure has no
    /// runs in two slots to compare.
    pub(crate) fn reads_the_same(
        &self,
        commit: &CommitId,
        measures: &[String],
        attempts: &[String],
    ) -> Result<Option<bool>, OracleError> {
        let recipe = self.recipes.at(commit)?;
        let mut is_known = true;
        for name in measures {
            let Some(measure) = recipe.measure(name) else {
                is_known = false;
                continue;
            };
            let key = self.recipes.run_key_of(commit, &recipe, measure)?;
            let is_other = |run: &StoredRun| attempts.contains(&run.record.attempt);
            let runs = self.store.runs(&key)?.into_iter();
            let (other, own): (Vec<StoredRun>, Vec<StoredRun>) = runs
                .filter(|run| is_other(run) || self.recorder.names(&run.record.attempt))
                .partition(is_other);
            let Some((other, own)) = last_at_two_paths(&other, &own) else {
                is_known = false;
                continue;
            };
            let reads = |run| self.derived(run, measure, &recipe, None);
            let (there, here) = (reads(other)?.sample.result, reads(own)?.sample.result);
            if there.is_err() || there != here {
                return Ok(Some(false));
            }
        }
        Ok(is_known.then_some(true))
    }
}

/// The last of the runs `other`, and the last of the runs `own` that was made in another slot.
fn last_at_two_paths<'r>(
    other: &'r [StoredRun],
    own: &'r [StoredRun],
) -> Option<(&'r StoredRun, &'r StoredRun)> {
    let other = other.last()?;
    let own = own.iter().rfind(|run| run.record.slot != other.record.slot)?;
    Some((other, own))
}
