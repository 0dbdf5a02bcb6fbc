//! The target of a localisation: whether a part of a change shows the commit's step. Pure.

use crate::evaluation::{
    Culprit, Direction, Effect, Guard, GuardForm, GuardTarget, Judgement, Noise, NoiseKind, Shows,
    Target, Value,
};
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::terms::SearchTerms;
use crate::oracle::Observation;
use crate::store::journal::{SearchBy, SearchMethod};

/// A part shows the step if it makes at least this share of the commit's step.
pub(super) const SHARE: f64 = 0.5;

/// A part makes the whole step if its level is this near to the commit's, as a share of the step.
const NEARLY: f64 = 0.1;

/// In noise, a level this near to the threshold may be on either side of it, in standard deviations
/// of a run.
const NEAR: f64 = 4.0;

/// The same, as a share of the step: in much noise, most levels would be near otherwise.
const NEAR_SHARE: f64 = 0.1;

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
    let whole = Target::Guard(target.clone());
    if !is_judged_alone(&whole, by) && !is_far(&own) {
        let is_choice = by == SearchBy::Posterior && is_judged_alone(&whole, SearchBy::Auto);
        return Err(if is_choice {
            "with `--search posterior`, no part of the change is judged by itself"
        } else {
            "runs vary too much to judge parts of the change one by one"
        });
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
/// that the whole change does not. So is a level that noise may put on either side of the
/// threshold: two tests of about half of the step would contradict each other. `targets`: those of
/// the test.
pub(super) fn shows(
    judgement: &Judgement,
    seen: &Observation,
    culprit: &Culprit,
    targets: &[Target],
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
            Some(level) if is_between(effect, &level) => {
                let target = Target::on(targets, &effect.metric).and_then(Target::guard);
                let is_near = target.is_some_and(|target| is_near_threshold(target, &level));
                if is_near { Shows::Unresolved } else { shown }
            }
            _ => Shows::Unresolved,
        },
    }
}

/// In noise: whether a level is so near to the threshold that another run of the same build may
/// show the other side of it. `target`: see [`between`].
fn is_near_threshold(target: &GuardTarget, level: &Value) -> bool {
    let noise = target.noise.filter(Noise::has_levels);
    let (Some(noise), Some(threshold), Some(level)) = (noise, target.threshold, level.number())
    else {
        return false;
    };
    let scale = target.orientation();
    let off = (scale.oriented(level) - scale.oriented(threshold)).abs();
    off < f64::min(NEAR * noise.sd, NEAR_SHARE * (noise.bad - noise.good).abs())
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
    use crate::evaluation::{Aim, Metric, Verdict};
    use crate::oracle::fixture::{at, culprit, target};

    fn effect(parent: f64, commit: f64) -> Effect {
        Effect {
            metric: Metric::of("ppl"),
            parent: Value::Number(parent),
            commit: Value::Number(commit),
            own_step: Some(commit - parent),
            interval: None,
            limit: 0.1,
            runs: None,
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

    /// What a run of a part shows at this level. The step is from 7 to 8, and the noise has the
    /// standard deviation `sd`; 0 if runs repeat.
    fn shown(level: f64, sd: f64) -> Shows {
        let effects = vec![effect(7.0, 8.0)];
        let culprit = Culprit { effects, ..culprit('2', '1') };
        let terms = SearchTerms::of(Aim::Regression);
        let (kind, good, bad) = (NoiseKind::Plain, 7.0, 8.0);
        let noise = Noise { kind, good, bad, sd, runs: 4, paired: false, error: 0.001 };
        let noise = (sd > 0.0).then_some(noise);
        let whole = GuardTarget { noise, ..target(GuardForm::MaxIncrease(0.1), 7.0, 8.0) };
        let targets = [Target::Guard(between(&whole, &culprit.effects[0], terms))];
        let verdict = if level > 7.5 { Verdict::Bad } else { Verdict::Good };
        let (skip, reason, broken) = (None, String::new(), Vec::new());
        let judgement = Judgement { verdict, skip, reason, broken };
        shows(&judgement, &at('1', &[level]), &culprit, &targets, terms)
    }

    #[test]
    fn in_noise_half_of_the_step_is_neither_the_step_nor_nothing() {
        for level in [7.497, 7.503, 7.49, 7.51] {
            assert_eq!(shown(level, 0.003), Shows::Unresolved, "{level}");
        }
        assert_eq!([7.48, 7.0].map(|level| shown(level, 0.003)), [Shows::Nothing; 2]);
        assert_eq!([7.52, 8.0].map(|level| shown(level, 0.003)), [Shows::Difference; 2]);
        // In much noise, a tenth of the step on either side.
        assert_eq!([7.41, 7.59].map(|level| shown(level, 0.12)), [Shows::Unresolved; 2]);
        assert_eq!(shown(7.39, 0.12), Shows::Nothing);
        assert_eq!(shown(7.61, 0.12), Shows::Difference);
        // Values that repeat are on one side.
        assert_eq!(shown(7.499, 0.0), Shows::Nothing);
        assert_eq!(shown(7.501, 0.0), Shows::Difference);
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
