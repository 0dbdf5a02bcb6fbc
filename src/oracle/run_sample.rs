//! Turns one run into a sample where larger is worse, for a search in noise.

use crate::config::{Config, Policy};
use crate::evaluation::{Failure, GuardTarget, NoiseKind, SkipReason};
use crate::search::Levels;

use super::untestable::{incomparable, other_checks, policy_of, skip_reason};
use super::{Observation, Sample};

/// A bad run without a number (NaN, for example) gets the bad level plus this many standard
/// deviations.
const WORST: f64 = 2.5;

/// A run's sample, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RunSample {
    /// The sample; larger is worse.
    Sample(f64),
    /// The commit cannot be measured.
    Untestable(SkipReason, String),
}

impl GuardTarget {
    /// The levels of this target; `None` without noise and for failure rates.
    pub(crate) fn levels(&self) -> Option<Levels> {
        let noise = self.noise.filter(|noise| !noise.kind.is_rate())?;
        Some(Levels { good: noise.good, bad: noise.bad, sd: noise.sd })
    }
}

/// The sample of a commit's run number `place`, for a target in noise.
pub(crate) fn run_sample(
    seen: &Observation,
    target: &GuardTarget,
    place: usize,
    config: &Config,
) -> RunSample {
    let samples = seen.of(&target.guard.metric.measure);
    let Some(sample) = samples.get(place) else {
        return RunSample::Untestable(SkipReason::Unreadable, "it was not measured".to_owned());
    };
    if let Some(sought) = &target.failure {
        return fails(sample, sought, target);
    }
    let kind = target.noise.map_or(NoiseKind::Plain, |noise| noise.kind);
    match (&sample.result, sample.value(&target.guard.metric)) {
        (Err(failure), _) => failed(failure, sample, target, config),
        (Ok(_), None) => RunSample::Untestable(
            SkipReason::Unreadable,
            format!("{} was not printed by the run", target.guard.metric),
        ),
        (Ok(reading), Some(value)) => match incomparable(reading, target, samples) {
            Some((why, reason)) => RunSample::Untestable(why, reason),
            None => RunSample::Sample(match kind {
                NoiseKind::Breaks | NoiseKind::Fails => {
                    f64::from(u8::from(target.guard.is_broken(&target.baseline, &value)))
                }
                NoiseKind::Differs => {
                    let first = samples.first().and_then(|sample| sample.result.as_ref().ok());
                    f64::from(u8::from(first.is_some_and(|first| !first.same_bits(reading))))
                }
                NoiseKind::Plain | NoiseKind::Log => {
                    let x = value.number().map_or(f64::NAN, |x| target.orientation().oriented(x));
                    if x.is_finite() { x } else { worst(target) }
                }
            }),
        },
    }
}

/// The sample where a failure is sought by its rate. A run that does not fail is good, whatever it
/// prints; a run that fails otherwise tells nothing.
fn fails(sample: &Sample, sought: &Failure, target: &GuardTarget) -> RunSample {
    match &sample.result {
        Err(failure) if sample.starved => {
            RunSample::Untestable(SkipReason::Resource, failure.detail.clone())
        }
        Err(failure) if sought.is_same_failure(failure) => RunSample::Sample(1.0),
        Err(failure) => RunSample::Untestable(skip_reason(failure.kind), failure.detail.clone()),
        Ok(reading) => {
            let measure = &target.guard.metric.measure;
            match other_checks(reading, target.checks.as_ref(), measure) {
                Some(reason) => RunSample::Untestable(SkipReason::OtherChecks, reason),
                None => RunSample::Sample(0.0),
            }
        }
    }
}

fn failed(failure: &Failure, sample: &Sample, target: &GuardTarget, config: &Config) -> RunSample {
    if sample.starved {
        return RunSample::Untestable(SkipReason::Resource, failure.detail.clone());
    }
    match policy_of(failure, target, config) {
        Policy::Bad => RunSample::Sample(worst(target)),
        Policy::Skip => RunSample::Untestable(skip_reason(failure.kind), failure.detail.clone()),
    }
}

fn worst(target: &GuardTarget) -> f64 {
    let Some(levels) = target.levels() else { return 1.0 };
    let is_paired = target.noise.is_some_and(|noise| noise.paired);
    // In paired searches levels are relative to the baseline, but samples are not.
    let zero = target.baseline.number().filter(|_| is_paired);
    zero.map_or(0.0, |x| target.orientation().oriented(x)) + levels.bad + WORST * levels.sd
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm, Noise, Orientation};
    use crate::oracle::fixture::{config, failed, failure, ppl, seen, target};

    /// The sample of a NaN run, and the bad level on the oriented scale.
    fn nan(form: GuardForm, bad: f64, paired: bool) -> (f64, f64) {
        let mut target = target(form, 200.0, bad);
        let scale = Orientation::of(target.guard.direction(), NoiseKind::Log);
        let (good, bad) = (scale.oriented(200.0), scale.oriented(bad));
        let [good, bad] = if paired { [0.0, bad - good] } else { [good, bad] };
        let noise =
            Noise { kind: NoiseKind::Log, good, bad, sd: 0.01, runs: 4, paired, error: 0.001 };
        target.noise = Some(noise);
        let seen = seen('a', "ppl", [failed(FailureKind::Nan, "nan")]);
        let RunSample::Sample(x) = run_sample(&seen, &target, 0, &config("")) else {
            panic!("no sample")
        };
        (x, scale.oriented(200.0))
    }

    #[test]
    fn where_a_failure_is_sought_by_its_rate_only_that_failure_counts() {
        let mut target = target(GuardForm::MaxIncrease(0.1), 7.0, 7.0);
        target.failure = Some(Box::new(failure(FailureKind::Nan, "nan")));
        let of = |run: Sample| run_sample(&seen('a', "ppl", [run]), &target, 0, &config(""));
        assert_eq!(of(failed(FailureKind::Nan, "nan")), RunSample::Sample(1.0));
        // A value that breaks the guard is no failure.
        assert_eq!(of(ppl(7.0)), RunSample::Sample(0.0));
        assert_eq!(of(ppl(9.0)), RunSample::Sample(0.0));
        let crash = failed(FailureKind::Crash, "signal 11");
        assert!(matches!(of(crash), RunSample::Untestable(SkipReason::Crash, _)));
        let starved = Sample { starved: true, ..failed(FailureKind::Nan, "nan") };
        assert!(matches!(of(starved), RunSample::Untestable(SkipReason::Resource, _)));
    }

    #[test]
    fn nan_is_worse_than_bad_in_pairs_too_whichever_way_is_worse() {
        let up = GuardForm::MaxIncreasePercent(10.0);
        let down = GuardForm::MaxDecreasePercent(10.0);
        for paired in [false, true] {
            for (form, bad) in [(up, 240.0), (down, 160.0)] {
                let (x, good) = nan(form, bad, paired);
                let step = (bad.ln() - 200.0_f64.ln()).abs();
                assert!((x - good - step - WORST * 0.01).abs() < 1e-9, "{form:?} {paired}: {x}");
            }
        }
    }
}
