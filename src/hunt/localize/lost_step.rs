//! Whether the newer end without a change loses what the change makes at its own commit. If it
//! loses something else, another part of the program may run there: other code depends on the
//! change, or a fallback that gives another level. Then the loss does not tell whether that end
//! needs the change. Pure.

use crate::evaluation::{Culprit, Direction, Effect, GuardTarget, Metric, Shows, Trial};
use crate::search::Step;
use crate::stats;

use super::same_level::same_level;

/// Where values repeat and nothing else moves the metric, a level may differ from the expected one
/// by this share of the step: the last printed digits.
const EXACT: f64 = 0.02;

/// Differences of levels up to this share of the step are those of floating-point numbers.
const ROUNDING: f64 = 1e-9;

/// In noise, the end must not lose more than this multiple of the step.
const MOST: f64 = 1.5;

/// In noise, the end without a change must not be worse by more than this share of its step.
const WORSE: f64 = 0.5;

/// A level in noise is surely beyond a limit if it is so many standard errors beyond it.
const SURE: f64 = 2.0;

/// What changes do to a metric at their own commits. All levels are in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OwnStep {
    /// The level without them: the parent's, and that of each test of the commit in which a part
    /// of its change made no step.
    without: Vec<f64>,
    /// The commit's level.
    with: f64,
    /// How far other commits move the newer end, as far as its level tells.
    others: f64,
}

impl OwnStep {
    /// The step of a commit. `newer`: the level of the newer end; `trials`: tests of parts of the
    /// commit's change. `None` if the commit does not move the metric, or has no number.
    pub(super) fn of(
        culprit: &Culprit,
        target: &GuardTarget,
        newer: f64,
        trials: &[Trial],
    ) -> Option<Self> {
        let metric = &target.guard.metric;
        let effect = culprit.effect_on(metric)?;
        let (parent, with) = effect.parent.number().zip(effect.commit.number())?;
        let is_without =
            |trial: &&Trial| !trial.of.is_of_endpoint() && trial.shows == Shows::Nothing;
        let tested = trials.iter().filter(is_without);
        let tested = tested.filter_map(|trial| trial.levels.get(metric)?.number());
        let without = std::iter::once(parent).chain(tested).collect();
        Some(Self { without, with, others: (newer - with).abs() })
    }

    /// The steps of several commits together, added up or multiplied. `ends`: the levels of the
    /// older and the newer end. `None` if none of the commits moves the metric, or if one of them
    /// has no number there.
    pub(super) fn of_all(
        culprits: &[Culprit],
        target: &GuardTarget,
        [older, newer]: [f64; 2],
    ) -> Option<Self> {
        let effects = standing(culprits, &target.guard.metric).into_iter();
        let levels: Option<Vec<[f64; 2]>> = effects
            .map(|effect| Some([effect.parent.number()?, effect.commit.number()?]))
            .collect();
        let levels = levels.filter(|levels| !levels.is_empty())?;
        let sum: f64 = levels.iter().map(|[parent, with]| with - parent).sum();
        // How many times as high the newer end is without the changes.
        let ratio: f64 = levels.iter().map(|[parent, with]| parent / with).product();
        let multiplied = Some(newer * ratio).filter(|_| ratio.is_finite() && ratio > 0.0);
        let without = std::iter::once(newer - sum).chain(multiplied).collect();
        Some(Self { without, with: newer, others: (newer - older - sum).abs() })
    }

    /// Where values repeat: whether the newer end at this level has lost this step. The changes add
    /// to a level or multiply it, so there are two expected levels. Unless the end is just at the
    /// commit's level, other commits move the metric, and the step may be a little smaller or larger
    /// without them. The level of the older end or of the commit without its change tells too.
    /// Always true in noise and for `unchanged`.
    pub(super) fn is_lost(
        &self,
        target: &GuardTarget,
        [older, newer]: [f64; 2],
        level: f64,
    ) -> bool {
        if target.noise.is_some() || target.guard.direction() == Direction::Any {
            return true;
        }
        let is_near = |expected: f64, reach: f64| (level - expected).abs() <= reach;
        self.without.iter().any(|without| {
            let step = (self.with - without).abs();
            if !step.is_finite() {
                // A level of NaN has no size, so only the tolerance tells what is the same.
                let limit = target.limit.max(0.0);
                return is_near(*without, limit) || is_near(older, limit);
            }
            let exact = EXACT * step;
            // If other commits move the metric, the step may also be a little smaller or larger.
            let is_alone = self.others <= ROUNDING * step;
            let reach = if is_alone { exact } else { same_level(target, step) };
            is_near(newer - self.with + without, reach)
                || is_near(newer * without / self.with, reach)
                || is_near(*without, exact)
                || is_near(older, exact)
        })
    }

    /// In noise: whether so many runs of the bad end at this level have surely lost far more than
    /// this step, and are better than the good end by more than the tolerance. `error`: the
    /// standard error of the difference to an end, on the oriented scale. False on a machine that
    /// may drift, for the levels were measured hours apart.
    pub(super) fn is_surely_exceeded(&self, target: &GuardTarget, level: f64, error: f64) -> bool {
        let ends = target.baseline.number().zip(target.bad.number());
        let (Some((good, bad)), Some(without)) = (ends, self.without.first()) else { return false };
        if !target.noise.is_some_and(|noise| noise.has_levels()) || target.may_drift() {
            return false;
        }
        let scale = target.orientation();
        let better = |from: f64| scale.oriented(from) - scale.oriented(level) - SURE * error;
        let step = scale.oriented(self.with) - scale.oriented(*without);
        better(bad) > MOST * step && better(good) > target.oriented_limit()
    }

    /// Where values repeat: the least that the newer end loses without the changes, in the metric's
    /// unit.
    pub(super) fn least_loss(&self) -> f64 {
        let losses = self.without.iter().map(|without| (self.with - without).abs());
        losses.fold(f64::INFINITY, f64::min)
    }

    /// Where values repeat: whether this level of the newer end without the changes is the older
    /// end's. Then nothing is left of what changed between the ends.
    pub(super) fn is_at_older_end(&self, older: f64, level: f64) -> bool {
        let loss = self.least_loss();
        loss.is_finite() && (level - older).abs() <= EXACT * loss
    }

    /// In a hunt for a fix: whether this step explains how much worse the good end without the fix
    /// is. Only for a level at which the step [`is_lost`](Self::is_lost): where values repeat, that
    /// is enough. In noise, the loss must not surely be far more. `newer`: the level of the good
    /// end; `error`: the standard error of the difference to it, on the oriented scale.
    pub(super) fn explains(
        &self,
        target: &GuardTarget,
        newer: f64,
        level: f64,
        error: f64,
    ) -> bool {
        let Some(without) = self.without.first() else { return false };
        let scale = target.orientation();
        let lost = scale.oriented(level) - scale.oriented(newer);
        let step = scale.oriented(*without) - scale.oriented(self.with);
        target.noise.is_none() || lost - SURE * error <= MOST * step
    }
}

/// The effects of the named commits on this metric that the newer end may have. A change that was
/// undone and landed again counts once: the step of the commit that landed it first was gone
/// before.
pub(super) fn standing<'c>(culprits: &'c [Culprit], metric: &Metric) -> Vec<&'c Effect> {
    let of = |is_undone: bool| -> Vec<&'c Effect> {
        let own = culprits.iter().filter(|one| one.undone_by.is_some() == is_undone);
        own.filter_map(|one| one.effect_on(metric)).collect()
    };
    let standing = of(false);
    if standing.is_empty() { of(true) } else { standing }
}

/// In noise, whether pairs of runs with and without a change may have lost just this step.
/// `losses`: for each pair, how much worse the run with the change is, on the oriented scale. False
/// if they surely lose far more, or are surely far worse without the change. Always true for
/// failure rates.
pub(super) fn may_lose(step: Step, losses: &[f64]) -> bool {
    let Step::Size { step, sd } = step else { return true };
    let Some(lost) = stats::median(losses) else { return true };
    let error = sd / stats::runs_of_equal_mean(losses.len()).sqrt();
    lost - SURE * error <= MOST * step && lost + SURE * error >= -WORSE * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, TrialOf};
    use crate::oracle::fixture::{self, culprit, effect, noisy, target};

    /// Whether the bad end at this level has lost the step of a commit from 7 to 7.5, with a
    /// tolerance of 0.1 and a good end at 7.
    fn is_lost(bad: f64, level: f64) -> bool {
        let target = target(GuardForm::MaxIncrease(0.1), 7.0, bad);
        let commit = Culprit { effects: vec![effect(7.0, 7.5, 0.1)], ..culprit('3', '2') };
        let own = OwnStep::of(&commit, &target, bad, &[]).unwrap();
        own.is_lost(&target, [7.0, bad], level)
    }

    #[test]
    fn where_nothing_else_moves_the_metric_the_parents_level_must_come_back() {
        assert!(is_lost(7.5, 7.0) && is_lost(7.5, 7.000_1));
        for level in [5.0, 6.41, 6.5, 6.95, 7.03, 7.05] {
            assert!(!is_lost(7.5, level), "{level}");
        }
    }

    #[test]
    fn other_commits_may_move_the_level_too_and_change_the_step_a_little() {
        // Later commits add 0.06: the step is the same, a little smaller, or larger.
        assert!(is_lost(7.56, 7.06) && is_lost(7.56, 7.02) && is_lost(7.56, 7.0));
        assert!(is_lost(7.51, 6.97) && !is_lost(7.51, 6.9));
        assert!(!is_lost(7.56, 6.9));
        // A later commit makes everything 20 % better: 7.5 becomes 6, and 7 becomes 5.6.
        assert!(is_lost(6.0, 5.6) && is_lost(6.0, 5.5) && !is_lost(6.0, 4.5));
    }

    #[test]
    fn a_test_of_the_commit_without_its_parts_tells_which_level_comes_back() {
        let target = target(GuardForm::MaxIncrease(0.1), 7.0, 7.5);
        let commit = Culprit { effects: vec![effect(7.0, 7.5, 0.1)], ..culprit('3', '2') };
        let of = |shows: Shows| {
            let trial = Trial { shows, ..fixture::trial(TrialOf::Without, 7.04) };
            let own = OwnStep::of(&commit, &target, 7.5, &[trial]).unwrap();
            own.is_lost(&target, [7.0, 7.5], 7.04)
        };
        assert!(of(Shows::Nothing) && !of(Shows::Difference));
    }

    #[test]
    fn several_commits_lose_the_sum_of_their_steps() {
        let up = target(GuardForm::MaxIncrease(0.1), 7.0, 8.3);
        let named = [(7.0, 7.8), (7.8, 8.3)].map(|(parent, level)| Culprit {
            effects: vec![effect(parent, level, 0.1)],
            ..culprit('3', '2')
        });
        let is_lost = |level: f64| {
            let own = OwnStep::of_all(&named, &up, [7.0, 8.3]).unwrap();
            own.is_lost(&up, [7.0, 8.3], level)
        };
        assert!(is_lost(7.0) && !is_lost(6.0) && !is_lost(7.2));
        // One change that landed twice: the older end's level tells.
        let twice = [7.0, 7.0]
            .map(|parent| Culprit { effects: vec![effect(parent, 7.5, 0.1)], ..culprit('3', '2') });
        let up = target(GuardForm::MaxIncrease(0.1), 7.0, 7.5);
        let own = OwnStep::of_all(&twice, &up, [7.0, 7.5]).unwrap();
        assert!(own.is_lost(&up, [7.0, 7.5], 7.0));
        assert_eq!(OwnStep::of_all(&[culprit('3', '2')], &up, [7.0, 7.5]), None);
    }

    #[test]
    fn several_commits_may_multiply_a_level_too() {
        // 800 → 1200 → 1560, and then everything becomes 15 % better.
        let up = target(GuardForm::MaxIncrease(30.0), 1000.0, 1326.0);
        let named = [(800.0, 1200.0), (1200.0, 1560.0)].map(|(parent, level)| Culprit {
            effects: vec![effect(parent, level, 30.0)],
            ..culprit('3', '2')
        });
        let own = OwnStep::of_all(&named, &up, [1000.0, 1326.0]).unwrap();
        let is_lost = |level: f64| own.is_lost(&up, [1000.0, 1326.0], level);
        assert!(is_lost(680.0) && is_lost(566.0));
        // One of the two steps is left.
        assert!(!is_lost(884.0) && !is_lost(1020.0) && !is_lost(1326.0));
        // A level of 0 has no ratio.
        let named = [Culprit { effects: vec![effect(0.0, 5.0, 1.0)], ..culprit('3', '2') }];
        let up = target(GuardForm::MaxIncrease(1.0), 0.0, 5.0);
        let own = OwnStep::of_all(&named, &up, [0.0, 5.0]).unwrap();
        assert_eq!(own.without, [0.0]);
    }

    #[test]
    fn a_change_that_landed_again_counts_once() {
        // A later commit made the good end of a fix a little worse.
        let down = target(GuardForm::MaxIncrease(0.1), 7.09, 7.5);
        let mut named =
            [1, 2].map(|_| Culprit { effects: vec![effect(7.5, 7.0, 0.1)], ..culprit('3', '2') });
        let is_lost = |named: &[Culprit]| {
            let own = OwnStep::of_all(named, &down, [7.5, 7.09]).unwrap();
            own.is_lost(&down, [7.5, 7.09], 7.59)
        };
        assert!(!is_lost(&named));
        named[0].undone_by = Some(named[1].parent.clone());
        assert!(is_lost(&named));
    }

    #[test]
    fn without_a_number_the_tolerance_tells_what_is_the_same() {
        let target = target(GuardForm::MaxIncrease(0.1), 7.0, f64::NAN);
        let commit = Culprit { effects: vec![effect(7.0, f64::NAN, 0.1)], ..culprit('3', '2') };
        let own = OwnStep::of(&commit, &target, f64::NAN, &[]).unwrap();
        let is_lost = |level: f64| own.is_lost(&target, [7.0, f64::NAN], level);
        assert!(is_lost(7.0) && is_lost(6.95) && !is_lost(6.5));
    }

    #[test]
    fn in_noise_far_more_than_the_step_is_another_loss() {
        // One run has a standard deviation of 0.05.
        let target = noisy(GuardForm::MaxIncrease(0.1), 7.0, 7.5);
        let commit = Culprit { effects: vec![effect(7.0, 7.5, 0.1)], ..culprit('3', '2') };
        let own = OwnStep::of(&commit, &target, 7.5, &[]).unwrap();
        let is_exceeded = |level: f64| own.is_surely_exceeded(&target, level, 0.03);
        assert!(is_exceeded(6.05) && is_exceeded(6.5));
        assert!(!is_exceeded(6.9) && !is_exceeded(7.0));
        assert!(own.is_lost(&target, [7.0, 7.5], 6.5), "the noisy rule decides");
    }

    #[test]
    fn pairs_that_lose_far_more_or_get_worse_do_not_tell() {
        let step = Step::Size { step: 0.5, sd: 0.1 };
        let told = |loss: f64| may_lose(step, &[loss - 0.05, loss, loss + 0.05, loss]);
        assert!(told(0.5) && told(0.7) && told(0.0) && told(-0.1));
        assert!(!told(1.0) && !told(1.45) && !told(-292.5));
        // One run of the four strayed.
        assert!(may_lose(step, &[0.5, 0.45, 300.0, 0.55]));
        // Too few pairs to be sure.
        assert!(may_lose(step, &[0.9]));
    }
}
