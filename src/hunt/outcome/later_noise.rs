//! The noise that a hunt sees after a commit was confirmed. By chance, the first runs of the ends may
//! scatter too little, and then fresh pairs of two equal commits may seem to differ. The searches and
//! checks after that make more runs, also of the confirmed commit and its parent.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Metric, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::confirm::effect::blamed_from;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::terms::SearchTerms;
use crate::search::{PooledNoise, StepBound, most_pairs_for};

use super::account::Ledger;
use super::mean_level::has_varying_levels;

/// Maximum number of pairs to check a confirmed commit again, whatever the noise.
const MOST_PAIRS: usize = 60;

/// What tells whether all runs support a confirmed step.
struct Check<'a> {
    /// The commit's parent and the commit.
    sides: [&'a CommitId; 2],
    target: &'a GuardTarget,
    terms: SearchTerms,
    /// The noise of all runs of the hunt.
    noise: PooledNoise,
    /// The confidence that the claim needs.
    wanted: f64,
}

impl Check<'_> {
    /// The smallest step for which a commit is blamed, on the oriented scale.
    fn size(&self) -> f64 {
        blamed_from(self.target.oriented_limit())
    }

    /// Maximum number of runs of each commit.
    fn most_runs(&self) -> usize {
        let sd = self.noise.sd * std::f64::consts::SQRT_2;
        most_pairs_for(self.target.oriented_limit().max(0.0), sd, self.wanted).min(MOST_PAIRS)
    }

    /// Whether the step stays without more runs: it is surely large enough, or it is large enough
    /// and the noise is not larger than that of the search which claimed it.
    fn is_settled(&self, bound: StepBound) -> bool {
        let claimed = self.target.noise.map_or(0.0, |noise| noise.sd);
        bound.is_larger_than(self.size()) == Some(true)
            || (self.noise.sd <= claimed && bound.step > self.size())
    }
}

impl Driver<'_> {
    /// In noise, checks each named commit again by all runs of it and of its parent, with the noise
    /// of all runs of the hunt. If its step is not surely large enough to blame the commit, makes
    /// more runs of both in turn, as many as a confirmation may make. If it stays so, withdraws the
    /// commit.
    pub(crate) fn withdraw_what_noise_may_explain(
        &mut self,
        ledger: &mut Ledger,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        for (commit, search_range) in claims {
            let culprit = ledger.named().find(|named| named.info.commit == *commit).cloned();
            let Some(culprit) = culprit else { continue };
            match self.metric_in_noise(search_range, &culprit) {
                // A limit must not discard a confirmed commit.
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit(
                        "a confirmed commit was not measured again although the runs vary more \
                         than its confirmation assumed",
                        &limit,
                    );
                    self.limit = Some(limit);
                }
                metric => {
                    let Some(metric) = metric? else { continue };
                    let among = self.instead_of(ledger, search_range, commit)?;
                    ledger.withdraw(commit, &among, reason(commit, &metric));
                }
            }
        }
        Ok(())
    }

    /// A metric of a confirmed commit if all runs leave each of its steps open. `None` if one of
    /// them stays, or if its levels repeat or cannot be compared.
    fn metric_in_noise(
        &mut self,
        search_range: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Option<Metric>, HuntError> {
        if culprit.failure.is_some() || self.has_drifted {
            return Ok(None);
        }
        let mut open = None;
        for effect in &culprit.effects {
            let target = Target::on(&search_range.targets, &effect.metric).and_then(Target::guard);
            let Some(target) = target.filter(|target| has_varying_levels(target)) else {
                return Ok(None);
            };
            let Some(noise) = self.noise_of_all_runs(target)? else { return Ok(None) };
            let check = Check {
                sides: [&culprit.parent, &culprit.info.commit],
                target,
                terms: search_range.terms,
                noise,
                wanted: self.oracle.recipes.config.statistics.confidence,
            };
            if self.is_supported(&check)? {
                return Ok(None);
            }
            open = Some(effect.metric.clone());
        }
        Ok(open)
    }

    /// The noise of one run, pooled over all measured commits; `None` if no commit has two runs.
    fn noise_of_all_runs(
        &mut self,
        target: &GuardTarget,
    ) -> Result<Option<PooledNoise>, HuntError> {
        let mut commits = self.measured()?;
        commits.extend(self.begun.ends().map(CommitId::clone));
        let mut all = Vec::new();
        for commit in &commits {
            all.extend(self.oriented_runs(commit, target, 0)?);
        }
        let groups: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        Ok(PooledNoise::of(&groups))
    }

    /// Whether all runs of the two commits support the step. Makes more runs of both in turn until
    /// that is clear. A commit whose runs have no number cannot be compared: the step stays.
    fn is_supported(&mut self, check: &Check<'_>) -> Result<bool, HuntError> {
        let orientation = check.terms.orientation(check.target);
        let most = check.most_runs();
        let mut runs = 0;
        loop {
            let mut levels = Vec::new();
            for commit in check.sides {
                let Some(own) = self.oriented_runs(commit, check.target, runs)? else {
                    return Ok(true);
                };
                levels.push(own.into_iter().map(|x| orientation.sample(x)).collect::<Vec<f64>>());
            }
            let [older, newer] = levels.as_slice() else { return Ok(true) };
            let Some(bound) = StepBound::of([older, newer], check.noise, check.wanted) else {
                return Ok(true);
            };
            if runs == 0 && check.is_settled(bound) {
                return Ok(true);
            }
            let least = older.len().min(newer.len());
            if let Some(is_larger) = bound.is_larger_than(check.size()) {
                return Ok(is_larger);
            }
            // A run without a number would be made again and again.
            if least >= most || runs > least {
                return Ok(false);
            }
            runs = least + 1;
        }
    }

    /// The candidates in place of a withdrawn commit: itself if others are named, else all commits
    /// of the range that was searched.
    fn instead_of(
        &self,
        ledger: &Ledger,
        search_range: &SearchRange,
        commit: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let mut among = Vec::new();
        if ledger.named().all(|named| named.info.commit == *commit) {
            let [older, newer] = search_range.ends();
            among = self.oracle.history.commits(&Range::between(older, newer))?;
        }
        if !among.contains(commit) {
            among.push(commit.clone());
        }
        Ok(among)
    }
}

fn reason(commit: &CommitId, metric: &Metric) -> String {
    format!(
        "since {} was confirmed, runs of {metric} were seen to vary more; by all runs of it and of \
         its parent, its step is not surely larger than half of the tolerance",
        commit.short()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::oracle::fixture::{commit, noisy};

    /// Whether the step between these runs is settled, with a tolerance of 1. `share`: the noise of
    /// all runs in units of the claim's.
    fn is_settled(share: f64, older: &[f64], newer: &[f64]) -> bool {
        let target = noisy(GuardForm::MaxIncrease(1.0), 10.0, 14.0);
        let claimed = target.noise.expect("it is noisy").sd;
        let spread = [0.0, 2.0_f64.sqrt() * share * claimed];
        let commits = [spread.as_slice(); 40];
        let noise = PooledNoise::of(&commits).expect("each has two runs");
        let [parent, own] = [commit('4'), commit('5')];
        let check = Check {
            sides: [&parent, &own],
            target: &target,
            terms: SearchTerms::of(Aim::Regression),
            noise,
            wanted: 0.99,
        };
        let bound = StepBound::of([older, newer], noise, 0.99).expect("both have runs");
        check.is_settled(bound)
    }

    #[test]
    fn a_step_is_settled_if_it_is_surely_large_or_the_noise_is_not_larger() {
        // Far beyond the noise.
        assert!(is_settled(2.0, &[10.0; 20], &[30.0; 20]));
        // Half of the tolerance is 0.5: a smaller step is never settled.
        assert!(!is_settled(0.5, &[10.0], &[10.4]));
        // One run of each: open, but the claim's noise was not too small.
        assert!(is_settled(0.9, &[10.0], &[10.6]));
        assert!(!is_settled(1.2, &[10.0], &[10.6]));
    }

    #[test]
    fn the_reason_names_the_commit_and_the_metric() {
        let why = reason(&commit('5'), &Metric::of("ppl"));
        assert!(why.contains(commit('5').short()) && why.contains("runs of ppl"), "{why}");
    }
}
