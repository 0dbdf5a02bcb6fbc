//! What the levels of the bad end without a change say beyond its verdict.

use crate::evaluation::{Direction, GuardTarget, Metric, Noise, Revert, Target, Trial, Value};

use super::contradiction::same_level;

/// A level is surely worse if it is beyond the tolerance by so many standard errors.
const SURE: f64 = 2.0;

/// What a test of the newer end without parts says, by its verdict (`told`) and its levels:
///
/// - A bad end that noise leaves on the good side of the threshold is not healed if it is surely
///   worse than the good end by more than the tolerance. In noise the threshold lies in the middle
///   of the whole change, so one of several steps may stay below it.
/// - A bad end that is worse without the parts than with them, or better than the good end by more
///   than they made worse, does not tell whether it needs them: other code depends on them, or
///   another commit counters them. `own_step`: what they made worse of a metric, if that is known.
pub(super) fn by_levels(
    told: Revert,
    trial: &Trial,
    targets: &[Target],
    own_step: impl Fn(&Metric) -> Option<f64>,
) -> Revert {
    let runs = trial.attempts.len().max(1);
    let any = |is_so: &dyn Fn(&GuardTarget, &Value) -> bool| {
        targets.iter().filter_map(Target::guard).any(|target| {
            let level = trial.levels.get(&target.guard.metric);
            level.is_some_and(|level| is_so(target, level))
        })
    };
    let stays_worse = |target: &GuardTarget, level: &Value| is_surely_worse(target, level, runs);
    let gets_worse = |target: &GuardTarget, level: &Value| is_worse_than_end(target, level, runs);
    let gains_too_much = |target: &GuardTarget, level: &Value| {
        own_step(&target.guard.metric)
            .is_some_and(|step| gains_more_than(target, level, step.abs()))
    };
    match told {
        Revert::Heals | Revert::HealsPart if any(&stays_worse) => Revert::StepGone,
        Revert::Heals | Revert::HealsPart if any(&gains_too_much) => Revert::Unlike,
        Revert::StillBad if any(&gets_worse) => Revert::Unlike,
        other => other,
    }
}

/// Whether the level is worse than that of the bad end itself; in noise, by more than the tolerance
/// and [`SURE`] standard errors. False if every value but the good end's is bad.
fn is_worse_than_end(target: &GuardTarget, level: &Value, runs: usize) -> bool {
    let ends = (target.baseline.number(), target.bad.number(), level.number());
    let (Some(good), Some(bad), Some(level)) = ends else { return false };
    if target.guard.direction() == Direction::Any || bad.is_nan() {
        return false;
    }
    let same = match &target.noise {
        Some(noise) if noise.has_levels() => {
            target.limit.abs() + SURE * error_of_difference(noise, runs)
        }
        _ => same_level(target, bad - good),
    };
    level.is_nan() || target.guard.worsening(bad, level) > same
}

/// Whether the bad end without a change is better than the good end by more than the tolerance, and
/// better than the bad end itself by more than twice the change's step and the tolerance. `level`:
/// that of the bad end without the change.
fn gains_more_than(target: &GuardTarget, level: &Value, step: f64) -> bool {
    let levels = (target.baseline.number(), target.bad.number(), level.number());
    let (Some(good), Some(bad), Some(level)) = levels else { return false };
    let limit = target.limit.abs();
    target.guard.worsening(level, good) > limit
        && target.guard.worsening(level, bad) > 2.0 * step + limit
}

/// In noise, whether the level of so many runs is worse than the good end by more than the
/// tolerance and [`SURE`] standard errors. False on a machine that may drift: the levels were
/// measured hours apart.
fn is_surely_worse(target: &GuardTarget, level: &Value, runs: usize) -> bool {
    let noise = target.noise.filter(Noise::has_levels);
    let levels = level.number().zip(target.baseline.number());
    let (Some(noise), Some((level, good)), false) = (noise, levels, target.may_drift()) else {
        return false;
    };
    let scale = target.orientation();
    let error = error_of_difference(&noise, runs);
    scale.oriented(level) - scale.oriented(good) > target.oriented_limit() + SURE * error
}

/// The standard error of the difference between an end and so many runs of a test.
fn error_of_difference(noise: &Noise, runs: usize) -> f64 {
    noise.sd * (1.0 / noise.runs.max(1) as f64 + 1.0 / runs as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, TrialOf};
    use crate::oracle::fixture::{self, noisy, target};

    #[test]
    fn in_noise_a_bad_end_that_stays_worse_than_the_good_one_is_not_healed() {
        let up = GuardForm::MaxIncrease(0.1);
        let told = |target: GuardTarget, level: f64| {
            let trial = fixture::trial(TrialOf::Reverted, level);
            by_levels(Revert::Heals, &trial, &[Target::Guard(target)], |_| None)
        };
        // Two steps of 0.5: the threshold is 7.5, and one run has a standard deviation of 0.1.
        assert_eq!(told(noisy(up, 7.0, 8.0), 7.45), Revert::StepGone);
        // Within the tolerance and two standard errors of the good end.
        assert_eq!(told(noisy(up, 7.0, 8.0), 7.25), Revert::Heals);
        // Where values repeat, the threshold is the tolerance.
        assert_eq!(told(target(up, 7.0, 8.0), 7.05), Revert::Heals);
    }

    #[test]
    fn a_bad_end_that_gets_worse_tells_nothing() {
        let up = GuardForm::MaxIncrease(0.1);
        let told = |target: GuardTarget, level: f64| {
            let trial = fixture::trial(TrialOf::Reverted, level);
            by_levels(Revert::StillBad, &trial, &[Target::Guard(target)], |_| Some(0.5))
        };
        for worse in [8.2, 300.0, f64::NAN, f64::INFINITY] {
            assert_eq!(told(target(up, 7.0, 7.5), worse), Revert::Unlike, "{worse}");
        }
        for level in [7.2, 7.5, 7.54] {
            assert_eq!(told(target(up, 7.0, 7.5), level), Revert::StillBad, "{level}");
        }
        assert_eq!(told(target(up, 7.0, f64::NAN), f64::NAN), Revert::StillBad);
        assert_eq!(told(noisy(up, 7.0, 8.0), 8.2), Revert::StillBad);
        assert_eq!(told(noisy(up, 7.0, 8.0), 9.0), Revert::Unlike);
        let down = GuardForm::MaxDecrease(0.1);
        assert_eq!(told(target(down, 7.0, 6.5), 5.0), Revert::Unlike);
        assert_eq!(told(target(down, 7.0, 6.5), 6.8), Revert::StillBad);
    }

    #[test]
    fn nor_does_one_that_gets_better_than_the_good_end_by_more_than_the_step() {
        let up = GuardForm::MaxIncrease(0.1);
        let told = |level: f64, step: Option<f64>| {
            let trial = fixture::trial(TrialOf::Reverted, level);
            let target = Target::Guard(target(up, 7.0, 7.5));
            by_levels(Revert::Heals, &trial, &[target], |_| step)
        };
        assert_eq!(told(5.0, Some(0.5)), Revert::Unlike);
        // A later commit gained 1.5 of 2.
        assert_eq!(told(5.5, Some(2.0)), Revert::Heals);
        assert_eq!(told(7.0, Some(0.5)), Revert::Heals);
        assert_eq!(told(6.95, Some(0.1)), Revert::Heals);
        assert_eq!(told(5.0, None), Revert::Heals);
    }
}
