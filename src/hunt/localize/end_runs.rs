//! How many runs judge an endpoint with a patch if a failure of a run is sought. The failure may
//! come and go, so a few runs that work do not show that it is gone, and a run that fails is no
//! accident.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Config;
use crate::evaluation::{CommitId, Failure, Judgement, Phase, SkipReason, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::verdict_of_run;
use crate::oracle::Observation;
use crate::search::{MOST_MIXED_RUNS, runs_to_exclude, runs_to_tell_absence};
use crate::store::journal::Event;

/// The runs of a test must exclude this failure rate, and larger ones, before the failure counts as
/// gone. A rate of the bad end that is smaller would hardly have made both of its first runs fail.
const OFTEN: f64 = 0.5;

impl Driver<'_> {
    /// The fewest runs of a test of an endpoint that is good by its first run, if a failure of a
    /// run is sought. `None` if none is.
    pub(super) fn runs_without_failure(
        &self,
        targets: &[Target],
    ) -> Result<Option<usize>, HuntError> {
        let confidence = self.oracle.recipes.config.statistics.confidence;
        let mut most = None;
        for (measure, failure) in failures_of_runs(targets) {
            let known = self.known_failures(measure, failure)?;
            let wanted = runs_wanted(&known, confidence);
            most = most.max(Some(wanted));
        }
        Ok(most)
    }

    /// How many runs of each bad commit showed the failure, and how many showed it or worked.
    fn known_failures(
        &self,
        measure: &str,
        failure: &Failure,
    ) -> Result<Vec<[usize; 2]>, HuntError> {
        let mut bad = BTreeSet::from([self.begun.bad.commit.clone()]);
        let mut runs: BTreeMap<CommitId, BTreeMap<String, bool>> = BTreeMap::new();
        for entry in &self.hunt.entries_in_force()? {
            match &entry.event {
                Event::Judged(judged) if judged.judgement.verdict == Verdict::Bad => {
                    bad.insert(judged.commit.clone());
                }
                // The runs of localisations are of other builds, with patches.
                Event::Run(run)
                    if run.measure == measure
                        && run.apart.is_none()
                        && run.phase != Phase::Localize =>
                {
                    let fails = match &run.failure {
                        None => false,
                        Some(shown) if failure.is_same_failure(shown) => true,
                        Some(_) => continue,
                    };
                    let of_commit = runs.entry(run.commit.clone()).or_default();
                    of_commit.insert(run.attempt.clone(), fails);
                }
                _ => {}
            }
        }
        let counts = |runs: &BTreeMap<String, bool>| {
            [runs.values().filter(|fails| **fails).count(), runs.len()]
        };
        Ok(bad.iter().filter_map(|commit| runs.get(commit)).map(counts).collect())
    }

    /// What the test of an endpoint without a change says if its runs show the sought failure but
    /// do not tell how often: the endpoint is still bad. In a hunt for a fix this would support the
    /// claim, so there it stays open.
    pub(super) fn bad_if_it_fails_at_times(
        &self,
        judgement: Judgement,
        seen: &Observation,
        recipe: &Config,
        targets: &[Target],
    ) -> Judgement {
        let is_open = judgement.skip == Some(SkipReason::Unsteady);
        if is_open && self.terms().aim().is_regression() && fails_at_times(seen, recipe, targets) {
            Judgement { verdict: Verdict::Bad, skip: None, ..judgement }
        } else {
            judgement
        }
    }
}

/// The measures whose failures are sought, and how they fail. Without a failure of the build, which
/// has no runs.
fn failures_of_runs(targets: &[Target]) -> impl Iterator<Item = (&str, &Failure)> {
    targets.iter().filter_map(|target| match target {
        Target::Failure { measure: Some(measure), failure, .. } => {
            Some((measure.as_str(), failure))
        }
        Target::Failure { measure: None, .. } | Target::Guard(_) => None,
    })
}

/// Whether any run shows a sought failure of a run.
fn fails_at_times(seen: &Observation, recipe: &Config, targets: &[Target]) -> bool {
    targets.iter().any(|target| {
        let Target::Failure { measure: Some(measure), .. } = target else { return false };
        let own = std::slice::from_ref(target);
        let fails = |run| verdict_of_run(seen, run, own, recipe).verdict == Verdict::Bad;
        (0..seen.of(measure).len()).any(fails)
    })
}

/// How many runs without the failure show that it is gone. `known`: of each bad commit, the runs
/// with the failure, and all. The rate of another commit's failure is not known, so the commit that
/// tells least decides.
fn runs_wanted(known: &[[usize; 2]], confidence: f64) -> usize {
    let least = runs_to_exclude(OFTEN, confidence);
    let tell = |[failed, runs]: &[usize; 2]| {
        runs_to_tell_absence(*failed, *runs, confidence, MOST_MIXED_RUNS)
    };
    // A commit that failed in each run may have only one.
    let varied = known.iter().filter(|[failed, runs]| *failed > 0 && failed < runs);
    varied.map(tell).fold(least, usize::max).min(MOST_MIXED_RUNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{config, failed, fails_alike, ppl, seen};

    #[test]
    fn a_failure_that_comes_and_goes_takes_more_runs_to_be_gone() {
        assert_eq!(runs_wanted(&[], 0.99), 7);
        assert_eq!(runs_wanted(&[[2, 2], [9, 9]], 0.99), 7);
        assert_eq!(runs_wanted(&[[2, 2]], 0.95), 5);
        // One commit that works at times is enough, and a rare failure takes no more than 24.
        assert_eq!(runs_wanted(&[[9, 9], [2, 3]], 0.99), 12);
        assert_eq!(runs_wanted(&[[1, 10]], 0.99), MOST_MIXED_RUNS);
    }

    #[test]
    fn only_the_sought_failure_of_a_run_is_one_that_comes_and_goes() {
        let crash = || failed(FailureKind::Crash, "signal 11");
        let wanted = |what| [fails_alike(Some("ppl"), FailureKind::Crash, what)];
        let runs = seen('5', "ppl", vec![ppl(7.0), crash(), ppl(7.0)]);
        assert!(fails_at_times(&runs, &config(""), &wanted("signal 11")));
        assert!(!fails_at_times(&runs, &config(""), &wanted("signal 6")));
        let works = seen('5', "ppl", vec![ppl(7.0), ppl(7.0)]);
        assert!(!fails_at_times(&works, &config(""), &wanted("signal 11")));
        let of_build = [fails_alike(None, FailureKind::Crash, "signal 11")];
        assert!(!fails_at_times(&runs, &config(""), &of_build));
        assert_eq!(failures_of_runs(&of_build).count(), 0);
        assert_eq!(failures_of_runs(&wanted("signal 11")).count(), 1);
    }
}
