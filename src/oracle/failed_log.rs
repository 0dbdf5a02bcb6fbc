//! The log of a failed build or run, to show what it printed.

use std::path::PathBuf;

use super::{Observation, Oracle, OracleError};

impl Oracle {
    /// The log of the failure that an observation has: of its build, or of its first failed run.
    pub fn failed_log(&self, seen: &Observation) -> Result<Option<PathBuf>, OracleError> {
        let recipe = self.recipes.at(&seen.commit)?;
        if seen.build_failure.is_some() {
            let key = self.recipes.build_key_of(&seen.commit, &recipe)?;
            let builds = self.store.builds(&key)?;
            return Ok(builds.last().map(|build| self.store.build_log(build)));
        }
        for (name, samples) in &seen.samples {
            let Some(failed) = samples.iter().find(|sample| sample.result.is_err()) else {
                continue;
            };
            let Some(measure) = recipe.measure(name) else { continue };
            let key = self.recipes.run_key_of(&seen.commit, &recipe, measure)?;
            let mut runs = self.store.runs(&key)?.into_iter();
            let run = runs.find(|run| run.record.attempt == failed.attempt);
            return Ok(run.map(|run| run.log));
        }
        Ok(None)
    }
}
