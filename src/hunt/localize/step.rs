//! The target of a localisation: whether a part of a change shows the commit's step. Pure.

use crate::evaluation::{
    Culprit, Direction, Effect, Guard, GuardForm, GuardTarget, Judgement, NoiseKind, Shows, Target,
    Value,
};
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::terms::SearchTerms;
use crate::oracle::Observation;
use crate::store::journal::{SearchBy, SearchMethod};

/// A part shows the step if it makes at least this share of the commit's step.
pub(super) const SHARE: f64 = 0.5;

/// A part makes the whole step if its level is this near to the commit's, as a share of the step.
const NEARLY: f64 = 0.1;

/// Minimum distance of two levels that are far apart, in standard deviations of a run.
const FAR: f64 = 12.0;

/// Minimum distance of two levels that are far apart, as a share of the larger level. On a
/// logarithmic scale, the difference of the two logarithms.
const FAR_SHARE: f64 = 0.4;

/// The targets by which parts of the commit's change are judged; the reason if there are none.
/// `targets`: the hunt's targets.
pub(super) fn targets(
    culprit: &Culprit,
    targets: &[Target],
    terms: SearchTerms,
    by: SearchBy,
) -> Result<Vec<Target>, &'static str> {
    if culprit.failure.is_some() {
        let is_failure = |target: &&Target| matches!(target, Target::Failure { .. });
        let own: Vec<Target> = targets.iter().filter(is_failure).cloned().collect();
        return if own.is_empty() { Err("its failure is no target of the hunt") } else { Ok(own) };
    }
    let Some(effect) = culprit.effects.first() else {
        return Err("no metric of the commit has a level");
    };
    let of_metric = Target::on(targets, &effect.metric).and_then(Target::guard);
    let Some(target) = of_metric else { return Err("no target has the metric of the step") };
    let own = Target::Guard(between(target, effect, terms));
    if !is_judged_alone(&Target::Guard(target.clone()), by) && !is_far(&own) {
        return Err("runs vary too much to judge parts of the change one by one");
    }
    Ok(vec![own])
}

/// Whether the target can be judged from a few runs of one commit, without the runs of others.
pub(crate) fn is_judged_alone(target: &Target, by: SearchBy) -> bool {
    let noise = target.guard().and_then(|target| target.noise);
    let is_plain = noise.is_none_or(|noise| !noise.paired && !noise.kind.is_rate());
    let strategy = SearchStrategy::of(std::slice::from_ref(target), by);
    is_plain && strategy.method != SearchMethod::Posterior || is_far(target)
}

/// Whether the levels are so far apart that neither noise nor a machine drift of a fifth can
/// confuse the two.
fn is_far(target: &Target) -> bool {
    let Target::Guard(target) = target else { return false };
    let Some(noise) = target.noise.filter(|noise| !noise.paired && !noise.kind.is_rate()) else {
        return false;
    };
    let step = (noise.bad - noise.good).abs();
    let share = match noise.kind {
        NoiseKind::Log => step,
        _ => step / f64::max(noise.good.abs(), noise.bad.abs()),
    };
    noise.distance().abs() >= FAR && share >= FAR_SHARE
}

/// The target between the levels of parent and commit, with half of the step as tolerance.
pub(super) fn between(target: &GuardTarget, effect: &Effect, terms: SearchTerms) -> GuardTarget {
    let [good, bad] = terms.levels(effect);
    let mut own = GuardTarget { baseline: good.clone(), bad: bad.clone(), ..target.clone() };
    if let (Some(good), Some(bad)) = (good.number(), bad.number()) {
        let step = target.guard.worsening(good, bad);
        if step.is_finite() {
            own.limit = step * SHARE;
            // The tolerance is always counted from this baseline.
            let form = match target.guard.direction() {
                Direction::Up => GuardForm::MaxIncrease(own.limit),
                Direction::Any if bad > good => GuardForm::MaxIncrease(own.limit),
                Direction::Down | Direction::Any => GuardForm::MaxDecrease(own.limit),
            };
            own.guard = Guard { form, ..own.guard };
        }
        let scale = target.orientation();
        if let Some(noise) = &mut own.noise
            && !noise.paired
        {
            noise.good = scale.oriented(good);
            noise.bad = scale.oriented(bad);
            own.threshold = Some(f64::midpoint(good, bad));
        }
    }
    own
}

/// What the runs with a part of the change show. A defect that the commit does not have, such as a
/// failure or a far larger step, is [`Shows::Unresolved`]: half of a change may break something
/// that the whole change does not.
pub(super) fn shows(
    judgement: &Judgement,
    seen: &Observation,
    culprit: &Culprit,
    terms: SearchTerms,
) -> Shows {
    let effect = culprit.effects.first().filter(|_| culprit.failure.is_none());
    let shown = match judgement.verdict {
        verdict if terms.is_newer(verdict) => Shows::Difference,
        verdict if terms.is_older(verdict) => Shows::Nothing,
        _ => Shows::Unresolved,
    };
    match (shown, effect) {
        (Shows::Unresolved, _) | (_, None) => shown,
        (_, Some(effect)) => match seen.level(&effect.metric) {
            Some(level) if is_between(effect, &level) => shown,
            _ => Shows::Unresolved,
        },
    }
}

/// Whether a level is between the parent's and the commit's, or beyond them by at most half of the
/// step. A fact must be one of the two.
fn is_between(effect: &Effect, level: &Value) -> bool {
    if *level == effect.parent || *level == effect.commit {
        return true;
    }
    let levels = (effect.parent.number(), effect.commit.number(), level.number());
    let (Some(parent), Some(commit), Some(level)) = levels else { return false };
    let share = (level - parent) / (commit - parent);
    (-SHARE..=1.0 + SHARE).contains(&share)
}

/// Whether a level is the parent's: nothing of the step is left.
pub(super) fn is_none(effect: &Effect, level: &Value) -> bool {
    let levels = (effect.parent.number(), effect.commit.number(), level.number());
    let (Some(parent), Some(commit), Some(level)) = levels else { return effect.parent == *level };
    let nearly = NEARLY * (commit - parent).abs();
    // A guard without a tolerance, such as `unchanged`, allows no difference.
    (level - parent).abs() <= nearly.min(effect.limit.max(0.0))
}

/// Whether a level is the commit's: the parts make the whole step.
pub(super) fn is_whole(effect: &Effect, level: &Value) -> bool {
    let levels = (effect.parent.number(), effect.commit.number(), level.number());
    let is_near = |(parent, commit, level): (Option<f64>, Option<f64>, Option<f64>)| {
        let (parent, commit, level) = (parent?, commit?, level?);
        Some((commit - level).abs() <= NEARLY * (commit - parent).abs())
    };
    effect.commit == *level || is_near(levels) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, Metric, Noise};
    use crate::oracle::fixture::target;

    fn effect(parent: f64, commit: f64) -> Effect {
        Effect {
            metric: Metric::of("ppl"),
            parent: Value::Number(parent),
            commit: Value::Number(commit),
            own_step: Some(commit - parent),
            interval: None,
            limit: 0.1,
            over_text: None,
        }
    }

    #[test]
    fn half_of_the_commits_own_step_is_the_tolerance() {
        let whole = target(GuardForm::MaxIncreasePercent(1.0), 7.0, 9.0);
        let own = between(&whole, &effect(7.5, 8.5), SearchTerms::of(Aim::Regression));
        assert_eq!((own.baseline.number(), own.bad.number()), (Some(7.5), Some(8.5)));
        assert!((own.limit - 0.5).abs() < 1e-12 && !own.guard.form.is_relative());
        // A fix: the parent is the bad side.
        let own = between(&whole, &effect(8.5, 7.5), SearchTerms::of(Aim::Fix));
        assert_eq!((own.baseline.number(), own.bad.number()), (Some(7.5), Some(8.5)));
        // Throughput falls.
        let speed = target(GuardForm::MaxDecrease(1.0), 100.0, 50.0);
        let own = between(&speed, &effect(100.0, 60.0), SearchTerms::of(Aim::Regression));
        assert_eq!(own.guard.form, GuardForm::MaxDecrease(20.0));
        // Any change counts: the guard takes the step's direction.
        let any = target(GuardForm::Unchanged, 7.0, 6.0);
        let own = between(&any, &effect(7.0, 6.0), SearchTerms::of(Aim::Regression));
        assert_eq!(own.guard.form, GuardForm::MaxDecrease(0.5));
        // A value that is no number keeps the hunt's tolerance.
        let own = between(&whole, &effect(7.0, f64::NAN), SearchTerms::of(Aim::Regression));
        assert!((own.limit - whole.limit).abs() < 1e-12);
    }

    #[test]
    fn levels_that_are_far_apart_need_no_runs_of_others() {
        let far = |good: f64, bad: f64, kind, sd| {
            let noise = Noise { kind, good, bad, sd, runs: 4, paired: false, error: 0.001 };
            let plain = target(GuardForm::MaxDecreasePercent(5.0), 100.0, 50.0);
            is_far(&Target::Guard(GuardTarget { noise: Some(noise), ..plain }))
        };
        // Negated logarithms of 100 and of 50 tokens per second.
        assert!(far(-4.6, -3.9, NoiseKind::Log, 0.02));
        assert!(!far(-4.6, -3.9, NoiseKind::Log, 0.2));
        // A machine may drift this far.
        assert!(!far(-4.6, -4.3, NoiseKind::Log, 0.001));
        assert!(far(10.0, 20.0, NoiseKind::Plain, 0.5));
        assert!(!far(10.0, 13.0, NoiseKind::Plain, 0.1));
        assert!(!far(0.0, 1.0, NoiseKind::Breaks, 0.0));
    }

    #[test]
    fn the_whole_step_may_miss_a_tenth() {
        let step = effect(7.0, 8.0);
        for (level, is_it) in [(8.0, true), (7.95, true), (8.05, true), (7.8, false), (7.0, false)]
        {
            assert_eq!(is_whole(&step, &Value::Number(level)), is_it, "{level}");
        }
        let nan = effect(7.0, f64::NAN);
        assert!(!is_whole(&nan, &Value::Number(7.0)));
        // The tolerance of 0.1 is also a tenth of the step.
        for (level, is_it) in [(7.0, true), (7.09, true), (7.11, false), (6.8, false)] {
            assert_eq!(is_none(&step, &Value::Number(level)), is_it, "{level}");
        }
        let large = effect(7.0, 17.0);
        assert!(!is_none(&large, &Value::Number(7.2)));
    }

    #[test]
    fn another_defect_than_the_commits_own_is_no_level_of_the_step() {
        let step = effect(7.0, 8.0);
        for (level, is_it) in [
            (7.0, true),
            (8.0, true),
            (7.6, true),
            (8.4, true),
            (6.6, true),
            (20.0, false),
            (6.0, false),
            (f64::NAN, false),
            (f64::INFINITY, false),
        ] {
            assert_eq!(is_between(&step, &Value::Number(level)), is_it, "{level}");
        }
        // If the commit gives no number, only that and the parent's level count.
        let nan = effect(7.0, f64::NAN);
        assert!(is_between(&nan, &Value::Number(f64::NAN)));
        assert!(!is_between(&nan, &Value::Number(9.0)));
        let fact = |text: &str| Value::Fact(text.to_owned());
        let launch = Effect { parent: fact("384"), commit: fact("128"), ..effect(0.0, 0.0) };
        assert!(is_between(&launch, &fact("128")) && !is_between(&launch, &fact("64")));
    }
}
