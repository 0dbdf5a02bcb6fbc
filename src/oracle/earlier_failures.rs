//! Crashes and time-outs of a commit that earlier hunts stored.

use std::collections::BTreeMap;

use crate::evaluation::CommitId;

use super::{Oracle, OracleError};

impl Oracle {
    /// The crashes and time-outs of a measure at this commit in runs of earlier hunts, by attempt,
    /// with what each said. Empty if the measure does not run there.
    pub(crate) fn earlier_failures(
        &self,
        commit: &CommitId,
        measure: &str,
    ) -> Result<BTreeMap<String, String>, OracleError> {
        let recipe = self.recipes.at(commit)?;
        let Some(measure) = recipe.measure(measure) else { return Ok(BTreeMap::new()) };
        let key = self.recipes.run_key_of(commit, &recipe, measure)?;
        let hunt = self.recorder.hunt();
        self.stored.failures_of_others(&recipe, measure, &key, &self.store, hunt)
    }
}
