//! How much of a regression is a commit's own: its step against the worst of its parents.
//! Pure.

use crate::evaluation::{Culprit, Direction, Effect, GuardTarget, Target, Value};
use crate::oracle::Observation;
use crate::stats::{self, Side};

use super::over_text::over_text;

/// The own step of each guard that moved, the largest relative to its limit first, and which
/// parent is the worst.
pub(super) fn effects(
    commit: &Observation,
    parents: &[Observation],
    targets: &[Target],
) -> (Vec<Effect>, usize) {
    let mut found = Vec::new();
    for target in targets {
        if let Target::Guard(target) = target
            && let Some((effect, worst)) = effect(commit, parents, target)
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
) -> Option<(Effect, usize)> {
    let metric = &target.guard.metric;
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
        .max_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)))?;
    let own_step = match (parent.number(), level.number()) {
        (Some(a), Some(b)) => Some(target.guard.worsening(a, b)),
        _ => None,
    };
    let steps = || {
        let theirs = parents[worst].numbers(metric);
        let own = commit.numbers(metric);
        theirs
            .into_iter()
            .flat_map(move |a| own.clone().into_iter().map(move |b| (a, b)))
            .map(|(a, b)| target.guard.worsening(a, b))
    };
    let interval = own_step.map(|_| {
        [steps().fold(f64::INFINITY, f64::min), steps().fold(f64::NEG_INFINITY, f64::max)]
    });
    let effect = Effect {
        metric: metric.clone(),
        parent,
        commit: level,
        own_step,
        interval,
        limit: target.limit,
        over_text: over_text(&parents[worst], commit, target),
    };
    Some((effect, worst))
}

/// On which side bad lies; a metric that must not move at all has none, and is not ranked.
pub(super) fn bad_side(direction: Direction) -> Side {
    match direction {
        Direction::Down => Side::Below,
        Direction::Up | Direction::Any => Side::Above,
    }
}

/// The value midway that parts the good runs from the bad ones, where all of these lie beyond
/// all of those, in the direction that the guard calls worse.
pub(super) fn threshold(good: &[f64], bad: &[f64], direction: Direction) -> Option<f64> {
    stats::separation(good, bad)
        .filter(|threshold| threshold.bad == bad_side(direction))
        .map(|threshold| threshold.at)
}

/// Whether a step is large enough to blame somebody: more than half the guard's limit, or for
/// a fact that it changed.
pub(super) fn is_large(effect: &Effect) -> bool {
    match effect.own_step {
        Some(step) => step > effect.limit.max(0.0) / 2.0,
        None => effect.parent != effect.commit,
    }
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
