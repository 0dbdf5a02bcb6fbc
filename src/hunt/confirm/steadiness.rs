//! Checks that a commit's runs repeat if those of the range's end on its side repeat. Otherwise
//! levels cannot tell on which side of the step the commit is.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request};

use super::confirmation_runs::ConfirmationRuns;

/// Minimum number of runs, all equal, after which an end counts as repeating.
const EQUAL_RUNS: usize = 4;
/// Number of runs that may always differ from the commit's most common value: a single run may be
/// disturbed. More runs may differ, up to a third of all.
const MOST_STRAYS: usize = 1;

impl Driver<'_> {
    /// Why levels cannot support a claim in noise: the runs of a claimed commit or parent vary, but
    /// those of the range's end on its side are equal.
    pub(crate) fn check_repeatability(
        &mut self,
        claim: Claim<'_>,
        fresh: &ConfirmationRuns,
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

/// How often the most common value occurs.
fn commonest(values: &[u64]) -> usize {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(*value).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}
