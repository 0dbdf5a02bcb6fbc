//! The log of a failed build or run, or of a run that was read by its exit code and did not exit
//! with 0.

use std::path::PathBuf;

use crate::config::Parser;
use crate::evaluation::{Metric, Value};

use super::{Observation, Oracle, OracleError};

impl Oracle {
    /// The log of an observation's failure: of the failed build, or of the first failed run.
    pub(crate) fn failed_log(&self, seen: &Observation) -> Result<Option<PathBuf>, OracleError> {
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
            return self.log_of(seen, name, &failed.attempt);
        }
        Ok(None)
    }

    /// For each measure that is read by its exit code: the log of its first run with a code other
    /// than 0.
    pub(crate) fn logs_of_exit_codes(
        &self,
        seen: &Observation,
    ) -> Result<Vec<PathBuf>, OracleError> {
        let mut logs = Vec::new();
        for (name, samples) in &seen.samples {
            let measure = self.recipes.config.measure(name);
            if measure.is_none_or(|measure| !matches!(measure.parser, Parser::ExitCode)) {
                continue;
            }
            let metric = Metric::of(name);
            let failed = samples.iter().find(|sample| {
                let values = sample.values(name);
                values.get(&metric).and_then(Value::number).is_some_and(|code| code != 0.0)
            });
            if let Some(failed) = failed {
                logs.extend(self.log_of(seen, name, &failed.attempt)?);
            }
        }
        Ok(logs)
    }

    /// The log of a run of a measure; `None` if the store does not have the run.
    pub(super) fn log_of(
        &self,
        seen: &Observation,
        name: &str,
        attempt: &str,
    ) -> Result<Option<PathBuf>, OracleError> {
        let recipe = self.recipes.at(&seen.commit)?;
        let Some(measure) = recipe.measure(name) else { return Ok(None) };
        let key = self.recipes.run_key_of(&seen.commit, &recipe, measure)?;
        Ok(self.store.run(key.as_str(), attempt)?.map(|run| run.log))
    }
}
