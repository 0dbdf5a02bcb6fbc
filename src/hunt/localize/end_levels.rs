//! What the levels of the bad end without a change, or with a fix, say beyond its verdict.

use crate::evaluation::{
    Backport, Culprit, Direction, GuardTarget, Metric, Noise, Revert, Target, Trial, Value,
};

use super::lost_step::OwnStep;
use super::same_level::same_level;
use super::third_value::is_third_value;

/// A level is surely worse if it is beyond the tolerance by so many standard errors.
const SURE: f64 = 2.0;

/// What a test of the newer end without parts says, by its verdict (`told`) and its levels:
///
/// - A bad end that noise leaves on the good side of the threshold is not healed if it is surely
///   worse than the good end by more than the tolerance. In noise the threshold lies in the middle
///   of the whole change, so one of several steps may stay below it.
/// - An end that loses something else than the parts' own step does not tell whether it needs them:
///   other code depends on them, or another commit counters them. So does one that is worse than the
///   bad end, or an end with a fact that neither end shows ([`is_third_value`]). The good end without
///   a fix may be worse than the bad end if the fix's own step explains that: other commits made
///   the metric worse.
///
/// `named`: the commits with these parts. `own_step`: what the parts do to a target's metric at their
/// own commits, if that is known; given the levels of the older and the newer end.
pub(super) fn by_levels(
    told: Revert,
    trial: &Trial,
    targets: &[Target],
    named: &[Culprit],
    own_step: impl Fn(&GuardTarget, [f64; 2]) -> Option<OwnStep>,
) -> Revert {
    let runs = trial.attempts.len().max(1);
    let any = |is_so: &dyn Fn(&GuardTarget, &Value) -> bool| is_any(trial, targets, is_so);
    let stays_worse = |target: &GuardTarget, level: &Value| is_surely_worse(target, level, runs);
    let is_third = |target: &GuardTarget, level: &Value| is_third_value(target, level, named);
    let is_bad_end = told != Revert::BreaksAgain;
    let error =
        |target: &GuardTarget| target.noise.map_or(0.0, |noise| error_of_difference(&noise, runs));
    let loses_another = |target: &GuardTarget, level: &Value| {
        let levels = (target.baseline.number(), target.bad.number(), level.number());
        let (Some(good), Some(bad), Some(level)) = levels else { return false };
        let ends = if is_bad_end { [good, bad] } else { [bad, good] };
        own_step(target, ends).is_some_and(|own| {
            !own.is_lost(target, ends, level)
                || is_bad_end && own.is_surely_exceeded(target, level, error(target))
        })
    };
    // Asked only of an end that does not lose another step.
    let is_own_step = |target: &GuardTarget, level: &Value| {
        let levels = (target.baseline.number(), target.bad.number(), level.number());
        let (Some(good), Some(bad), Some(level)) = levels else { return false };
        !is_bad_end
            && own_step(target, [bad, good])
                .is_some_and(|own| own.explains(target, good, level, error(target)))
    };
    let gets_worse = |target: &GuardTarget, level: &Value| {
        is_worse_than_end(target, level, runs) && !is_own_step(target, level)
    };
    match told {
        Revert::Heals | Revert::HealsPart if any(&stays_worse) => Revert::StepGone,
        Revert::Heals | Revert::HealsPart | Revert::BreaksAgain if any(&loses_another) => {
            Revert::Unlike
        }
        Revert::BreaksAgain | Revert::StillBad if any(&gets_worse) || any(&is_third) => {
            Revert::Unlike
        }
        other => other,
    }
}

/// What a test of the bad end with a fix says, by its verdict (`told`) and its levels. A bad end
/// that the fix makes worse, or better than the good end by more than it made better, or that shows a
/// fact of neither end, does not tell what the fix does there: the fix may need later code.
/// `own_step`: what the fix made better of a metric, if that is known.
pub(super) fn backport_by_levels(
    told: Backport,
    trial: &Trial,
    targets: &[Target],
    own_step: impl Fn(&Metric) -> Option<f64>,
) -> Backport {
    let runs = trial.attempts.len().max(1);
    let gets_worse = |target: &GuardTarget, level: &Value| is_worse_than_end(target, level, runs);
    let is_third = |target: &GuardTarget, level: &Value| is_third_value(target, level, &[]);
    let gains_too_much = |target: &GuardTarget, level: &Value| {
        own_step(&target.guard.metric)
            .is_some_and(|step| gains_more_than(target, level, step.abs()))
    };
    match told {
        Backport::Heals if is_any(trial, targets, &gains_too_much) => Backport::Unlike,
        Backport::StillBad
            if is_any(trial, targets, &gets_worse) || is_any(trial, targets, &is_third) =>
        {
            Backport::Unlike
        }
        other => other,
    }
}

/// Whether this holds for the level of any guard in the test.
fn is_any(trial: &Trial, targets: &[Target], is_so: &dyn Fn(&GuardTarget, &Value) -> bool) -> bool {
    targets.iter().filter_map(Target::guard).any(|target| {
        let level = trial.levels.get(&target.guard.metric);
        level.is_some_and(|level| is_so(target, level))
    })
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
    use crate::evaluation::{Effect, GuardForm, TrialOf};
    use crate::oracle::fixture::{self, effect, noisy, target, unchanged};

    #[test]
    fn in_noise_a_bad_end_that_stays_worse_than_the_good_one_is_not_healed() {
        let up = GuardForm::MaxIncrease(0.1);
        let told = |target: GuardTarget, level: f64| {
            let trial = fixture::trial(TrialOf::Reverted, level);
            by_levels(Revert::Heals, &trial, &[Target::Guard(target)], &[], |_, _| None)
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
            by_levels(Revert::StillBad, &trial, &[Target::Guard(target)], &[], |_, _| None)
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
    fn an_end_with_a_third_fact_tells_nothing() {
        let targets = [Target::Guard(unchanged("avx2", "scalar"))];
        let shows = |of: TrialOf, text: &str| {
            let levels = [(Metric::of("launch"), Value::Fact(text.to_owned()))].into();
            Trial { levels, ..fixture::trial(of, 0.0) }
        };
        let told = |verdict: Revert, text: &str| {
            by_levels(verdict, &shows(TrialOf::Reverted, text), &targets, &[], |_, _| None)
        };
        assert_eq!(told(Revert::StillBad, "none"), Revert::Unlike);
        assert_eq!(told(Revert::StillBad, "scalar"), Revert::StillBad);
        assert_eq!(told(Revert::Heals, "avx2"), Revert::Heals);
        assert_eq!(told(Revert::BreaksAgain, "none"), Revert::Unlike);
        assert_eq!(told(Revert::BreaksAgain, "scalar"), Revert::BreaksAgain);
        let with_fix = |text: &str| {
            let trial = shows(TrialOf::Backported, text);
            backport_by_levels(Backport::StillBad, &trial, &targets, |_| None)
        };
        assert_eq!(with_fix("none"), Backport::Unlike);
        assert_eq!(with_fix("scalar"), Backport::StillBad);
    }

    #[test]
    fn a_bad_end_that_a_fix_makes_worse_or_better_than_good_tells_nothing() {
        let told = |verdict: Backport, level: f64| {
            let trial = fixture::trial(TrialOf::Backported, level);
            let target = Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.5));
            backport_by_levels(verdict, &trial, &[target], |_| Some(0.5))
        };
        assert_eq!(told(Backport::StillBad, 300.0), Backport::Unlike);
        assert_eq!(told(Backport::StillBad, 7.5), Backport::StillBad);
        assert_eq!(told(Backport::StillBad, 7.3), Backport::StillBad);
        assert_eq!(told(Backport::Heals, 7.0), Backport::Heals);
        assert_eq!(told(Backport::Heals, 5.0), Backport::Unlike);
        assert_eq!(told(Backport::Unknown, 300.0), Backport::Unknown);
    }

    /// What a test says of an end with one of these levels. The commit's step is from `parent` to
    /// `level`.
    fn of_step(told: Revert, target: &GuardTarget, effect: Effect, level: f64) -> Revert {
        let culprit = Culprit { effects: vec![effect], ..fixture::culprit('3', '2') };
        let trial = fixture::trial(TrialOf::Reverted, level);
        let targets = [Target::Guard(target.clone())];
        by_levels(told, &trial, &targets, &[], |target, [_, newer]| {
            OwnStep::of(&culprit, target, newer, &[])
        })
    }

    #[test]
    fn a_bad_end_that_loses_another_step_tells_nothing() {
        let up = GuardForm::MaxIncrease(0.1);
        let told = |target: &GuardTarget, level: f64| {
            of_step(Revert::Heals, target, effect(7.0, 7.5, 0.1), level)
        };
        let exact = target(up, 7.0, 7.5);
        assert_eq!(told(&exact, 7.0), Revert::Heals);
        for level in [5.0, 6.5, 6.95, 7.03] {
            assert_eq!(told(&exact, level), Revert::Unlike, "{level}");
        }
        // A later commit gained 1.5 of 2.
        assert_eq!(of_step(Revert::Heals, &exact, effect(7.0, 9.0, 0.1), 5.5), Revert::Heals);
        // In noise, only what is surely far more than the step.
        let noisy = noisy(up, 7.0, 7.5);
        assert_eq!(told(&noisy, 7.03), Revert::Heals);
        assert_eq!(told(&noisy, 6.9), Revert::Heals);
        assert_eq!(told(&noisy, 6.3), Revert::Unlike);
        // Without a known step, the verdict stays.
        let trial = fixture::trial(TrialOf::Reverted, 5.0);
        let exact = [Target::Guard(exact)];
        let told = by_levels(Revert::Heals, &trial, &exact, &[], |_, _| None);
        assert_eq!(told, Revert::Heals);
    }

    #[test]
    fn a_good_end_without_a_fix_must_be_as_bad_as_before_the_fix() {
        let target = target(GuardForm::MaxIncrease(0.1), 7.0, 7.5);
        let told = |level: f64| of_step(Revert::BreaksAgain, &target, effect(7.5, 7.0, 0.1), level);
        assert_eq!(told(7.5), Revert::BreaksAgain);
        for level in [300.0, 9.0, 7.62, 7.2] {
            assert_eq!(told(level), Revert::Unlike, "{level}");
        }
    }

    #[test]
    fn a_good_end_without_a_fix_may_be_worse_than_the_bad_end_by_what_later_commits_added() {
        let up = GuardForm::MaxIncrease(0.1);
        // The fix is from 7.5 to 6.7, and a later commit adds 0.3.
        let told = |target: &GuardTarget, level: f64| {
            of_step(Revert::BreaksAgain, target, effect(7.5, 6.7, 0.1), level)
        };
        let exact = target(up, 7.0, 7.5);
        assert_eq!(told(&exact, 7.8), Revert::BreaksAgain);
        for level in [300.0, f64::NAN, 8.2, 7.2] {
            assert_eq!(told(&exact, level), Revert::Unlike, "{level}");
        }
        // In noise, only what is surely far more than the step.
        let noisy = noisy(up, 7.0, 7.5);
        assert_eq!(told(&noisy, 7.8), Revert::BreaksAgain);
        for level in [300.0, f64::NAN, 8.5] {
            assert_eq!(told(&noisy, level), Revert::Unlike, "{level}");
        }
        // Without a known step, an end that is worse than the bad end tells nothing.
        for target in [exact, noisy] {
            let trial = fixture::trial(TrialOf::Unfixed, 7.8);
            let targets = [Target::Guard(target)];
            let told = by_levels(Revert::BreaksAgain, &trial, &targets, &[], |_, _| None);
            assert_eq!(told, Revert::Unlike);
        }
    }
}
