//! Compares the logits of two commits, or of two ways to run one.

use crate::config::Config;
use crate::evaluation::{CommitId, Dumped, LogitsDifference, Phase};

use super::logits::{difference, single};
use super::{Observation, Oracle, OracleError, Request};

impl Oracle {
    /// How the logits of two commits differ, by one run of each; `None` if one has no logits.
    pub fn logits_between(
        &mut self,
        base: &CommitId,
        candidate: &CommitId,
        measure: &str,
    ) -> Result<Option<LogitsDifference>, OracleError> {
        let mut dumps = Vec::new();
        for commit in [base, candidate] {
            let names = [measure.to_owned()];
            let look = Request::look(commit, &names, Phase::Search);
            let recipe = self.recipes.at(commit)?;
            let mut seen = self.evaluate(look)?;
            if seen.readings(measure).next().is_none() {
                seen = self.evaluate(Request { runs: 1, ..look })?;
            }
            let Some(dump) = self.dump_of(&seen, &recipe, measure)? else { return Ok(None) };
            dumps.push(dump);
        }
        Ok(difference(&dumps[0], &dumps[1], &self.store)?.ok())
    }

    /// How the logits of two measures at one commit differ, from stored runs: the first against the
    /// second.
    pub fn logits_with(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        measure: &str,
        other: &str,
    ) -> Result<Option<LogitsDifference>, OracleError> {
        let names = [measure.to_owned(), other.to_owned()];
        let look = Request::look(commit, &names, Phase::Endpoint);
        let seen = self.evaluate(Request { recipe: Some(recipe), ..look })?;
        let dumps = [self.dump_of(&seen, recipe, measure)?, self.dump_of(&seen, recipe, other)?];
        let [Some(base), Some(candidate)] = dumps else { return Ok(None) };
        Ok(difference(&base, &candidate, &self.store)?.ok())
    }

    /// What the first run of a measure that gave values dumped.
    fn dump_of(
        &self,
        seen: &Observation,
        recipe: &Config,
        measure: &str,
    ) -> Result<Option<Dumped>, OracleError> {
        let Some(declared) = recipe.measure(measure) else { return Ok(None) };
        let key = self.recipes.run_key_of(&seen.commit, recipe, declared)?;
        let whole = seen.of(measure).iter().find(|sample| sample.result.is_ok());
        let Some(sample) = whole else { return Ok(None) };
        let run = self.store.run(key.as_str(), &sample.attempt)?;
        Ok(run.as_ref().and_then(single).cloned())
    }
}
