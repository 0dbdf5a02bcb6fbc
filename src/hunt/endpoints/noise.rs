//! Judges a guard from the endpoints' runs if its metric does not repeat bit for bit. Pure.

use std::collections::BTreeSet;

use crate::evaluation::{
    Direction, Guard, GuardTarget, Metric, Noise, NoiseKind, Orientation, Value,
};
use crate::hunt::distinct::distinct;
use crate::hunt::strategy::drift_prior;
use crate::hunt::two_groups::level_of_better_group;
use crate::oracle::{Observation, Sample};
use crate::search::{
    self, Calibration, CalibrationError, CalibrationSettings, DriftPrior, Rates, calibrate,
    calibrate_rates, excluded_rate, excluded_rise,
};
use crate::stats;
use crate::store::journal::SearchBy;
use crate::ui::text;

use super::guard_check::{GuardCheck, moved};

/// Runs of each endpoint that separate nearly constant values from noise.
pub(crate) const RUNS_TO_REPEAT: usize = 5;
/// How many of these `RUNS_TO_REPEAT` runs must be bit-identical.
const REPEATED: usize = 4;
/// Bit-identical repeats after which an endpoint's runs count as repeating.
const ALIKE: usize = 8;
/// Minimum number of runs of each endpoint to estimate noise.
const LEAST: usize = 4;
/// The confidence of an interval, and of an excluded share of runs.
const CONFIDENCE: f64 = 0.99;

/// How a hunt judges the endpoints' runs in noise.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndpointPolicy {
    /// Metrics that can only pass or fail.
    pub(crate) pass_fail: BTreeSet<Metric>,
    /// Whether git or the posterior chooses the commits.
    pub(crate) by: SearchBy,
    /// Whether the hunt looks for a change of reproducibility instead of a broken guard.
    pub(crate) is_spread: bool,
    /// Allowed probability of either error in the sequential test of one commit.
    pub(crate) error: f64,
    /// Measures whose runs must all run the same checks.
    pub(crate) same_checks: Vec<String>,
}

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

/// The metric's change between the endpoints, for people.
fn in_figures(target: &GuardTarget) -> String {
    moved(&target.guard, &target.baseline, &target.bad, target.limit)
}

/// The value of the first runs if at least `REPEATED` of them are bit-identical.
fn repeated(seen: &Observation, target: &GuardTarget) -> Option<Value> {
    let metric = &target.guard.metric;
    let runs: Vec<&Sample> = seen.of(&metric.measure).iter().take(RUNS_TO_REPEAT).collect();
    let is_common =
        |one: &&&Sample| runs.iter().filter(|run| run.is_alike(one, metric)).count() >= REPEATED;
    runs.iter().find(is_common)?.value(metric)
}

fn levels(
    good: &Observation,
    bad: &Observation,
    target: GuardTarget,
    policy: &EndpointPolicy,
) -> GuardCheck {
    let metric = &target.guard.metric.clone();
    let is_positive = |seen: &Observation| seen.numbers(metric).iter().all(|x| *x > 0.0);
    let is_log = target.guard.form.is_relative() && is_positive(good) && is_positive(bad);
    let kind = if is_log { NoiseKind::Log } else { NoiseKind::Plain };
    let target = in_noise(target, kind, policy);
    let [a, b] = [good, bad].map(|seen| oriented(seen, metric, target.orientation()));
    let rule = rule(&target, policy.by);
    let settled = first_answer(&a, &b, |good, bad| calibrate(good, bad, rule));
    let told = || match search::interval(&a, &b, rule) {
        Some(interval) => {
            format!("{}, 99 % CI {}", in_figures(&target), in_units(&target, interval))
        }
        None => in_figures(&target),
    };
    match settled {
        Ok(found) => {
            let target = with_levels(target, &found);
            let baseline = target.baseline.clone();
            // The guard counts from the level that is shown, so its tolerance does too.
            GuardCheck::Target(Box::new(target.with_good_level(baseline)))
        }
        Err(CalibrationError::More) => GuardCheck::More,
        Err(CalibrationError::NoDifference) => {
            GuardCheck::NotBroken(told() + &excluded_share(&a, &b, rule.tolerance))
        }
        Err(CalibrationError::TooNoisy { needed }) => {
            GuardCheck::TooNoisy(too_noisy(&target, good, bad, &told(), needed))
        }
    }
}

/// The part of a sentence that says which share of bad runs the bad endpoint cannot have: a few runs
/// seldom show a rare bad run. Empty if a run is bad.
fn excluded_share(good: &[f64], bad: &[f64], tolerance: f64) -> String {
    let is_within = |level: f64| bad.iter().all(|run| run - level <= tolerance);
    if !stats::winsorised_mean(good).is_some_and(is_within) {
        return String::new();
    }
    format!(
        "; none of {} of bad is worse by more than the tolerance, which excludes a share of such \
         runs of {:.0} % or more, but no smaller one",
        text::plural(bad.len(), "run"),
        100.0 * excluded_rate(bad.len(), CONFIDENCE)
    )
}

/// Whether bad is better than good by more than the noise: the whole interval of the change is on
/// the better side. True too if there are too few runs for an interval.
pub(super) fn is_better_than_noise(good: &Observation, bad: &Observation, guard: &Guard) -> bool {
    let scale = Orientation::of(guard.direction(), NoiseKind::Plain);
    let [a, b] = [good, bad].map(|seen| oriented(seen, &guard.metric, scale));
    let rule = CalibrationSettings { tolerance: 0.0, drift: DriftPrior::Never, paired: false };
    search::interval(&a, &b, rule).is_none_or(|[_, highest]| highest < 0.0)
}

/// A metric's finite numbers on this scale, where larger is worse.
fn oriented(seen: &Observation, metric: &Metric, scale: Orientation) -> Vec<f64> {
    seen.numbers(metric).into_iter().map(|x| scale.oriented(x)).collect()
}

/// Formats an interval of the oriented change in percent or in the metric's unit.
fn in_units(target: &GuardTarget, [low, high]: [f64; 2]) -> String {
    let scale = target.orientation();
    let sign = if scale.flipped { -1.0 } else { 1.0 };
    let [low, high] = if scale.flipped { [high, low] } else { [low, high] };
    if scale.log {
        let percent = |x: f64| 100.0 * ((sign * x).exp() - 1.0);
        format!("{:+.2} … {:+.2} %", percent(low), percent(high))
    } else {
        format!("{:+.4} … {:+.4}", sign * low, sign * high)
    }
}

/// The rule by which this target's levels are calibrated.
pub(crate) fn rule(target: &GuardTarget, by: SearchBy) -> CalibrationSettings {
    CalibrationSettings {
        tolerance: target.oriented_limit(),
        // Verdicts for git compare levels, so pairs would be of no use.
        drift: if by == SearchBy::GitBisect { DriftPrior::Never } else { drift_prior(target) },
        paired: false,
    }
}

/// Tries the first n runs of good and of bad, for growing n, until the answer is not `More`.
pub(super) fn first_answer<T>(
    good: &[f64],
    bad: &[f64],
    ask: impl Fn(&[f64], &[f64]) -> Result<T, CalibrationError>,
) -> Result<T, CalibrationError> {
    let answers = (LEAST..=good.len().min(bad.len())).map(|n| ask(&good[..n], &bad[..n]));
    let mut settled = answers.filter(|answer| !matches!(answer, Err(CalibrationError::More)));
    settled.next().unwrap_or(Err(CalibrationError::More))
}

/// The target with noise of this kind. The numbers of the noise stay 0 until the calibration.
pub(super) fn in_noise(
    target: GuardTarget,
    kind: NoiseKind,
    policy: &EndpointPolicy,
) -> GuardTarget {
    let error = policy.error;
    let empty = Noise { kind, good: 0.0, bad: 0.0, sd: 0.0, runs: 0, paired: false, error };
    GuardTarget { noise: Some(empty), ..target }
}

/// The target with a calibration's levels, which are also converted to the metric's unit.
pub(crate) fn with_levels(target: GuardTarget, found: &Calibration) -> GuardTarget {
    let Some(old) = target.noise else { return target };
    let noise = Noise {
        good: found.levels.good,
        bad: found.levels.bad,
        sd: found.levels.sd,
        runs: found.runs,
        paired: found.paired,
        ..old
    };
    let mut target = GuardTarget { noise: Some(noise), ..target };
    let middle = f64::midpoint(noise.good, noise.bad);
    target.threshold = target.level(middle).number();
    target.bad = target.level(noise.bad);
    if !noise.paired {
        target.baseline = target.level(noise.good);
    }
    target
}

fn too_noisy(
    target: &GuardTarget,
    good: &Observation,
    bad: &Observation,
    said: &str,
    needed: Option<usize>,
) -> String {
    let metric = &target.guard.metric;
    let runs = good.numbers(metric).len().min(bad.numbers(metric).len());
    let seconds: f64 = [good, bad]
        .iter()
        .flat_map(|seen| seen.of(&metric.measure))
        .map(|sample| sample.used.wall_s)
        .sum::<f64>()
        / (2 * runs).max(1) as f64;
    let needs = match needed {
        Some(needed) => format!(
            "; about {needed} runs of each endpoint would tell, which takes {:.1} hours",
            2.0 * needed as f64 * seconds / 3600.0
        ),
        None => String::new(),
    };
    format!(
        "{said}, but the endpoints' runs overlap ({} at good, {} at bad, {runs} runs each){needs}",
        range(&good.numbers(metric)),
        range(&bad.numbers(metric))
    )
}

fn range(values: &[f64]) -> String {
    let [low, high] = stats::min_max(values.iter().copied()).unwrap_or([f64::NAN; 2]);
    format!("{} to {}", text::figure(low), text::figure(high))
}

/// Judges a metric that passes or fails by its failure rate at each endpoint. `correct`: the value
/// of a run that passes.
fn pass_fail(
    good: &Observation,
    bad: &Observation,
    target: GuardTarget,
    correct: Value,
    policy: &EndpointPolicy,
) -> GuardCheck {
    let metric = target.guard.metric.clone();
    let told = in_figures(&target);
    let target = target.with_good_level(correct);
    let breaks = |seen: &Observation| -> Vec<f64> {
        let values = seen.values(&metric);
        let broken = |value: &Value| target.guard.is_broken(&target.baseline, value);
        values.iter().map(|value| f64::from(u8::from(broken(value)))).collect()
    };
    let (a, b) = (breaks(good), breaks(bad));
    match settle_rates(&a, &b) {
        Ok((rates, n)) => GuardCheck::Target(Box::new(with_rates(
            in_noise(target, NoiseKind::Breaks, policy),
            rates,
            n,
        ))),
        Err(CalibrationError::More) => GuardCheck::More,
        Err(CalibrationError::NoDifference) => {
            let count = |x: &[f64]| (x.iter().filter(|run| **run > 0.5).count(), x.len());
            let counts = [count(&a), count(&b)];
            let [good, bad] = counts.map(|(failed, runs)| format!("{failed} of {runs} runs"));
            GuardCheck::NotBroken(format!(
                "{told}; it fails in {good} at good and in {bad} at bad, which one failure rate \
                 explains; a rise of the rate by {:.0} points or more is excluded, but no smaller \
                 one",
                100.0 * excluded_rise(counts, CONFIDENCE)
            ))
        }
        Err(CalibrationError::TooNoisy { .. }) => {
            let percent = |x: &[f64]| 100.0 * x.iter().sum::<f64>() / x.len() as f64;
            GuardCheck::TooNoisy(format!(
                "{metric} fails in {:.0} % of the runs at good and {:.0} % at bad, which may be \
                 chance",
                percent(&a),
                percent(&b)
            ))
        }
    }
}

/// The two failure rates, and the number of runs of each endpoint behind them.
fn settle_rates(good: &[f64], bad: &[f64]) -> Result<(Rates, usize), CalibrationError> {
    first_answer(good, bad, |good, bad| Ok((calibrate_rates(good, bad)?, good.len())))
}

/// The target with these rates. `runs`: the number of runs of each endpoint.
pub(crate) fn with_rates(target: GuardTarget, rates: Rates, runs: usize) -> GuardTarget {
    let Some(old) = target.noise else { return target };
    let noise = Noise { good: rates.good, bad: rates.bad, runs, ..old };
    GuardTarget { noise: Some(noise), ..target }
}

/// Judges by the share of runs that are not bit-identical to their endpoint's first run.
pub(crate) fn judge_spread(
    good: &Observation,
    bad: &Observation,
    guard: &Guard,
    policy: &EndpointPolicy,
) -> GuardCheck {
    let metric = &guard.metric;
    let (Some(baseline), Some(level)) =
        (good.values(metric).into_iter().next(), bad.values(metric).into_iter().next())
    else {
        return GuardCheck::NotBroken(format!("the runs did not yield {metric}"));
    };
    let target = GuardTarget::between(guard, baseline, level, good.text(&metric.measure));
    let differs = |seen: &Observation| -> Vec<f64> {
        let mut readings = seen.readings(&metric.measure);
        let Some(first) = readings.next() else { return Vec::new() };
        readings.map(|reading| f64::from(u8::from(!first.same_bits(reading)))).collect()
    };
    let (a, b) = (differs(good), differs(bad));
    match settle_rates(&a, &b) {
        Ok((rates, n)) => GuardCheck::Target(Box::new(with_rates(
            in_noise(target, NoiseKind::Differs, policy),
            rates,
            n,
        ))),
        // Fewer than eight repeats, or a difference between repeats, need more runs.
        Err(CalibrationError::More) if a.len() < ALIKE || a.iter().chain(&b).any(|x| *x > 0.0) => {
            GuardCheck::More
        }
        Err(CalibrationError::More | CalibrationError::NoDifference) => {
            GuardCheck::NotBroken(format!(
                "repeats of {metric} differ in {} of {} runs at good and {} of {} at bad",
                a.iter().sum::<f64>(),
                a.len(),
                b.iter().sum::<f64>(),
                b.len()
            ))
        }
        Err(CalibrationError::TooNoisy { .. }) => GuardCheck::TooNoisy(format!(
            "repeats of {metric} differ at good nearly as often as at bad"
        )),
    }
}

fn commonest(values: &[Value]) -> Value {
    let count = |value: &Value| values.iter().filter(|other| *other == value).count();
    // If several values are equally common, the first one counts.
    let best = values.iter().rev().max_by_key(|value| count(value));
    best.cloned().unwrap_or(Value::Number(0.0))
}
