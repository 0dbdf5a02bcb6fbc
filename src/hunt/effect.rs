//! How much of a change is a commit's own: its step against the parent that is nearest to it,
//! which is the worst one where a regression is hunted. Pure.

use crate::config::Config;
use crate::evaluation::{Aim, Culprit, Direction, Effect, GuardTarget, Target, Value};
use crate::oracle::Observation;
use crate::stats::{self, BadSide};

use super::chunk_differences::over_text;
use super::fresh::{is_spread, samples};

/// Quantile of the normal distribution for a two-sided interval of 95 %.
const NORMAL_95: f64 = 1.96;

/// The own step of each guard that moved, the largest relative to its limit first, and which
/// parent it is measured against.
pub(super) fn effects(
    commit: &Observation,
    parents: &[Observation],
    targets: &[Target],
    config: &Config,
    aim: Aim,
) -> (Vec<Effect>, usize) {
    let mut found = Vec::new();
    for target in targets {
        if let Target::Guard(target) = target
            && let Some((effect, worst)) = effect(commit, parents, target, config, aim)
        {
            found.push((effect, worst));
        }
    }
    found.sort_by(|(a, _), (b, _)| weight(b).total_cmp(&weight(a)));
    let worst = found.first().map_or(0, |(_, worst)| *worst);
    (found.into_iter().map(|(effect, _)| effect).collect(), worst)
}

fn effect(
    commit: &Observation,
    parents: &[Observation],
    target: &GuardTarget,
    config: &Config,
    aim: Aim,
) -> Option<(Effect, usize)> {
    let metric = &target.guard.metric;
    if target.is_rate() {
        return rates(commit, parents, target, config, aim);
    }
    let level = commit.level(metric)?;
    let distance = |value: &Value| match (target.baseline.number(), value.number()) {
        (Some(baseline), Some(x)) => target.guard.worsening(baseline, x),
        _ => f64::from(u8::from(*value != target.baseline)),
    };
    let (worst, parent) = parents
        .iter()
        .enumerate()
        .filter_map(|(index, parent)| Some((index, parent.level(metric)?)))
        // Of equal parents the first: what a merge is commonly compared with.
        .rev()
        .max_by(|(_, a), (_, b)| {
            let [a, b] = aim.swap_if_fix([distance(a), distance(b)]);
            a.total_cmp(&b)
        })?;
    let [from, to] = aim.swap_if_fix([&parent, &level]);
    let own_step = match (from.number(), to.number()) {
        (Some(a), Some(b)) => Some(target.guard.worsening(a, b)),
        _ => None,
    };
    let [good, bad] = aim.swap_if_fix([&parents[worst], commit]);
    let steps = || {
        let (from, to) = (good.numbers(metric), bad.numbers(metric));
        from.into_iter()
            .flat_map(move |a| to.clone().into_iter().map(move |b| (a, b)))
            .map(|(a, b)| target.guard.worsening(a, b))
    };
    let interval = own_step.map(|_| {
        interval_in_noise(good, bad, target, config).unwrap_or_else(|| {
            [steps().fold(f64::INFINITY, f64::min), steps().fold(f64::NEG_INFINITY, f64::max)]
        })
    });
    let effect = Effect {
        metric: metric.clone(),
        parent,
        commit: level,
        own_step,
        interval,
        limit: target.limit,
        over_text: over_text(good, bad, target),
    };
    Some((effect, worst))
}

/// The own step's 95 % interval under the noise that was measured: D̄ ± 1.96·s·√(1/n + 1/m),
/// or ± 1.96·s/√n of pairs, on the oriented scale and from there into the metric's unit.
fn interval_in_noise(
    good: &Observation,
    bad: &Observation,
    target: &GuardTarget,
    config: &Config,
) -> Option<[f64; 2]> {
    let noise = target.noise?;
    let (theirs, own) = (samples(good, target, config).ok()?, samples(bad, target, config).ok()?);
    let (base, level) = (stats::winsorised_mean(&theirs)?, stats::winsorised_mean(&own)?);
    let error = if noise.paired {
        noise.sd / (own.len() as f64).sqrt()
    } else {
        noise.sd * (1.0 / own.len() as f64 + 1.0 / theirs.len() as f64).sqrt()
    };
    let scale = target.orientation();
    let step = |reach: f64| {
        let moved = scale.metric(base + (level - base) + reach * error);
        target.guard.worsening(scale.metric(base), moved)
    };
    Some([step(-NORMAL_95), step(NORMAL_95)])
}

/// How often the commit and the parent nearest to it fail, where a metric only passes or fails.
fn rates(
    commit: &Observation,
    parents: &[Observation],
    target: &GuardTarget,
    config: &Config,
    aim: Aim,
) -> Option<(Effect, usize)> {
    let rate = |seen: &Observation| {
        let samples = samples(seen, target, config).ok()?;
        let failed: f64 = samples.iter().sum();
        let does = if is_spread(target) { "differs" } else { "fails" };
        let told = Value::Fact(format!("{does} in {failed} of {} runs", samples.len()));
        (!samples.is_empty()).then(|| (failed / samples.len() as f64, told))
    };
    let (_, level) = rate(commit)?;
    let seen = parents.iter().enumerate().rev();
    let (worst, (_, parent)) = seen
        .filter_map(|(index, parent)| Some((index, rate(parent)?)))
        .max_by(|(_, (a, _)), (_, (b, _))| {
            let [a, b] = aim.swap_if_fix([a, b]);
            a.total_cmp(b)
        })?;
    let metric = target.guard.metric.clone();
    let [good, bad] = aim.swap_if_fix([&parents[worst], commit]);
    // A limit that is crossed by a small step is crossed now and then as well.
    let small =
        step_between(good, bad, target, config).filter(|step| *step <= blamed_from(target.limit));
    let effect = Effect {
        metric,
        parent,
        commit: level,
        own_step: small,
        interval: None,
        over_text: None,
        limit: small.map_or(0.0, |_| target.limit),
    };
    Some((effect, worst))
}

/// How far apart the numbers are of the runs that keep the guard on the good side and of those
/// that break it on the bad side; `None` where they have none.
fn step_between(
    good: &Observation,
    bad: &Observation,
    target: &GuardTarget,
    config: &Config,
) -> Option<f64> {
    let from = typical(good, target, false, config)?;
    Some(target.guard.worsening(from, typical(bad, target, true, config)?))
}

/// The median of the numbers of the runs that break the guard, or of those that keep it; `None`
/// where they have none, or where a number says nothing but that.
pub(super) fn typical(
    seen: &Observation,
    target: &GuardTarget,
    breaks: bool,
    config: &Config,
) -> Option<f64> {
    let metric = &target.guard.metric;
    if config.passes_or_fails(metric) || is_spread(target) {
        return None;
    }
    let samples = samples(seen, target, config).ok()?;
    let runs = samples.iter().zip(seen.of(&metric.measure));
    let alike = runs.filter(|(sample, _)| (**sample > 0.5) == breaks);
    let numbers = alike.filter_map(|(_, run)| run.value(metric)?.number());
    stats::median(&numbers.filter(|x| x.is_finite()).collect::<Vec<_>>())
}

/// On which side bad lies; a metric that must not move at all has none, and is not ranked.
pub(super) fn bad_side(direction: Direction) -> BadSide {
    match direction {
        Direction::Down => BadSide::Below,
        Direction::Up | Direction::Any => BadSide::Above,
    }
}

/// Whether a step is large enough to blame somebody: more than half the guard's limit, or for
/// a fact that it changed.
pub(super) fn is_large(effect: &Effect) -> bool {
    match effect.own_step {
        Some(step) => step > blamed_from(effect.limit),
        None => effect.parent != effect.commit,
    }
}

/// The step beyond which somebody is blamed.
fn blamed_from(limit: f64) -> f64 {
    limit.max(0.0) / 2.0
}

/// Whether a confirmed first bad commit is to be blamed: it fails, or one of its steps is large.
pub(super) fn is_blamed(culprit: &Culprit) -> bool {
    culprit.failure.is_some() || culprit.effects.iter().any(is_large)
}

/// A step in units of its limit; a failure and a changed fact outweigh every number.
pub(super) fn weight(effect: &Effect) -> f64 {
    match effect.own_step {
        Some(step) if effect.limit > 0.0 => step / effect.limit,
        Some(step) if step <= 0.0 => step,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests;
