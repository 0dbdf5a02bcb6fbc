//! A failure that comes and goes at the bad end, and that the good end never shows. Each run then
//! counts as one vote, and the failure is searched by its rate. Pure.

use crate::evaluation::{Failure, FailureKind, Finding, Guard, GuardTarget, NoiseKind, Outcome};
use crate::oracle::{Observation, Sample};
use crate::search::{CalibrationError, Rates, calibrate_rates};
use crate::ui::text;

use super::guard_check::GuardCheck;
use super::noise::{EndpointPolicy, first_answer, in_noise};
use super::rates::with_rates;

/// How to hunt for a failure that comes and goes: by its rate.
pub(super) const BY_EXIT_CODE: &str = "to hunt for a failure that comes and goes, measure its \
                                       rate: command = \"sh -c 'PROGRAM; exit $?'\" with parser = \
                                       \"exit-code\", and a guard with max = 0";
/// Runs of each endpoint that separate a rare failure from a frequent one.
pub(super) const RUNS_TO_TELL: usize = 5;

/// Whether at most one run in five failed.
pub(super) fn is_stray(failed: usize, runs: usize) -> bool {
    failed * RUNS_TO_TELL <= runs
}

/// How many of the runs failed.
pub(super) fn failed_runs(samples: &[Sample]) -> usize {
    samples.iter().filter(|sample| sample.result.is_err()).count()
}

/// Judges a guard by how often runs of its measure fail. `None` if the runs of the bad end do not
/// fail at times and alike, if a run of the good end fails, or if at most one run in five of the bad
/// end does: then the other runs judge that end.
///
/// Takes the runs in the order of their dates and stops at the first answer, so that further stored
/// runs change nothing.
pub(super) fn judge_failure_rate(
    good: &Observation,
    bad: &Observation,
    guard: &Guard,
    policy: &EndpointPolicy,
) -> Option<GuardCheck> {
    let measure = &guard.metric.measure;
    let ends = [good, bad].map(|seen| seen.of(measure));
    if policy.is_spread || failed_runs(ends[0]) > 0 {
        return None;
    }
    let failure = failure_at_times(ends[1])?;
    let baseline = good.level(&guard.metric)?;
    let [of_good, of_bad] = ends.map(votes);
    let settled = first_answer(&of_good, &of_bad, |good, bad| {
        if is_stray(failures(bad), bad.len()) {
            return Err(CalibrationError::More);
        }
        Ok((calibrate_rates(good, bad)?, good.len()))
    });
    match settled {
        Ok((rates, runs)) => {
            let level = bad.level(&guard.metric).unwrap_or_else(|| baseline.clone());
            let failure = Some(Box::new(failure.clone()));
            let target = GuardTarget::between(guard, baseline, level, None);
            let target = in_noise(GuardTarget { failure, ..target }, NoiseKind::Fails, policy);
            Some(GuardCheck::Target(Box::new(with_rates(target, rates, runs))))
        }
        Err(CalibrationError::More) if !is_stray(failures(&of_bad), of_bad.len()) => {
            Some(GuardCheck::More)
        }
        Err(_) => None,
    }
}

/// The failure of these runs, if some of them fail, all of these alike, and others do not fail.
/// `None` for failures that say nothing of the commit. A run that prints no value may say something
/// here, because the other runs show that its output can be read.
fn failure_at_times(samples: &[Sample]) -> Option<&Failure> {
    let failed: Vec<&Sample> = samples.iter().filter(|run| run.result.is_err()).collect();
    let first = failed.first().copied()?.result.as_ref().err()?;
    let is_alike = |run: &&Sample| {
        !run.starved && run.result.as_ref().is_err_and(|failure| failure.is_same_failure(first))
    };
    let can_be_hunted = matches!(
        first.kind,
        FailureKind::Crash | FailureKind::Timeout | FailureKind::Nan | FailureKind::Unreadable
    );
    let comes_and_goes = failed.len() < samples.len() && failed.iter().all(is_alike);
    (can_be_hunted && comes_and_goes).then_some(first)
}

/// 1 for a run that fails, else 0.
fn votes(samples: &[Sample]) -> Vec<f64> {
    samples.iter().map(|run| f64::from(u8::from(run.result.is_err()))).collect()
}

fn failures(votes: &[f64]) -> usize {
    votes.iter().filter(|vote| **vote > 0.5).count()
}

/// The finding that the bad end can be neither measured nor hunted: not each of its runs fails, or
/// not all alike. `None` if all fail alike.
pub(super) fn varying_failures(
    measure: &str,
    failures: &[&Failure],
    runs: usize,
) -> Option<Finding> {
    let first = failures.first()?;
    let are_alike = failures.iter().all(|failure| failure.is_same_failure(first));
    if failures.len() == runs && are_alike {
        return None;
    }
    let summary = format!(
        "the bad endpoint fails in {} of {runs} runs of {measure}, {} ({})",
        failures.len(),
        if are_alike { "each time alike" } else { "not always alike" },
        first.detail
    );
    let mut finding = Finding::plain(Outcome::EndpointUnmeasurable, summary);
    // Other failures leave the exit code as it is.
    let has_code = |failure: &&Failure| {
        matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout | FailureKind::Prepare)
    };
    if failures.len() < runs && failures.iter().all(has_code) {
        finding.next.push(BY_EXIT_CODE.to_owned());
    }
    Some(finding)
}

/// The endpoint without its failed runs of this measure.
pub(super) fn without_failed_runs(seen: &Observation, measure: &str) -> Observation {
    let mut others = seen.clone();
    if let Some(samples) = others.samples.get_mut(measure) {
        samples.retain(|run| run.result.is_ok());
    }
    others
}

/// The endpoint without the failed runs of each measure of which at most one run in five failed.
pub(super) fn without_strays(seen: &Observation) -> Observation {
    let mut others = seen.clone();
    for samples in others.samples.values_mut() {
        if is_stray(failed_runs(samples), samples.len()) {
            samples.retain(|run| run.result.is_ok());
        }
    }
    others
}

/// What the hunt looks for, if that is a failure rate: "ppl prints NaN in 8 of 15 runs of bad …".
pub(super) fn in_words(target: &GuardTarget) -> Option<String> {
    let (failure, noise) = (target.failure.as_ref()?, target.noise?);
    let failed = Rates::failures(noise.bad, noise.runs);
    let measure = &target.guard.metric.measure;
    Some(format!(
        "{measure} {} in {failed} of {} runs of bad and in none of as many runs of good ({}): the \
         hunt looks for this failure by its rate, and a run with a value counts as good, whatever \
         the value",
        failure.kind,
        noise.runs,
        text::line(&failure.detail)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, failed, failure, guard, ppl, seen};

    const UP: GuardForm = GuardForm::MaxIncrease(0.5);

    /// Runs of the bad end by turns: one that fails, then one that prints a value.
    fn by_turns(kind: FailureKind, runs: usize) -> Observation {
        let run = |place: usize| {
            if place.is_multiple_of(2) { failed(kind, "x") } else { ppl(6.0) }
        };
        seen('2', "ppl", (0..runs).map(run))
    }

    fn judged(good: &Observation, bad: &Observation) -> Option<GuardCheck> {
        judge_failure_rate(good, bad, &guard(UP), &EndpointPolicy::default())
    }

    #[test]
    fn a_failure_in_half_of_the_runs_of_the_bad_end_alone_is_a_rate() {
        let good = at('1', &[6.0; 40]);
        for kind in [FailureKind::Nan, FailureKind::Crash, FailureKind::Unreadable] {
            let Some(GuardCheck::Target(target)) = judged(&good, &by_turns(kind, 40)) else {
                panic!("{kind} is no target")
            };
            assert_eq!(target.failure, Some(Box::new(failure(kind, "x"))));
            let noise = target.noise.unwrap();
            assert_eq!(noise.kind, NoiseKind::Fails);
            // As many runs as two rates need, and no more.
            assert!((12..30).contains(&noise.runs), "{}", noise.runs);
            let told = in_words(&target).unwrap();
            let counts = format!("in {} of {} runs of bad", noise.runs.div_ceil(2), noise.runs);
            assert!(told.contains(&counts), "{told}");
        }
    }

    #[test]
    fn failures_that_vary_are_told_from_those_that_are_alike() {
        let told = |failures: &[Failure], runs| {
            let failures: Vec<&Failure> = failures.iter().collect();
            varying_failures("ppl", &failures, runs).map(|told| (told.summary, told.next))
        };
        let of = |kind| failure(kind, "x");
        let (nan, crash) = (of(FailureKind::Nan), of(FailureKind::Crash));
        assert_eq!(told(&[nan.clone(), nan.clone()], 2), None);
        let (summary, next) = told(&[crash.clone(), nan], 2).unwrap();
        assert!(summary.contains("in 2 of 2 runs of ppl, not always alike"), "{summary}");
        assert!(next.is_empty());
        let (summary, next) = told(&[crash], 2).unwrap();
        assert!(summary.contains("in 1 of 2 runs of ppl, each time alike"), "{summary}");
        assert_eq!(next, [BY_EXIT_CODE]);
        // The program that fails so may end with 0.
        assert!(told(&[of(FailureKind::Incomplete)], 2).unwrap().1.is_empty());
    }

    #[test]
    fn one_failed_run_among_many_is_left_out() {
        let end = |failing: usize| {
            let run =
                |place| if place < failing { failed(FailureKind::Nan, "x") } else { ppl(6.0) };
            seen('2', "ppl", (0..5).map(run))
        };
        let kept = |failing| without_strays(&end(failing)).of("ppl").len();
        assert_eq!([0, 1, 2].map(kept), [5, 4, 5]);
        assert_eq!(without_failed_runs(&end(2), "ppl").of("ppl").len(), 3);
    }

    #[test]
    fn a_few_runs_need_more() {
        for runs in [2, 5, 8] {
            let told = judged(&at('1', &vec![6.0; runs]), &by_turns(FailureKind::Nan, runs));
            assert!(matches!(told, Some(GuardCheck::More)), "{runs}");
        }
    }

    #[test]
    fn rare_failures_others_and_those_of_the_good_end_are_no_rate() {
        let good = at('1', &[6.0; 40]);
        let nan = || failed(FailureKind::Nan, "x");
        let is_rate =
            |good: &Observation, bad: Vec<Sample>| judged(good, &seen('2', "ppl", bad)).is_some();
        let mixed = |failing: Sample| [vec![failing; 20], vec![ppl(6.0); 20]].concat();
        assert!(is_rate(&good, mixed(nan())));
        let one_in_five = (0..40).map(|run| if run % 5 == 4 { nan() } else { ppl(6.0) });
        assert!(!is_rate(&good, one_in_five.collect()));
        // All runs fail, or some fail in another way.
        assert!(!is_rate(&good, vec![nan(); 40]));
        assert!(!is_rate(&good, [mixed(nan()), vec![failed(FailureKind::Crash, "y")]].concat()));
        assert!(!is_rate(&good, mixed(failed(FailureKind::Require, "x"))));
        assert!(!is_rate(&good, mixed(Sample { starved: true, ..nan() })));
        let failing = seen('1', "ppl", [vec![ppl(6.0); 39], vec![nan()]].concat());
        assert!(!is_rate(&failing, mixed(nan())));
    }
}
