//! Whether a commit's runs are as steady as those of the end that it is said to be like. Where that
//! end repeats bit for bit and the commit does not, levels do not tell on which side it is.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Phase};
use crate::oracle::{Observation, Request};

use super::HuntError;
use super::confirm::Claim;
use super::driver::Driver;
use super::fresh::Fresh;

/// Equal runs of an end after which it repeats.
const EQUAL_RUNS: usize = 4;
/// Runs of a commit that are not the commonest value, beyond which it does not repeat: a single one
/// may be a disturbed run.
const MOST_STRAYS: usize = 1;

impl Driver<'_> {
    /// Why levels in noise do not bear the claim out, where a side of it is less steady than its
    /// end.
    pub(super) fn steadiness_objection(
        &mut self,
        claim: Claim<'_>,
        fresh: &Fresh,
    ) -> Result<Option<String>, HuntError> {
        let Some(target) = claim.strategy.noisy().filter(|target| target.levels().is_some()) else {
            return Ok(None);
        };
        let measures = [target.guard.metric.measure.clone()];
        let numbers = |seen: &Observation| -> Vec<u64> {
            seen.numbers(&target.guard.metric).into_iter().map(f64::to_bits).collect()
        };
        let [older, newer] = claim.ends;
        let parents = fresh.parents.iter().map(|seen| (seen, older));
        for (seen, end) in parents.chain([(&fresh.commit, newer)]) {
            let mut look =
                |one: &CommitId| self.oracle.evaluate(Request::look(one, &measures, Phase::Search));
            let ends = numbers(&look(end)?);
            if ends.len() < EQUAL_RUNS || commonest(&ends) < ends.len() {
                continue;
            }
            let mut own = numbers(seen);
            own.extend(numbers(&look(&seen.commit)?));
            let strays = own.len() - commonest(&own);
            if strays > MOST_STRAYS && 3 * strays > own.len() {
                return Ok(Some(format!(
                    "runs of {} differ from one to the next, and those of {} do not",
                    seen.commit.short(),
                    end.short()
                )));
            }
        }
        Ok(None)
    }
}

/// How often the commonest value comes.
fn commonest(values: &[u64]) -> usize {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(*value).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}
