//! From samples to a verdict. Pure: the same samples and targets always judge alike.

use crate::config::{Config, Policy};
use crate::evaluation::{
    Failure, FailureKind, GuardForm, GuardTarget, Judgement, Metric, Reading, SkipReason, Target,
    Value, Verdict,
};
use crate::store::journal::Steadiness;

use super::{Observation, Sample};

/// Runs a commit gets at first where values do not repeat bit for bit.
const FIRST_RUNS: usize = 3;
/// Runs it gets when those do not agree.
const MOST_RUNS: usize = 5;
/// How many of [`MOST_RUNS`] must lie on one side; one in five may be an outlier.
const MAJORITY: usize = 4;

/// A verdict, or the wish for more runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It is settled.
    Settled(Judgement),
    /// So many runs in all are needed.
    More(usize),
}

/// How many runs a commit gets to begin with.
pub fn first_runs(steadiness: Steadiness) -> usize {
    match steadiness {
        Steadiness::BitIdentical => 1,
        Steadiness::Apart => FIRST_RUNS,
    }
}

/// Judges a commit by the targets. Bad when any target is broken; else untestable when any
/// target could not be looked at; else good.
pub fn judge(
    observation: &Observation,
    targets: &[Target],
    steadiness: Steadiness,
    config: &Config,
) -> Decision {
    let (mut good, mut bad, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    let (mut skip, mut more) = (None, None);
    for target in targets {
        match judge_target(observation, target, steadiness, config) {
            Side::Good(reason) => good.push(reason),
            Side::Bad(metric, reason) => {
                broken.extend(metric);
                bad.push(reason);
            }
            Side::Skip(why, reason) => {
                skip.get_or_insert((why, reason));
            }
            Side::More(count) => more = more.max(Some(count)),
        }
    }
    let settled =
        |verdict, skip, reason| Decision::Settled(Judgement { verdict, skip, reason, broken });
    if !bad.is_empty() {
        // One broken target is enough: what is still open of the others cannot heal it.
        return settled(Verdict::Bad, None, bad.join("; "));
    }
    match (more, skip) {
        (Some(count), _) => Decision::More(count),
        (None, Some((why, reason))) => settled(Verdict::Skip, Some(why), reason),
        (None, None) => settled(Verdict::Good, None, good.join("; ")),
    }
}

/// What one target says of a commit, or of one run.
enum Side {
    Good(String),
    Bad(Option<Metric>, String),
    Skip(SkipReason, String),
    More(usize),
}

fn judge_target(
    observation: &Observation,
    target: &Target,
    steadiness: Steadiness,
    config: &Config,
) -> Side {
    if let Some(failure) = &observation.build_failure {
        return judge_failure(failure, observation.build_starved, target, config);
    }
    let measure = match target {
        Target::Guard(target) => &target.guard.metric.measure,
        Target::Failure { measure: Some(measure), .. } => measure,
        Target::Failure { measure: None, .. } => return Side::Good("builds".to_owned()),
    };
    let samples = observation.of(measure);
    let wanted = first_runs(steadiness);
    if samples.len() < wanted {
        return Side::More(wanted);
    }
    let sides: Vec<Side> =
        samples.iter().map(|sample| judge_sample(sample, target, config)).collect();
    agree(sides)
}

/// The side that the runs take together: all of the first, or nearly all of the most.
fn agree(sides: Vec<Side>) -> Side {
    let total = sides.len();
    let count = |is: fn(&Side) -> bool| sides.iter().filter(|side| is(side)).count();
    let good = count(|side| matches!(side, Side::Good(_)));
    let bad = count(|side| matches!(side, Side::Bad(..)));
    let skipped = total - good - bad;
    // More than the most come from the store; then as large a part of them, rounded up.
    let enough = if total >= MOST_RUNS { (total * MAJORITY).div_ceil(MOST_RUNS) } else { total };
    let wins = |side: &Side| match side {
        Side::Good(_) => good >= enough,
        Side::Bad(..) => bad >= enough,
        Side::Skip(..) | Side::More(_) => skipped >= enough,
    };
    if let Some(position) = sides.iter().position(wins) {
        return sides.into_iter().nth(position).expect("it was found there");
    }
    if total < MOST_RUNS {
        return Side::More(MOST_RUNS);
    }
    Side::Skip(
        SkipReason::Unsteady,
        format!("its {total} runs contradict each other: {good} good, {bad} bad, {skipped} failed"),
    )
}

fn judge_sample(sample: &Sample, target: &Target, config: &Config) -> Side {
    match (&sample.result, target) {
        (Err(failure), _) => judge_failure(failure, sample.starved, target, config),
        (Ok(_), Target::Failure { .. }) => Side::Good("does not fail".to_owned()),
        (Ok(reading), Target::Guard(target)) => {
            if let Some(reason) = other_text(reading, target) {
                return Side::Skip(SkipReason::OtherText, reason);
            }
            match sample.value(&target.guard.metric) {
                Some(value) => judge_value(&value, target),
                None => Side::Skip(
                    SkipReason::Unreadable,
                    format!("{} is not among what the run yielded", target.guard.metric),
                ),
            }
        }
    }
}

/// A run that read another amount of text than the good end measured something else, however
/// close its figure is.
fn other_text(reading: &Reading, target: &GuardTarget) -> Option<String> {
    let (own, wanted) = (reading.extent()?, target.text?);
    own.differs_from(wanted).then(|| {
        format!(
            "{} read {own}, the good end {wanted}: the tokenizer or the text changed",
            target.guard.metric.measure
        )
    })
}

fn judge_value(value: &Value, target: &GuardTarget) -> Side {
    let metric = &target.guard.metric;
    let bad = match (target.threshold, value.number()) {
        // No comparison holds for NaN, and minus infinity is not the best of perplexities.
        (_, Some(x)) if !x.is_finite() => target.baseline != *value,
        (Some(threshold), Some(x)) => target.guard.worsening(threshold, x) > 0.0,
        _ => breaks(target, value),
    };
    let against = match target.threshold {
        Some(threshold) => format!("{metric} {value} against the threshold {threshold}"),
        None => format!("{metric} {value} against {} at the good end", target.baseline),
    };
    if bad { Side::Bad(Some(metric.clone()), against) } else { Side::Good(against) }
}

/// The limit is the one that holds at the good endpoint, also where the account has moved the
/// baseline since.
fn breaks(target: &GuardTarget, value: &Value) -> bool {
    match (target.guard.form, target.baseline.number(), value.number()) {
        (GuardForm::Unchanged, ..) | (_, None, _) | (_, _, None) => {
            target.guard.is_broken(&target.baseline, value)
        }
        (_, Some(baseline), Some(x)) => {
            let worsening = target.guard.worsening(baseline, x);
            worsening.is_nan() || worsening > target.limit
        }
    }
}

/// A failure is bad when it is the very failure that is hunted; otherwise it is what the
/// configuration says, and untestable where the target is another failure.
fn judge_failure(failure: &Failure, starved: bool, target: &Target, config: &Config) -> Side {
    let why = skip_reason(failure.kind);
    if starved {
        return Side::Skip(SkipReason::Resource, failure.detail.clone());
    }
    match target {
        Target::Failure { failure: wanted, .. } if wanted.alike(failure) => {
            Side::Bad(None, format!("{}, as the bad endpoint does", failure.detail))
        }
        Target::Failure { .. } => Side::Skip(why, failure.detail.clone()),
        Target::Guard(target) => {
            let failures = config
                .measure(&target.guard.metric.measure)
                .map_or(&config.failures, |measure| &measure.failures);
            match failures.policy(failure.kind) {
                Policy::Bad => Side::Bad(Some(target.guard.metric.clone()), failure.detail.clone()),
                Policy::Skip => Side::Skip(why, failure.detail.clone()),
            }
        }
    }
}

fn skip_reason(kind: FailureKind) -> SkipReason {
    match kind {
        FailureKind::Build => SkipReason::Build,
        FailureKind::Crash => SkipReason::Crash,
        FailureKind::Timeout => SkipReason::Timeout,
        FailureKind::Nan => SkipReason::Nan,
        FailureKind::Unreadable => SkipReason::Unreadable,
        FailureKind::Incomplete => SkipReason::Incomplete,
        FailureKind::Require => SkipReason::Require,
    }
}

#[cfg(test)]
mod tests;
