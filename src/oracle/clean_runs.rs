//! The stored runs of a commit. If incremental builds misled a hunt, it begins again with clean
//! builds. The runs of its confirmations from before are of clean builds too, but have other keys:
//! the mode of a build is in its key.

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, Phase};
use crate::store::{RunKey, StoredRun};

use super::OracleError;
use super::parts::Oracle;

impl Oracle {
    /// The stored runs of a commit under this key, and those that confirmations made of clean
    /// builds before the hunt turned to clean builds.
    pub(super) fn stored_runs(
        &self,
        commit: &CommitId,
        recipe: &Config,
        measure: &Measure,
        key: &RunKey,
    ) -> Result<Vec<StoredRun>, OracleError> {
        let mut runs = Vec::new();
        if let Some(build) = recipe.build.before_always_clean() {
            let mut before = recipe.clone();
            before.build = build;
            let key = self.recipes.run_key_of(commit, &before, measure)?;
            let confirmed = self.store.runs(&key)?.into_iter();
            runs.extend(confirmed.filter(|run| run.record.phase == Phase::Confirm));
        }
        runs.extend(self.store.runs(key)?);
        Ok(runs)
    }
}
