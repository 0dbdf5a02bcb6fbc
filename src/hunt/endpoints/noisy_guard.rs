//! Judges a guard from the endpoints' runs if its metric does not repeat bit for bit: by the value
//! that most runs repeat, by failure rates, or by levels. Pure.

use crate::evaluation::{Direction, GuardTarget, Metric, NoiseKind, Orientation, Value};
use crate::hunt::distinct::distinct;
use crate::hunt::two_groups::level_of_better_group;
use crate::oracle::{Observation, Sample};
use crate::store::journal::SearchBy;

use super::guard_check::GuardCheck;
use super::noise::{EndpointPolicy, LEAST, RUNS_TO_REPEAT, in_figures, levels, oriented};
use super::rates::pass_fail;

/// How many of [`RUNS_TO_REPEAT`] runs must be bit-identical.
const REPEATED: usize = 4;

/// Judges a guard whose metric varies. Takes the runs in the order of their dates and stops at the
/// first answer, so that further stored runs change nothing.
pub(crate) fn judge_noisy_guard(
    good: &Observation,
    bad: &Observation,
    target: GuardTarget,
    policy: &EndpointPolicy,
) -> GuardCheck {
    let metric = &target.guard.metric;
    let holds = || GuardCheck::NotBroken(in_figures(&target));
    let runs = good.of(&metric.measure).len().min(bad.of(&metric.measure).len());
    if runs < LEAST {
        return GuardCheck::More;
    }
    if policy.pass_fail.contains(metric) || has_two_values(good, bad, metric) {
        // The most common value at the good endpoint counts as correct.
        let correct = commonest(&good.values(metric));
        return pass_fail(good, bad, target, correct, policy);
    }
    if let Some(correct) = better_group(good, bad, &target) {
        return pass_fail(good, bad, target, correct, policy);
    }
    if policy.by != SearchBy::Posterior
        && runs >= RUNS_TO_REPEAT
        && let (Some(baseline), Some(level)) = (repeated(good, &target), repeated(bad, &target))
    {
        return if target.guard.is_broken(&baseline, &level) {
            let target = GuardTarget { bad: level, ..target.with_good_level(baseline) };
            GuardCheck::Target(Box::new(target))
        } else {
            holds()
        };
    }
    if target.guard.direction() == Direction::Any || target.baseline.number().is_none() {
        // Facts and metrics that must not change at all have no levels.
        return if runs < RUNS_TO_REPEAT {
            GuardCheck::More
        } else {
            GuardCheck::TooNoisy(format!("{metric} does not repeat from run to run"))
        };
    }
    levels(good, bad, target, policy)
}

/// Whether all runs together show two or three values and both endpoints share one value. Then each
/// run counts as pass or fail, not as a level with noise.
fn has_two_values(good: &Observation, bad: &Observation, metric: &Metric) -> bool {
    let (at_good, at_bad) = (distinct(good.values(metric)), distinct(bad.values(metric)));
    let shared = at_good.iter().filter(|value| at_bad.contains(value)).count();
    shared > 0 && (2..=3).contains(&(at_good.len() + at_bad.len() - shared))
}

/// The level of the better runs of good, if runs fall into two groups far apart, and those of bad
/// are in both. Then each run counts as pass or fail too.
fn better_group(good: &Observation, bad: &Observation, target: &GuardTarget) -> Option<Value> {
    if target.guard.direction() == Direction::Any {
        return None;
    }
    let scale = Orientation::of(target.guard.direction(), NoiseKind::Plain);
    let [a, b] = [good, bad].map(|seen| oriented(seen, &target.guard.metric, scale));
    let level = level_of_better_group(&a, &b, target.limit.max(0.0))?;
    Some(Value::Number(if scale.flipped { -level } else { level }))
}

/// The value of the first runs if at least [`REPEATED`] of them are bit-identical.
fn repeated(seen: &Observation, target: &GuardTarget) -> Option<Value> {
    let metric = &target.guard.metric;
    let runs: Vec<&Sample> = seen.of(&metric.measure).iter().take(RUNS_TO_REPEAT).collect();
    let is_common =
        |one: &&&Sample| runs.iter().filter(|run| run.is_alike(one, metric)).count() >= REPEATED;
    runs.iter().find(is_common)?.value(metric)
}

fn commonest(values: &[Value]) -> Value {
    let count = |value: &Value| values.iter().filter(|other| *other == value).count();
    // If several values are equally common, the first one counts.
    let best = values.iter().rev().max_by_key(|value| count(value));
    best.cloned().unwrap_or(Value::Number(0.0))
}
