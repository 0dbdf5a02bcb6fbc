//! Judges a guard in noise by the levels of the endpoints' runs. Pure.

use std::collections::BTreeSet;

use crate::evaluation::{Guard, GuardTarget, Metric, Noise, NoiseKind, Orientation};
use crate::hunt::strategy::drift_prior;
use crate::oracle::Observation;
use crate::search::{
    self, Calibration, CalibrationError, CalibrationSettings, DriftPrior, calibrate, excluded_rate,
};
use crate::stats;
use crate::store::journal::SearchBy;
use crate::ui::text;

use super::guard_check::{GuardCheck, moved};

/// Runs of each endpoint that separate nearly constant values from noise.
pub(crate) const RUNS_TO_REPEAT: usize = 5;
/// Minimum number of runs of each endpoint to estimate noise.
pub(super) const LEAST: usize = 4;
/// The confidence of an interval, and of an excluded share of runs.
pub(super) const CONFIDENCE: f64 = 0.99;

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

/// The metric's change between the endpoints, for people.
pub(super) fn in_figures(target: &GuardTarget) -> String {
    moved(&target.guard, &target.baseline, &target.bad, target.limit)
}

/// Judges a guard by the levels of both endpoints.
pub(super) fn levels(
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
        "; none of {} of bad is worse by more than the tolerance: worse runs may have been missed \
         if they are less than {:.0} % of the runs",
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
pub(super) fn oriented(seen: &Observation, metric: &Metric, scale: Orientation) -> Vec<f64> {
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
