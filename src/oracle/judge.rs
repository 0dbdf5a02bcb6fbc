//! Derives a verdict from samples. Pure: equal samples and targets give equal verdicts.

use crate::config::{Config, Policy};
use crate::evaluation::{
    Failure, FailureKind, GuardTarget, Judgement, Metric, Noise, NoiseKind, SkipReason, Target,
    Value, Verdict,
};
use crate::search::{self, Rates, Repeat};

use super::untestable::{has_other_form_once, incomparable, other_checks, policy_of, skip_reason};
use super::{Observation, RunSample, Sample, run_sample};

/// Whether another commit's run gave this value of the metric before. A disturbed run would
/// hardly repeat a known value.
pub(crate) type Known<'a> = &'a dyn Fn(&Metric, &Value) -> bool;

/// A verdict, or a request for more runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// The verdict.
    Settled(Judgement),
    /// How many runs are needed in total.
    More(usize),
}

/// Judges a commit by the targets: bad if any target is broken; else more runs if any target
/// needs them; else untestable if any target is; else good.
pub(crate) fn judge(
    observation: &Observation,
    targets: &[Target],
    known: Known<'_>,
    config: &Config,
) -> Decision {
    let (mut good, mut bad, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    let (mut skip, mut more) = (None, None);
    for target in targets {
        match judge_target(observation, target, known, config) {
            TargetVerdict::Good(reason) => good.push(reason),
            TargetVerdict::Bad(metric, reason) => {
                broken.extend(metric);
                bad.push(reason);
            }
            TargetVerdict::Skip(why, reason) => {
                skip.get_or_insert((why, reason));
            }
            TargetVerdict::More(count) => more = more.max(Some(count)),
        }
    }
    let settled =
        |verdict, skip, reason| Decision::Settled(Judgement { verdict, skip, reason, broken });
    if !bad.is_empty() {
        // One broken target is enough: open targets cannot change the verdict.
        return settled(Verdict::Bad, None, bad.join("; "));
    }
    match (more, skip) {
        (Some(count), _) => Decision::More(count),
        (None, Some((why, reason))) => settled(Verdict::Skip, Some(why), reason),
        (None, None) => settled(Verdict::Good, None, good.join("; ")),
    }
}

/// The verdict of one target on a commit or on one run.
enum TargetVerdict {
    Good(String),
    Bad(Option<Metric>, String),
    Skip(SkipReason, String),
    More(usize),
}

fn judge_target(
    observation: &Observation,
    target: &Target,
    known: Known<'_>,
    config: &Config,
) -> TargetVerdict {
    if let Some(failure) = &observation.build_failure {
        return judge_failure(failure, observation.build_starved, target, config);
    }
    let measure = match target {
        Target::Guard(target) => &target.guard.metric.measure,
        Target::Failure { measure: Some(measure), .. } => measure,
        Target::Failure { measure: None, .. } => return TargetVerdict::Good("builds".to_owned()),
    };
    let samples = observation.of(measure);
    if samples.is_empty() {
        return TargetVerdict::More(1);
    }
    match target {
        Target::Guard(target) if has_other_form_once(samples, target) => TargetVerdict::More(2),
        Target::Guard(target) => match target.noise {
            Some(noise) => judge_noisy(observation, target, noise, config),
            None => judge_steady(samples, target, known, config),
        },
        Target::Failure { failure, .. } => judge_failing(samples, failure, target, config),
    }
}

/// If a failure is sought: judges by the first run, unless other runs of the commit contradict it.
/// Then the failure comes and goes, and its rate decides: one run without the failure does not
/// prove a good commit, and one run with it does not prove a bad one. If the failure gives its
/// reason, a good commit hardly shows it by chance, so few failures leave the commit open.
fn judge_failing(
    samples: &[Sample],
    failure: &Failure,
    target: &Target,
    config: &Config,
) -> TargetVerdict {
    let vote = |place: usize| match judge_sample(samples, place, target, config) {
        TargetVerdict::Good(_) => Some(0.0),
        TargetVerdict::Bad(..) => Some(1.0),
        TargetVerdict::Skip(..) | TargetVerdict::More(_) => None,
    };
    let votes: Vec<f64> = (0..samples.len()).filter_map(vote).collect();
    let failed = votes.iter().filter(|vote| **vote > 0.5).count();
    let is_seen_once = failed == 1 && samples.len() > 1;
    if failed == 0 || (failed == votes.len() && !is_seen_once) {
        return judge_sample(samples, 0, target, config);
    }
    let shown = format!("fails as the bad endpoint does in {failed} of {} runs", votes.len());
    match search::side_of_mixed(&votes) {
        Some(search::Side::Bad) => TargetVerdict::Bad(None, shown),
        Some(search::Side::Good) if !failure.is_telling() => TargetVerdict::Good(shown),
        None if samples.len() < search::MOST_MIXED_RUNS => TargetVerdict::More(samples.len() + 1),
        _ => TargetVerdict::Skip(SkipReason::Unsteady, shown),
    }
}

/// Without noise: judges by the value that repeats, or that another commit's run gave.
fn judge_steady(
    samples: &[Sample],
    guard: &GuardTarget,
    known: Known<'_>,
    config: &Config,
) -> TargetVerdict {
    let target = Target::Guard(guard.clone());
    let metric = &guard.guard.metric;
    let values: Vec<Option<Value>> = samples.iter().map(|sample| sample.value(metric)).collect();
    // A run without a value cannot repeat, so its failure decides.
    if let Some(failed) = values.iter().position(Option::is_none) {
        return judge_sample(samples, failed, &target, config);
    }
    let is_known = |value: &Option<Value>| {
        let value = value.as_ref().expect("each has one");
        *value == guard.baseline || *value == guard.bad || known(metric, value)
    };
    match search::repeat(&values, is_known) {
        Repeat::Settled(place) => judge_sample(samples, place, &target, config),
        Repeat::More(runs) => TargetVerdict::More(runs),
        // The values differ by far less than the tolerance, and by far less than their distance
        // from the threshold.
        Repeat::Never if is_clear(&margins(guard, &values), guard.limit) => {
            judge_sample(samples, 0, &target, config)
        }
        Repeat::Never => TargetVerdict::Skip(
            SkipReason::Unsteady,
            format!("its {} runs all differ, but the runs at each end repeat", values.len()),
        ),
    }
}

fn is_clear(margins: &[f64], tolerance: f64) -> bool {
    search::is_on_one_side(margins) && search::is_level(margins.iter().copied(), tolerance)
}

/// How much each value exceeds the tolerance, in the metric's unit; negative if the value is good.
/// Empty if a value or the baseline is not a number.
fn margins(guard: &GuardTarget, values: &[Option<Value>]) -> Vec<f64> {
    let Some(baseline) = guard.baseline.number() else { return Vec::new() };
    let numbers = values.iter().map(|value| value.as_ref()?.number());
    let margin = |x: f64| guard.guard.worsening(baseline, x) - guard.limit;
    numbers.map(|x| x.map(margin)).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// In noise: judges by the sequential test, run after run.
fn judge_noisy(
    observation: &Observation,
    target: &GuardTarget,
    noise: Noise,
    config: &Config,
) -> TargetVerdict {
    let metric = &target.guard.metric;
    let runs = observation.of(&metric.measure).len();
    let mut samples = Vec::new();
    // `Differs` compares each run with the first one, so the first one gives no sample.
    for place in usize::from(noise.kind == NoiseKind::Differs)..runs {
        match run_sample(observation, target, place, config) {
            RunSample::Sample(x) => samples.push(x),
            RunSample::Untestable(why, reason) => return TargetVerdict::Skip(why, reason),
        }
    }
    let (side, most) = if let Some(levels) = target.levels() {
        (search::sequential(&samples, &levels, noise.error), search::most_runs(&levels))
    } else {
        let rates = Rates { good: noise.good, bad: noise.bad };
        (search::sequential_rates(&samples, &rates, noise.error), rates.most_runs())
    };
    let said = || {
        if noise.kind == NoiseKind::Fails {
            let failed = samples.iter().filter(|vote| **vote > 0.5).count();
            return format!(
                "{} fails as the bad endpoint does in {failed} of {runs} runs",
                metric.measure
            );
        }
        let level = observation.level(metric).map_or_else(String::new, |level| level.to_string());
        format!(
            "{metric} {level} in {runs} run{} against a baseline of {} and {} at the bad end",
            if runs == 1 { "" } else { "s" },
            target.baseline,
            target.bad
        )
    };
    match side {
        Some(search::Side::Bad) => TargetVerdict::Bad(Some(metric.clone()), said()),
        Some(search::Side::Good) => TargetVerdict::Good(said()),
        None if runs < most => TargetVerdict::More(runs + 1),
        None => TargetVerdict::Skip(
            SkipReason::Unsteady,
            format!("its {runs} runs do not tell good from bad: {}", said()),
        ),
    }
}

/// Judges one run of a commit. `samples`: all of its runs.
fn judge_sample(
    samples: &[Sample],
    place: usize,
    target: &Target,
    config: &Config,
) -> TargetVerdict {
    let sample = &samples[place];
    match (&sample.result, target) {
        (Err(failure), _) => judge_failure(failure, sample.starved, target, config),
        (Ok(reading), Target::Failure { measure, checks, .. }) => {
            // A run that skipped the failing test does not fail either, so a run with other checks
            // proves nothing.
            let measure = measure.as_deref().unwrap_or_default();
            match other_checks(reading, checks.as_ref(), measure) {
                Some(reason) => TargetVerdict::Skip(SkipReason::OtherChecks, reason),
                None => TargetVerdict::Good("does not fail".to_owned()),
            }
        }
        (Ok(reading), Target::Guard(target)) => {
            if let Some((why, reason)) = incomparable(reading, target, samples) {
                return TargetVerdict::Skip(why, reason);
            }
            match sample.value(&target.guard.metric) {
                Some(value) => judge_value(&value, target),
                None => TargetVerdict::Skip(
                    SkipReason::Unreadable,
                    format!("{} was not printed by the run", target.guard.metric),
                ),
            }
        }
    }
}

fn judge_value(value: &Value, target: &GuardTarget) -> TargetVerdict {
    let metric = &target.guard.metric;
    let bad = match value.number() {
        // Comparisons with NaN are false, and minus infinity would pass as an improvement.
        Some(x) if !x.is_finite() => target.baseline != *value,
        _ => breaks(target, value),
    };
    let against = format!("{metric} {value} against a baseline of {}", target.baseline);
    if bad {
        TargetVerdict::Bad(Some(metric.clone()), against)
    } else {
        TargetVerdict::Good(against)
    }
}

/// Whether a value breaks the guard. A later search may have another baseline; the tolerance is
/// always that of the hunt's good endpoint.
fn breaks(target: &GuardTarget, value: &Value) -> bool {
    target.guard.is_beyond(&target.baseline, value, |_| target.limit)
}

/// Judges a failure. For a failure target: bad if the failures are alike, else untestable. For a
/// guard: as the configuration says. A failure for lack of a resource is always untestable.
fn judge_failure(
    failure: &Failure,
    starved: bool,
    target: &Target,
    config: &Config,
) -> TargetVerdict {
    let why = skip_reason(failure.kind);
    if starved {
        let is_own = failure.kind == FailureKind::Checkout;
        let why = if is_own { why } else { SkipReason::Resource };
        return TargetVerdict::Skip(why, failure.detail.clone());
    }
    match target {
        Target::Failure { failure: wanted, .. } if wanted.is_same_failure(failure) => {
            TargetVerdict::Bad(None, format!("{}, as the bad endpoint does", failure.detail))
        }
        Target::Failure { .. } => TargetVerdict::Skip(why, failure.detail.clone()),
        Target::Guard(target) => match policy_of(failure, target, config) {
            Policy::Bad => {
                TargetVerdict::Bad(Some(target.guard.metric.clone()), failure.detail.clone())
            }
            Policy::Skip => TargetVerdict::Skip(why, failure.detail.clone()),
        },
    }
}

#[cfg(test)]
mod tests;
