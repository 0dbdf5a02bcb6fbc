//! What the builds, `[[prepare]]` steps and runs of a commit asked git about HEAD.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, GitQuestion, Phase, Target};

use super::observation::measures_of;
use super::parts::Oracle;
use super::{OracleError, Request};

impl Oracle {
    /// What the stored builds and runs of a commit asked git. Builds and runs nothing.
    pub(crate) fn asked_git(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<BTreeSet<GitQuestion>, OracleError> {
        let measures = measures_of(targets);
        let recipe = self.recipes.at(commit)?;
        let mut keys = vec![self.recipes.build_key_of(commit, &recipe)?];
        for measure in recipe.measures.iter().filter(|measure| measures.contains(&measure.name)) {
            for prepare in recipe.prepares_of(measure.templates()) {
                keys.push(self.recipes.prepare_key_of(commit, &recipe, prepare)?);
            }
        }
        let mut asked = BTreeSet::new();
        for key in keys {
            asked.extend(self.store.builds(&key)?.into_iter().flat_map(|build| build.asked_git));
        }
        let seen = self.evaluate(Request::look(commit, &measures, Phase::Search))?;
        let runs = seen.samples.into_values().flatten().filter_map(|run| run.loaded);
        asked.extend(runs.flat_map(|loaded| loaded.asked_git));
        Ok(asked)
    }
}
