//! In noise, no single run shows that an empty home folder changed a value. So if fresh runs reject
//! claim after claim, or confirm a later claim, the first rejected one is measured again with the
//! user's home folder.

use crate::config::HomeUse;
use crate::evaluation::Phase;
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::samples::samples;
use crate::oracle::{Observation, Request, measures_of};

use super::reason_to_reject;

impl Driver<'_> {
    /// In noise, after rejected claims: whether this rejected claim holds with the user's home
    /// folder, and one of its commits has other values there than with an empty one. False if the
    /// check is off.
    pub(crate) fn holds_only_with_user_home(
        &mut self,
        claim: Claim<'_>,
    ) -> Result<bool, HuntError> {
        let Claim { commit, strategy, .. } = claim;
        let Some(target) = strategy.noisy() else { return Ok(false) };
        let mut parents = self.oracle.history.parents(commit)?;
        if self.begun.options.first_parent {
            parents.truncate(1);
        }
        self.drop_excluded_parents(&mut parents, claim)?;
        if parents.is_empty() || self.oracle.recipes.config.home != HomeUse::Checked {
            return Ok(false);
        }
        // Only for these runs: the hunt has not decided yet which home folder it needs.
        let with_user_home = self.measure_with_user_home(claim, &parents);
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        let fresh = with_user_home?;
        let verdicts = fresh.verdicts(strategy, &self.oracle.recipes.config);
        if reason_to_reject(commit, &parents, &verdicts, claim.terms).is_some() {
            return Ok(false);
        }
        for seen in fresh.parents.iter().chain([&fresh.commit]) {
            let measures = measures_of(&strategy.targets);
            let look = Request::look(&seen.commit, &measures, Phase::Confirm);
            let empty = self.oracle.evaluate(look)?;
            let config = &self.oracle.recipes.config;
            let of = |seen: &Observation| samples(seen, target, config).unwrap_or_default();
            if never_overlap(&of(seen), &of(&empty)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether two groups of at least two values have no value between those of the other group.
fn never_overlap(one: &[f64], other: &[f64]) -> bool {
    let is_above = |high: &[f64], low: &[f64]| high.iter().all(|x| low.iter().all(|y| x > y));
    one.len() >= 2 && other.len() >= 2 && (is_above(one, other) || is_above(other, one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_overlap_unless_all_of_one_group_are_above() {
        assert!(never_overlap(&[7.0, 7.1], &[8.0, 8.1]) && never_overlap(&[8.0, 8.1], &[7.0, 7.1]));
        assert!(
            !never_overlap(&[7.0, 8.05], &[8.0, 8.1]) && !never_overlap(&[7.0, 7.1], &[7.1, 8.0])
        );
        assert!(!never_overlap(&[7.0], &[8.0, 8.1]) && !never_overlap(&[7.0, 7.1], &[]));
    }
}
