//! Whether the newer end without a change loses what the change makes at its own commit. If it
//! loses something else, another part of the program may run there: other code depends on the
//! change, or a fallback that gives another level. Then the loss does not tell whether that end
//! needs the change. Pure.

use crate::evaluation::{Culprit, Direction, GuardTarget, Shows, Trial};
use crate::search::Step;
use crate::stats;

use super::contradiction::same_level;

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

    /// The steps of several commits together. `ends`: the levels of the older and the newer end.
    /// `None` if none of the commits moves the metric, or if one of them has no number there.
    pub(super) fn of_all(
        culprits: &[Culprit],
        target: &GuardTarget,
        [older, newer]: [f64; 2],
    ) -> Option<Self> {
        let effects = culprits.iter().filter_map(|one| one.effect_on(&target.guard.metric));
        let steps: Option<Vec<f64>> =
            effects.map(|effect| Some(effect.commit.number()? - effect.parent.number()?)).collect();
        let steps = steps.filter(|steps| !steps.is_empty())?;
        let sum: f64 = steps.iter().sum();
        let others = (newer - older - sum).abs();
        Some(Self { without: vec![newer - sum], with: newer, others })
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
