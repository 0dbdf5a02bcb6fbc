//! Runs that other hunts stored: a search in noise can take them at no cost.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, GuardTarget, Lineage};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::samples::is_spread;

impl Driver<'_> {
    /// For each commit of a range, the number of runs that other hunts stored of it; empty if there
    /// are none. Runs of this hunt do not count: a resumed hunt must make the same choices.
    pub(crate) fn stored_runs(
        &self,
        lineage: &[Lineage],
        target: &GuardTarget,
    ) -> Result<Vec<usize>, HuntError> {
        // Repeats are compared with the first run of a commit, so a single stored run is no sample.
        if is_spread(target) {
            return Ok(Vec::new());
        }
        let name = &target.guard.metric.measure;
        let hunt = self.oracle.recorder.hunt();
        let places: BTreeMap<&CommitId, usize> =
            lineage.iter().enumerate().map(|(place, one)| (&one.commit, place)).collect();
        let theirs = self.oracle.store.runs_where(|run| {
            run.measure == *name && run.hunt.as_deref() != hunt && places.contains_key(&run.commit)
        })?;
        let commits: BTreeSet<CommitId> =
            theirs.iter().map(|run| run.record.commit.clone()).collect();
        let mut stored = Vec::new();
        for commit in commits {
            let recipe = self.oracle.recipes.at(&commit)?;
            let Some(measure) = recipe.measure(name) else { continue };
            let key = self.oracle.recipes.run_key_of(&commit, &recipe, measure)?;
            let runs = self.oracle.store.runs(&key)?;
            stored.resize(lineage.len(), 0);
            stored[places[&commit]] =
                runs.iter().filter(|run| run.record.hunt.as_deref() != hunt).count();
        }
        Ok(stored)
    }

    /// For each commit, whether an earlier hunt left its build for this search; empty if no commit
    /// has one.
    pub(crate) fn built_commits(&mut self, lineage: &[Lineage]) -> Result<Vec<bool>, HuntError> {
        let commits = lineage.iter().map(|one| &one.commit).collect();
        let built = self.oracle.built_earlier(&commits)?;
        if built.is_empty() {
            return Ok(Vec::new());
        }
        Ok(lineage.iter().map(|one| built.contains(&one.commit)).collect())
    }
}
