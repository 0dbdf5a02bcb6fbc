//! The own step of a commit: its change against the parent with the nearest level. For a regression
//! that is the worst parent. Pure.

use crate::config::Config;
use crate::evaluation::{Culprit, Direction, Effect, GuardTarget, Target, Value, exceeds_limit};
use crate::hunt::samples::{is_spread, samples};
use crate::hunt::terms::{NearestStep, SearchTerms};
use crate::oracle::Observation;
use crate::search::FreshPairs;
use crate::stats::{self, BadSide};

use super::chunk_differences::{over_text, with_noise};

/// Quantile of the normal distribution for a two-sided interval of 95 %.
pub(crate) const NORMAL_95: f64 = 1.96;

/// The own steps, one for each guard with a level. The largest in units of its tolerance comes
/// first. Also returns the index of the parent for the largest.
pub(crate) fn effects(
    commit: &Observation,
    parents: &[Observation],
    targets: &[Target],
    config: &Config,
    terms: SearchTerms,
) -> (Vec<Effect>, usize) {
    let mut found = Vec::new();
    for target in targets {
        if let Target::Guard(target) = target
            && let Some((effect, worst)) = effect(commit, parents, target, config, terms)
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
    terms: SearchTerms,
) -> Option<(Effect, usize)> {
    let metric = &target.guard.metric;
    if target.is_rate() {
        return rates(commit, parents, target, config, terms);
    }
    let level = commit.level(metric)?;
    let distance = |value: &Value| match (target.baseline.number(), value.number()) {
        (Some(baseline), Some(x)) => target.guard.worsening(baseline, x),
        _ => f64::from(u8::from(*value != target.baseline)),
    };
    let step = terms.nearest_step(parents, commit, |one| Some(distance(&one.level(metric)?)))?;
    let NearestStep { parent: worst, good, bad } = step;
    let parent = parents[worst].level(metric)?;
    let moved = step_with_interval(good, bad, target);
    let over_text = over_text(good, bad, target).and_then(|text| match (target.noise, moved) {
        (Some(_), Some((step, Some(interval)))) => with_noise(&text, step, interval),
        (Some(_), _) => None,
        (None, _) => Some(text),
    });
    let runs = [&parents[worst], commit].map(|seen| seen.numbers(metric).len());
    let effect = Effect {
        metric: metric.clone(),
        parent,
        commit: level,
        own_step: moved.map(|(step, _)| step),
        interval: moved.and_then(|(_, interval)| interval),
        limit: target.limit,
        runs: target.noise.map(|_| runs),
        over_text,
    };
    Some((effect, worst))
}

/// The step from the good to the bad side, and its interval, in the metric's unit. Both are of the
/// same two levels, so the interval contains the step. In noise it is the 95 % interval, otherwise
/// the range over all pairs of runs. `None` if a level is not a number.
fn step_with_interval(
    good: &Observation,
    bad: &Observation,
    target: &GuardTarget,
) -> Option<(f64, Option<[f64; 2]>)> {
    let metric = &target.guard.metric;
    let [from, to] = [good, bad].map(|seen| seen.level(metric)?.number());
    let levels = [from?, to?];
    let step = target.guard.worsening(levels[0], levels[1]);
    let [theirs, own] = [good, bad].map(|seen| seen.numbers(metric));
    let pairs = theirs.iter().flat_map(|a| own.iter().map(move |b| (*a, *b)));
    let steps = pairs.map(|(a, b)| target.guard.worsening(a, b));
    let interval = interval_in_noise(levels, [theirs.len(), own.len()], target)
        .or_else(|| stats::min_max(steps));
    // Rounding of a logarithm, or a move in the direction that the guard ignores, may put the step
    // just outside the interval. Then the interval is widened to contain it.
    let with_step = |[low, high]: [f64; 2]| {
        if step.is_finite() { [low.min(step), high.max(step)] } else { [low, high] }
    };
    let interval = interval.map(with_step);
    Some((step, interval))
}

/// The 95 % interval of a step between two levels under the measured noise, in the metric's unit;
/// `None` without noise. A level is a median. It varies as much as the mean of fewer runs: n and m
/// are these smaller numbers of runs. On the oriented scale the interval is δ ± 1.96·s·√(1/n + 1/m), or
/// δ ± 1.96·s/√n for pairs. δ: difference of the levels; s: noise.
fn interval_in_noise(
    [from, to]: [f64; 2],
    runs: [usize; 2],
    target: &GuardTarget,
) -> Option<[f64; 2]> {
    let noise = target.noise?;
    let [theirs, own] = runs.map(stats::runs_of_equal_mean);
    let error = if noise.paired {
        noise.sd / own.sqrt()
    } else {
        noise.sd * (1.0 / own + 1.0 / theirs).sqrt()
    };
    let scale = target.orientation();
    let end = |reach: f64| {
        let moved = scale.metric(scale.oriented(to) + reach * error);
        target.guard.worsening(from, moved)
    };
    Some([end(-NORMAL_95), end(NORMAL_95)]).filter(|ends| ends.iter().all(|x| x.is_finite()))
}

/// How often the commit and its nearest parent fail, for a target judged by rates.
fn rates(
    commit: &Observation,
    parents: &[Observation],
    target: &GuardTarget,
    config: &Config,
    terms: SearchTerms,
) -> Option<(Effect, usize)> {
    let rate = |seen: &Observation| {
        let samples = samples(seen, target, config).ok()?;
        let failed: f64 = samples.iter().sum();
        let does = target.counted_run();
        let told = Value::Fact(format!("{does} in {failed} of {} runs", samples.len()));
        (!samples.is_empty()).then(|| (failed / samples.len() as f64, told))
    };
    let (_, level) = rate(commit)?;
    let step = terms.nearest_step(parents, commit, |one| Some(rate(one)?.0))?;
    let NearestStep { parent: worst, good, bad } = step;
    let (_, parent) = rate(&parents[worst])?;
    let metric = target.guard.metric.clone();
    // If the values move by a small step only, some runs cross the threshold all the same. The
    // effect then reports that step, and no commit is blamed for it.
    let small =
        step_between(good, bad, target, config).filter(|step| *step <= blamed_from(target.limit));
    let effect = Effect {
        metric,
        parent,
        commit: level,
        own_step: small,
        interval: None,
        runs: None,
        over_text: None,
        limit: small.map_or(0.0, |_| target.limit),
    };
    Some((effect, worst))
}

/// The difference between the good side's runs that keep the guard and the bad side's runs that
/// break it, in the metric's unit; `None` without numbers.
fn step_between(
    good: &Observation,
    bad: &Observation,
    target: &GuardTarget,
    config: &Config,
) -> Option<f64> {
    let from = typical(good, target, false, config)?;
    Some(target.guard.worsening(from, typical(bad, target, true, config)?))
}

/// The median of the runs that break the guard (`breaks`) or of those that keep it; `None` without
/// numbers, or if the number only says pass or fail.
pub(crate) fn typical(
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

/// The direction in which values are bad; above for a metric that must not move at all.
pub(crate) fn bad_side(direction: Direction) -> BadSide {
    match direction {
        Direction::Down => BadSide::Below,
        Direction::Up | Direction::Any => BadSide::Above,
    }
}

/// Whether a step is large enough to blame a commit: more than half the tolerance. A changed fact
/// counts as large.
pub(crate) fn is_large(effect: &Effect) -> bool {
    is_larger_than(effect, blamed_from(effect.limit))
}

/// Whether a step exceeds this limit, or turns one fact into another.
pub(super) fn is_larger_than(effect: &Effect, limit: f64) -> bool {
    match effect.own_step {
        Some(step) => {
            let levels = [&effect.parent, &effect.commit];
            let levels = levels.map(|level| level.number().unwrap_or_default());
            exceeds_limit(step, limit, levels)
        }
        None => effect.parent != effect.commit,
    }
}

/// Whether the step of fresh pairs is surely large enough to blame the commit (`true`) or surely
/// too small; `None` while more pairs are needed.
pub(super) fn is_surely_large(pairs: &FreshPairs, target: &GuardTarget) -> Option<bool> {
    pairs.is_larger_than(blamed_from(target.oriented_limit()))
}

/// A commit is blamed if its step is larger than this. `limit`: the guard's tolerance, in the unit
/// of the step.
pub(crate) fn blamed_from(limit: f64) -> f64 {
    limit.max(0.0) / 2.0
}

/// Whether a confirmed first bad commit is to be blamed: it fails, or one of its steps is large.
pub(crate) fn is_blamed(culprit: &Culprit) -> bool {
    culprit.failure.is_some() || culprit.effects.iter().any(is_large)
}

/// A step in units of its tolerance. Infinite for a fact, and for a step towards worse with a
/// tolerance of 0.
pub(crate) fn weight(effect: &Effect) -> f64 {
    match effect.own_step {
        Some(step) if effect.limit > 0.0 => step / effect.limit,
        Some(step) if step <= 0.0 => step,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests;
