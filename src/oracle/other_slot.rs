//! Checks whether builds at another slot's path give the same values. Compilers write paths into
//! what they build, and an engine may depend on its path. Values of different slots are compared in
//! a confirmation only after this check.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Phase};
use crate::store::StoredRun;

use super::OracleError;
use super::launch::Launch;
use super::observation::Sample;
use super::parts::Oracle;

/// Where a run was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunPlace {
    /// The path of the slot.
    pub slot: String,
    /// Whether a worker may have made the run, with the variables and CPUs of another slot.
    pub ahead: bool,
}

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

    /// Whether these runs of a commit gave exactly the same values as the runs that the hunt uses
    /// from another slot. An earlier hunt may have made the latter, since a repository's slots keep
    /// their paths. `Some(false)` if a measure differs; `None` if none differs, but a measure has
    /// no runs in two slots to compare.
    pub(crate) fn reads_the_same(
        &self,
        commit: &CommitId,
        measures: &[String],
        attempts: &[String],
    ) -> Result<Option<bool>, OracleError> {
        let is_other = |run: &StoredRun| attempts.contains(&run.record.attempt);
        let is_own = |run: &StoredRun| self.recorder.names(&run.record.attempt);
        self.compare_slots(commit, measures, &is_other, &is_own)
    }

    /// Whether the last check of another slot, by this or an earlier hunt, gave exactly the values
    /// of the runs `own` of the commit. Outdated checks do not count. The answers are those of
    /// [`Self::reads_the_same`].
    pub(crate) fn earlier_slot_check(
        &self,
        commit: &CommitId,
        measures: &[String],
        own: &[String],
    ) -> Result<Option<bool>, OracleError> {
        let is_other = |run: &StoredRun| self.is_slot_check(run);
        let is_own = |run: &StoredRun| own.contains(&run.record.attempt);
        self.compare_slots(commit, measures, &is_other, &is_own)
    }

    /// Whether a worker made this run to check its slot, and the run still counts: it is not from
    /// before a change of the machine, or from a slot or node that gives other values.
    fn is_slot_check(&self, run: &StoredRun) -> bool {
        let is_check = run.record.ahead && run.record.phase == Phase::Control;
        is_check && !self.stored.is_outdated(&run.record, self.recorder.hunt())
    }

    /// The runs of a commit that workers made to check their slots, each with its slot's path. If
    /// this hunt has such runs, only these; otherwise those of earlier hunts. Outdated runs do not
    /// count.
    pub(crate) fn slot_check_runs(
        &self,
        commit: &CommitId,
        measure: &str,
    ) -> Result<Vec<(String, Sample)>, OracleError> {
        let hunt = self.recorder.hunt();
        let recipe = self.recipes.at(commit)?;
        let Some(measure) = recipe.measure(measure) else { return Ok(Vec::new()) };
        let mut runs = self.store.runs(&self.recipes.run_key_of(commit, &recipe, measure)?)?;
        runs.retain(|run| self.is_slot_check(run));
        if runs.iter().any(|run| run.record.hunt.as_deref() == hunt) {
            runs.retain(|run| run.record.hunt.as_deref() == hunt);
        }
        let mut samples = Vec::new();
        for run in &runs {
            let sample = self.derived(run, measure, &recipe, None)?.sample;
            samples.push((run.record.slot.clone(), sample));
        }
        Ok(samples)
    }

    /// Where each of these runs of a commit was made, by attempt.
    pub(crate) fn places_of_runs(
        &self,
        commit: &CommitId,
        measure: &str,
        attempts: &[String],
    ) -> Result<BTreeMap<String, RunPlace>, OracleError> {
        let recipe = self.recipes.at(commit)?;
        let Some(measure) = recipe.measure(measure) else { return Ok(BTreeMap::new()) };
        let runs = self.store.runs(&self.recipes.run_key_of(commit, &recipe, measure)?)?;
        let counting = runs.into_iter().filter(|run| attempts.contains(&run.record.attempt));
        let placed = counting.map(|run| {
            let place = RunPlace { slot: run.record.slot.clone(), ahead: run.record.ahead };
            (run.record.attempt.clone(), place)
        });
        Ok(placed.collect())
    }

    /// Whether each measure has one of these runs, made with the build and command that the commit
    /// has now.
    pub(crate) fn has_run_of_each(
        &self,
        commit: &CommitId,
        measures: &[String],
        attempts: &[String],
    ) -> Result<bool, OracleError> {
        let recipe = self.recipes.at(commit)?;
        for name in measures {
            let Some(measure) = recipe.measure(name) else { continue };
            let key = self.recipes.run_key_of(commit, &recipe, measure)?;
            let runs = self.store.runs(&key)?;
            if !runs.iter().any(|run| attempts.contains(&run.record.attempt)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For each measure, compares the last run that `is_other` accepts with the last run in another
    /// slot that `is_own` accepts. `Some(true)` if all pairs have exactly the same values,
    /// `Some(false)` if a pair differs, `None` if no pair differs but a measure lacks one.
    fn compare_slots(
        &self,
        commit: &CommitId,
        measures: &[String],
        is_other: &dyn Fn(&StoredRun) -> bool,
        is_own: &dyn Fn(&StoredRun) -> bool,
    ) -> Result<Option<bool>, OracleError> {
        let recipe = self.recipes.at(commit)?;
        let mut is_known = true;
        for name in measures {
            let Some(measure) = recipe.measure(name) else {
                is_known = false;
                continue;
            };
            let key = self.recipes.run_key_of(commit, &recipe, measure)?;
            let runs = self.store.runs(&key)?.into_iter();
            let (other, own): (Vec<StoredRun>, Vec<StoredRun>) =
                runs.filter(|run| is_other(run) || is_own(run)).partition(|run| is_other(run));
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
