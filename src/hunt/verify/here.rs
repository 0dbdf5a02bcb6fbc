//! Turns the target of a report into one for this machine. Levels and noise may differ from the
//! report's, so the baseline is the level of the good side as measured here. Pure.

use crate::evaluation::{GuardTarget, Noise, NoiseKind, Orientation, Value};
use crate::search::Step;
use crate::stats::{mean, variance};

/// Fresh samples of both sides in the order of their runs, on the oriented scale (larger is worse).
pub(super) struct Fresh<'a> {
    /// Of the good side.
    pub good: &'a [f64],
    /// Of the bad side.
    pub bad: &'a [f64],
}

/// The kind of samples for values that repeated in the hunt and do not repeat here.
pub(super) fn kind(target: &GuardTarget) -> NoiseKind {
    if target.guard.form.is_relative() { NoiseKind::Log } else { NoiseKind::Plain }
}

/// The target with its baseline here, and the whole tolerance. The words around the values may be
/// others here, since lines may name the machine.
pub(super) fn whole(target: &GuardTarget, baseline: Value) -> GuardTarget {
    // A guard that was no target has no baseline of a hunt.
    let is_of_hunt = !target.guard.form.name().is_from_baseline() && target.limit.is_finite();
    let limit = match baseline.number() {
        Some(x) if !is_of_hunt => target.guard.limit(x),
        _ => target.limit,
    };
    GuardTarget { baseline, limit, threshold: None, forms: None, places: None, ..target.clone() }
}

/// The target with half its tolerance. A hunt blames a commit only for a larger step than that.
pub(super) fn half(target: &GuardTarget) -> GuardTarget {
    GuardTarget { limit: target.limit.max(0.0) / 2.0, ..target.clone() }
}

/// The step between the two levels of a report, on the oriented scale. `None` if a level is no
/// number, or if the metric did not get worse.
pub(super) fn reported_step(scale: Orientation, good: &Value, bad: &Value) -> Option<f64> {
    let step = scale.oriented(bad.number()?) - scale.oriented(good.number()?);
    (step.is_finite() && step > 0.0).then_some(step)
}

/// The target with levels and noise as they are here, and the step to test fresh pairs for.
///
/// The noise is the larger one of the report's noise and the noise seen here, because an estimate
/// from few runs is too small as often as too large. If the report's runs are paired, the good
/// side's level may drift, so it counts as 0.
pub(super) fn with_noise(
    target: &GuardTarget,
    step: f64,
    reported: Option<Noise>,
    fresh: &Fresh<'_>,
) -> (GuardTarget, Step) {
    let of_hunt = reported.map_or(0.0, |noise| noise.sd_of_difference());
    let differences: Vec<f64> = fresh.good.iter().zip(fresh.bad).map(|(g, b)| b - g).collect();
    let here = if differences.len() > 1 { variance(&differences).sqrt() } else { 0.0 };
    // Without any noise the test would divide by zero.
    let sd = of_hunt.max(here).max(step * 1e-3);
    let is_paired = reported.is_some_and(|noise| noise.paired);
    let good = if is_paired { 0.0 } else { mean(fresh.good).unwrap_or(0.0) };
    let noise = Noise {
        kind: reported.map_or_else(|| kind(target), |noise| noise.kind),
        good,
        bad: good + step,
        sd: if is_paired { sd } else { sd / std::f64::consts::SQRT_2 },
        runs: fresh.good.len(),
        paired: is_paired,
        error: reported.map_or(0.005, |noise| noise.error),
    };
    let judged = GuardTarget { noise: Some(noise), forms: None, places: None, ..target.clone() };
    (judged, Step::Size { step, sd })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::target;

    #[test]
    fn a_tolerance_in_percent_is_of_the_level_here() {
        let reported = target(GuardForm::MaxDecreasePercent(10.0), 200.0, 150.0);
        let here = whole(&reported, Value::Number(50.0));
        assert!((here.limit - 5.0).abs() < 1e-9);
        assert!((half(&here).limit - 2.5).abs() < 1e-9);
        // An absolute threshold stays as far from the hunt's baseline as it was.
        let absolute = target(GuardForm::Max(7.5), 7.0, 8.0);
        assert!((whole(&absolute, Value::Number(7.4)).limit - absolute.limit).abs() < 1e-12);
    }

    #[test]
    fn the_step_of_a_speed_is_a_ratio() {
        let reported = target(GuardForm::MaxDecreasePercent(10.0), 200.0, 150.0);
        let scale = Orientation::of(reported.guard.direction(), kind(&reported));
        let [good, bad] = [200.0, 150.0].map(Value::Number);
        let step = reported_step(scale, &good, &bad).unwrap();
        assert!((step - (200.0_f64 / 150.0).ln()).abs() < 1e-12);
        assert!(reported_step(scale, &bad, &good).is_none());
        assert!(reported_step(scale, &good, &Value::Number(f64::NAN)).is_none());
    }

    #[test]
    fn the_larger_noise_counts() {
        let reported = target(GuardForm::MaxIncrease(0.2), 7.0, 7.5);
        let noise = |sd| Noise {
            kind: NoiseKind::Plain,
            good: 7.0,
            bad: 7.5,
            sd,
            runs: 4,
            paired: false,
            error: 0.001,
        };
        let fresh = Fresh { good: &[7.0, 7.2, 7.0], bad: &[7.5, 7.5, 7.7] };
        let of = |sd| match with_noise(&reported, 0.5, Some(noise(sd)), &fresh) {
            (target, Step::Size { sd, .. }) => (target.noise.unwrap(), sd),
            _ => panic!(),
        };
        // Differences 0.5, 0.3, 0.7: a deviation of 0.2.
        let (kept, sd) = of(0.01);
        assert!((sd - 0.2).abs() < 1e-12);
        assert!((kept.bad - kept.good - 0.5).abs() < 1e-12);
        assert!((of(1.0).1 - std::f64::consts::SQRT_2).abs() < 1e-12);
    }
}
