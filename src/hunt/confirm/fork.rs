//! Whether the commit where a side branch forks off has the newer end's verdict by chance. Then its
//! branch must not be set aside: the first bad commit may be on it. Git only infers the verdict of
//! such a commit, so a single fresh build of it is often all that is known.

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::range::{ExcludedBranch, SearchRange};
use crate::hunt::run_verdicts::judged;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Request, measures_of};

use super::fresh::{allowed_strays, most_rounds};
use super::verdict_counts::VerdictCounts;

impl Driver<'_> {
    /// The probability that a commit where a side branch forks off has the newer end's verdict by
    /// chance, once it is as low as for a claim. Makes runs as a confirmation does until then, and
    /// builds until two of the commit's builds are known to be equal, else one for each run.
    ///
    /// `None` if too many of the runs have another verdict, or if more runs hardly help. 0 in
    /// noise, where the confirmation compares pairs of runs, and for a build that fails: each
    /// failure was seen twice.
    pub(crate) fn chance_at_fork(
        &mut self,
        search_range: &SearchRange,
        fork: &CommitId,
    ) -> Result<Option<f64>, HuntError> {
        let Some((strategy, measures)) = self.judged_by_single_runs(search_range) else {
            return Ok(Some(0.0));
        };
        let claim = Claim::of(search_range, fork, &strategy, self.searches.saturating_sub(1));
        let recipe = self.oracle.recipes.at(fork)?;
        let look = Request::look(fork, &measures, Phase::Confirm);
        let mut seen = self.oracle.evaluate(look)?;
        loop {
            let runs = seen.fewest_runs();
            let newer = claim.terms.newer();
            let alike = VerdictCounts::of(&seen, &strategy.targets, &recipe).runs_with(newer);
            if are_too_many(runs - alike, runs) {
                return Ok(None);
            }
            let odds = self.odds_of_newer(claim, &seen)?;
            let chance = odds.chance();
            let allowed = 1.0 - self.wanted_confidence(odds.is_unsteady)?;
            if chance <= allowed {
                return Ok(Some(chance));
            }
            if runs >= most_rounds(odds.is_unsteady, chance / allowed) {
                return Ok(None);
            }
            let rebuild = odds.is_about_builds();
            seen = self.oracle.evaluate(Request { runs: runs + 1, rebuild, ..look })?;
            if seen.fewest_runs() <= runs {
                return Ok(None);
            }
        }
    }

    /// Whether most known runs of a commit do not have the newer end's verdict, although its fresh
    /// runs had it. False in noise, and for builds that fail.
    pub(crate) fn is_newer_by_chance(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
    ) -> Result<bool, HuntError> {
        let Some((strategy, measures)) = self.judged_by_single_runs(search_range) else {
            return Ok(false);
        };
        let seen = self.known_runs(commit, &measures)?;
        let recipe = self.oracle.recipes.at(commit)?;
        let judgement = judged(&seen, &strategy.targets, &recipe, true);
        Ok(!search_range.is_newer(judgement.verdict))
    }

    /// The strategy and the measures of a range whose commits are judged by single runs. `None` in
    /// noise, and for builds that fail.
    fn judged_by_single_runs(
        &self,
        search_range: &SearchRange,
    ) -> Option<(SearchStrategy, Vec<String>)> {
        let strategy = SearchStrategy::of(&search_range.targets, self.begun.options.search);
        let measures = measures_of(&strategy.targets);
        let is_judged_so = strategy.noisy().is_none() && !measures.is_empty();
        is_judged_so.then_some((strategy, measures))
    }
}

/// Whether so many runs with another verdict contradict that a commit has the newer end's verdict.
fn are_too_many(strays: usize, runs: usize) -> bool {
    runs > 0 && strays as f64 / runs as f64 > allowed_strays(runs)
}

/// The confidence in a commit that was found without these side branches: each commit where one of
/// them forks off may have its verdict by chance.
pub(super) fn with_doubt_about_forks(confidence: f64, aside: &[ExcludedBranch]) -> f64 {
    let chance: f64 = aside.iter().map(|branch| branch.chance_of_error).sum();
    (confidence - chance).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn runs_with_another_verdict_keep_a_branch_in_the_search() {
        assert!(!are_too_many(0, 0) && !are_too_many(0, 9));
        // One of two may be a disturbed run; of three, most must agree.
        assert!(!are_too_many(1, 2) && !are_too_many(1, 3));
        assert!(are_too_many(2, 3) && are_too_many(2, 5));
        assert!(!are_too_many(1, 5));
    }

    #[test]
    fn a_found_commit_is_no_surer_than_the_branches_that_were_set_aside() {
        let aside = |chance_of_error| ExcludedBranch {
            first: commit('5'),
            tips: Vec::new(),
            chance_of_error,
        };
        let left = |asides: &[ExcludedBranch]| with_doubt_about_forks(0.9998, asides);
        assert!((left(&[]) - 0.9998).abs() < 1e-12);
        assert!((left(&[aside(0.006), aside(0.001)]) - 0.9928).abs() < 1e-12);
        assert!(left(&[aside(0.7), aside(0.6)]).abs() < 1e-12);
    }
}
