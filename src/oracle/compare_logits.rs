//! Logits files that stored runs wrote, and the difference of two of them.

use crate::config::Config;
use crate::evaluation::{CommitId, Dumped, LogitsDifference};

use super::logits::{difference, single};
use super::{Oracle, OracleError, Sample};

impl Oracle {
    /// The logits file of a run of the measure at the commit; `None` if the run failed.
    pub(crate) fn logits_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
        measure: &str,
        sample: &Sample,
    ) -> Result<Option<Dumped>, OracleError> {
        let (Some(declared), true) = (recipe.measure(measure), sample.result.is_ok()) else {
            return Ok(None);
        };
        let key = self.recipes.run_key_of(commit, recipe, declared)?;
        let run = self.store.run(key.as_str(), &sample.attempt)?;
        Ok(run.as_ref().and_then(single).cloned())
    }

    /// The difference of two logits files; `None` if they cannot be compared.
    pub(crate) fn compare_logits(
        &self,
        base: &Dumped,
        candidate: &Dumped,
    ) -> Result<Option<LogitsDifference>, OracleError> {
        Ok(difference(base, candidate, &self.store)?.ok())
    }
}
