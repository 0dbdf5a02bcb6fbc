//! Judges a guard by the share of runs that fail, or that differ from each other. Pure.

use crate::evaluation::{Guard, GuardTarget, Metric, Noise, NoiseKind, Value};
use crate::oracle::Observation;
use crate::search::{CalibrationError, Rates, calibrate_rates, excluded_rise};

use super::guard_check::GuardCheck;
use super::noise::{CONFIDENCE, EndpointPolicy, first_answer, in_figures, in_noise};

/// Bit-identical repeats after which an endpoint's runs count as repeating.
const ALIKE: usize = 8;

/// Judges a metric that passes or fails by its failure rate at each endpoint. `correct`: the value
/// of a run that passes.
pub(super) fn pass_fail(
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
            let rise = 100.0 * excluded_rise(counts, CONFIDENCE);
            let [fails, others] =
                [counts, [good, bad].map(|seen| other_values(seen, &metric, &target))]
                    .map(|counts| counts.map(|(some, runs)| format!("{some} of {runs} runs")));
            GuardCheck::NotBroken(if others == fails {
                let [good, bad] = fails;
                format!(
                    "{told}; it fails in {good} at good and in {bad} at bad, which one failure \
                     rate explains; a rise of the rate by {rise:.0} points or more is excluded, \
                     but no smaller one"
                )
            } else {
                let [[good, bad], [good_other, bad_other]] = [fails, others];
                format!(
                    "{told}; {good_other} at good and {bad_other} at bad show another value than \
                     {}, and {good} at good and {bad} at bad are worse by more than the tolerance; \
                     a rise of this share by {rise:.0} points or more is excluded, but no smaller \
                     one",
                    target.baseline
                )
            })
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

/// How many runs do not show the target's level at the good endpoint, and how many runs there are.
fn other_values(seen: &Observation, metric: &Metric, target: &GuardTarget) -> (usize, usize) {
    let values = seen.values(metric);
    (values.iter().filter(|value| **value != target.baseline).count(), values.len())
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
