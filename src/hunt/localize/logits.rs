//! How the logits of the first bad commit differ from its parent's, and how the parent's logits
//! differ from run to run and with another number of threads.

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, Dumped, Finding, LogitsChange, LogitsDifference, ThreadFloor};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::Pair;

impl Driver<'_> {
    /// Adds to a finding how the logits of its main first bad commit differ from its parent's, for
    /// each measure that yields logits at both.
    pub(crate) fn add_logits(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(pair) = self.pair_to_compare(&finding)? else { return Ok(finding) };
        let measures = pair.recipe.measures.iter().filter(|measure| measure.parser.is_compared());
        for measure in measures {
            let what = format!("the logits of {} were not compared", measure.name);
            let asked = self.logits(&pair, &measure.name);
            let Some(change) = self.unless_ended(asked, &mut finding, &what)? else { break };
            let Some(mut change) = change else { continue };
            let floor = self.thread_floor(&pair, measure);
            let what = format!("{} was not run with another number of threads", measure.name);
            change.floor = self.unless_ended(floor, &mut finding, &what)?.flatten();
            finding.inquiry.logits.push(change);
        }
        Ok(finding)
    }

    /// Compares the logits of the commit with its parent's, and those of the parent's two runs.
    pub(crate) fn logits(
        &mut self,
        pair: &Pair,
        measure: &str,
    ) -> Result<Option<LogitsChange>, HuntError> {
        let mut dumps = Vec::new();
        let mut attempts = Vec::new();
        for (commit, runs) in [(&pair.parent, 2), (&pair.commit, 1)] {
            let seen = self.measure_extra(commit, measure, runs, None)?;
            for sample in seen.of(measure).iter().take(runs) {
                attempts.push(sample.attempt.clone());
                dumps.extend(self.oracle.logits_of(commit, &pair.recipe, measure, sample)?);
            }
        }
        let [parent, again, commit] = dumps.as_slice() else { return Ok(None) };
        let Some(difference) = self.oracle.compare_logits(parent, commit)? else { return Ok(None) };
        let noise = self.oracle.compare_logits(parent, again)?;
        Ok(Some(LogitsChange {
            measure: measure.to_owned(),
            difference,
            noise,
            floor: None,
            attempts,
        }))
    }

    /// How the parent's logits differ with half of the usual number of threads, or with two instead
    /// of one.
    fn thread_floor(
        &mut self,
        pair: &Pair,
        measure: &Measure,
    ) -> Result<Option<ThreadFloor>, HuntError> {
        let cores = self.oracle.recipes.facts.machine.cores;
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        let usual = pair.recipe.run.threads.unwrap_or(cores);
        let other = if usual == 1 { 2 } else { usual / 2 };
        let Some(variant) = measure.with_threads(other) else { return Ok(None) };
        let mut recipe = pair.recipe.clone();
        let name = variant.name.clone();
        recipe.measures.push(variant);
        let (Some(base), Some(varied)) = (
            self.dump_of(&pair.parent, &recipe, &measure.name)?,
            self.dump_of(&pair.parent, &recipe, &name)?,
        ) else {
            return Ok(None);
        };
        let difference: Option<LogitsDifference> = self.oracle.compare_logits(&base, &varied)?;
        Ok(difference.map(|difference| ThreadFloor { threads: [usual, other], difference }))
    }

    fn dump_of(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        measure: &str,
    ) -> Result<Option<Dumped>, HuntError> {
        let seen = self.measure_extra(commit, measure, 1, Some(recipe))?;
        let Some(sample) = seen.of(measure).first() else { return Ok(None) };
        Ok(self.oracle.logits_of(commit, recipe, measure, sample)?)
    }
}
