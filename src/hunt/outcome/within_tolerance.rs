//! In noise, doubts a found commit that stays within the tolerance of the good end, if the bad end
//! is worse again by about as much. The threshold of a search in noise lies halfway between the
//! ends. If two commits make about half of the change each, chance decides which of them the search
//! finds, but only the later one goes beyond the tolerance.

use crate::evaluation::{CommitId, Culprit, Effect, GuardTarget, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::mean_level::{MOST_RUNS, MeanLevel, Rest, SURE, has_noisy_levels};
use super::unexplained::error_of_step;

/// Where a found commit lies between the ends, in the metric's unit.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// How much the commit is beyond the tolerance of the good end, and [`SURE`] standard errors.
    beyond: [f64; 2],
    /// How much worse the bad end is than the commit, and [`SURE`] standard errors.
    rest: [f64; 2],
    /// The commit's own step.
    step: f64,
}

impl Place {
    /// Whether the commit is within the tolerance, and the bad end worse than the commit by at
    /// least half of its step. `None` if more runs are needed. `is_last`: no more are allowed.
    fn is_short(self, is_last: bool) -> Option<bool> {
        let [beyond, error] = self.beyond;
        let [rest, error_of_rest] = self.rest;
        let rest = rest - self.step / 2.0;
        if beyond > error || rest < -error_of_rest {
            return Some(false);
        }
        if beyond < -error && rest > error_of_rest {
            return Some(true);
        }
        is_last.then_some(beyond <= 0.0 && rest > 0.0)
    }
}

impl Driver<'_> {
    /// In noise, withdraws a found commit of a regression if each of its metrics is within the
    /// tolerance at the commit, and the bad end is worse again by at least half of the commit's
    /// step. The later commits, up to the first that is known to be beyond the tolerance, are
    /// candidates too.
    pub(super) fn withdraw_if_within_tolerance(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
    ) -> Result<(), HuntError> {
        if !search_range.explains_levels() {
            return Ok(());
        }
        let mut short = None;
        for effect in &culprit.effects {
            let target = Target::on(&search_range.targets, &effect.metric).and_then(Target::guard);
            let Some(target) = target.filter(|target| has_noisy_levels(target)) else {
                return Ok(());
            };
            if !self.is_short_of_tolerance(search_range, culprit, effect, target)? {
                return Ok(());
            }
            short = Some(target);
        }
        let Some(target) = short else { return Ok(()) };
        let among = self.up_to_the_first_beyond(search_range, &culprit.info.commit, target)?;
        let commit = culprit.info.commit.short();
        let why = format!(
            "{commit} is within the tolerance of {}, and the bad end is worse by about as much \
             again: a later step goes beyond the tolerance",
            target.guard.metric
        );
        ledger.withdraw(&culprit.info.commit, &among, why);
        Ok(())
    }

    /// Whether the commit is within the tolerance of one metric, and the bad end worse than the
    /// commit by at least half of its step. Runs the commit and both ends until that is clear.
    fn is_short_of_tolerance(
        &mut self,
        search_range: &SearchRange,
        culprit: &Culprit,
        effect: &Effect,
        target: &GuardTarget,
    ) -> Result<bool, HuntError> {
        let Some(step) = effect.own_step else { return Ok(false) };
        if step - SURE * error_of_step(effect) > target.limit.max(0.0) {
            return Ok(false);
        }
        let metric = &target.guard.metric;
        let [good, bad] = search_range.good_and_bad();
        let mut runs = 0;
        loop {
            let mut levels = Vec::new();
            for commit in [good, &culprit.info.commit, bad] {
                levels.extend(self.mean_level(commit, metric, runs)?);
            }
            let [good, own, bad] = levels[..] else { return Ok(false) };
            let place = Place {
                beyond: MeanLevel::beyond_tolerance(target, [good, own]),
                rest: [
                    target.guard.worsening(own.value, bad.value),
                    MeanLevel::error(target, [own, bad], SURE),
                ],
                step,
            };
            if let Some(is_short) = place.is_short(runs >= MOST_RUNS) {
                return Ok(is_short);
            }
            let least = good.runs.min(own.runs).min(bad.runs);
            runs = MOST_RUNS.min(2 * runs.max(least));
        }
    }

    /// The commit, and the later ones up to the first whose known runs are beyond the tolerance.
    fn up_to_the_first_beyond(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<Vec<CommitId>, HuntError> {
        let metric = &target.guard.metric;
        let [good, bad] = search_range.good_and_bad();
        let good = self.mean_level(good, metric, 0)?;
        let mut among = vec![commit.clone()];
        for later in self.chain(commit, bad)? {
            let level = self.mean_level(&later, metric, 0)?;
            among.push(later);
            let Some((good, level)) = good.zip(level) else { continue };
            if Rest::of(MeanLevel::beyond_tolerance(target, [good, level])) == Rest::Beyond {
                break;
            }
        }
        Ok(among)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_short(beyond: [f64; 2], rest: [f64; 2]) -> Option<bool> {
        Place { beyond, rest, step: 3.0 }.is_short(false)
    }

    #[test]
    fn the_first_of_two_equal_steps_is_short_of_the_tolerance() {
        // A tolerance of 4: the commit is at 3, the bad end at 6.
        assert_eq!(is_short([-1.0, 0.5], [3.0, 0.5]), Some(true));
        // The second of them is at 6.
        assert_eq!(is_short([2.0, 0.5], [0.0, 0.5]), Some(false));
    }

    #[test]
    fn a_single_step_near_the_tolerance_is_not_short() {
        // It is at 3.9, or at 4.1, with a large error, and so is the bad end.
        for beyond in [-0.1, 0.1] {
            assert_eq!(is_short([beyond, 1.0], [0.0, 1.0]), Some(false));
        }
    }

    #[test]
    fn what_is_not_clear_needs_more_runs() {
        let place = Place { beyond: [-0.5, 1.0], rest: [3.0, 1.0], step: 3.0 };
        assert_eq!(place.is_short(false), None);
        assert_eq!(place.is_short(true), Some(true));
    }
}
