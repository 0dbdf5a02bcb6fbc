//! The verdict of a commit from one run, and from the majority of its runs.

use crate::config::Config;
use crate::evaluation::{Judgement, SkipReason, Target, Verdict};
use crate::oracle::{Decision, Observation, Sample, judge};

/// Number of fresh runs of each commit if values vary. If two commits are equal, all five runs of
/// one are worse than all five of the other in 1 of 252 cases.
pub(crate) const ROUNDS: usize = 5;
/// How many of [`ROUNDS`] runs must have the same verdict.
pub(crate) const ALIKE: usize = 4;
/// How many runs must all give no value, for one reason, so that their commit gets no further run.
pub(crate) const RUNS_TO_SKIP: usize = 2;

/// The verdict from one run.
pub(crate) fn verdict_of_run(
    observation: &Observation,
    run: usize,
    targets: &[Target],
    config: &Config,
) -> Judgement {
    // `judge` asks for a second, equal run: give it the same run twice.
    let twice = |samples: &Vec<Sample>| -> Vec<Sample> {
        samples.get(run).into_iter().flat_map(|sample| [sample.clone(), sample.clone()]).collect()
    };
    let samples = observation.samples.iter();
    // The other runs are not copied: a caller asks for each run in turn.
    let one = Observation {
        commit: observation.commit.clone(),
        build_failure: observation.build_failure.clone(),
        build_stored_at: observation.build_stored_at.clone(),
        build_starved: observation.build_starved,
        samples: samples.map(|(measure, runs)| (measure.clone(), twice(runs))).collect(),
    };
    match judge(&one, targets, &|_, _| false, config) {
        Decision::Settled(judgement) => judgement,
        Decision::More(_) => unsteady("its fresh runs do not agree".to_owned()),
    }
}

/// Whether each run of a commit has this verdict. Then nothing shows that its runs differ.
pub(crate) fn all_are(
    verdict: Verdict,
    observation: &Observation,
    targets: &[Target],
    config: &Config,
) -> bool {
    let runs = observation.samples.values().map(Vec::len).max().unwrap_or(0);
    let is_its = |run| verdict_of_run(observation, run, targets, config).verdict == verdict;
    runs > 0 && (0..runs).all(is_its)
}

/// Whether a run gave no value because it crashed or timed out, and only guards are sought: it says
/// nothing about the values of the commit's other runs.
pub(crate) fn is_lost(judgement: &Judgement, targets: &[Target]) -> bool {
    matches!(judgement.skip, Some(SkipReason::Crash | SkipReason::Timeout))
        && targets.iter().all(|target| matches!(target, Target::Guard(_)))
}

/// Whether no further run can give a commit another verdict than a skip: at least [`RUNS_TO_SKIP`]
/// runs, and each of them gave no value and leaves the commit untestable for the same reason. One
/// run without a value is enough for a skip, so more runs only cost time: each up to the time limit
/// if the commit times out. False if a failure is sought, since its rate may decide.
pub(crate) fn is_surely_untestable(
    observation: &Observation,
    targets: &[Target],
    config: &Config,
) -> bool {
    let runs = observation.fewest_runs();
    if runs < RUNS_TO_SKIP || !has_no_value(observation, targets) {
        return false;
    }
    let reason = |run| verdict_of_run(observation, run, targets, config).skip;
    let first = reason(0);
    first.is_some() && (1..runs).all(|run| reason(run) == first)
}

/// Whether no run gave a value of any target's metric, and only guards are sought. True without
/// runs.
pub(crate) fn has_no_value(observation: &Observation, targets: &[Target]) -> bool {
    targets.iter().all(|target| match target {
        Target::Guard(target) => {
            target.failure.is_none() && observation.values(&target.guard.metric).is_empty()
        }
        Target::Failure { .. } => false,
    })
}

/// How many fresh runs of one commit support a claim or contradict it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunCounts {
    /// All runs.
    pub(crate) runs: usize,
    /// Runs with a verdict against the claim.
    pub(crate) strays: usize,
    /// Runs that gave no value ([`is_lost`]).
    pub(crate) lost: usize,
}

impl RunCounts {
    /// Whether the runs with a value decide alone: there are at least [`ALIKE`] of them, and more
    /// than lost ones.
    fn has_enough_values(self) -> bool {
        let told = self.runs - self.lost;
        told >= ALIKE && told > self.lost
    }

    /// The share of runs that contradict the claim. Lost runs do so too if too few gave a value.
    pub(crate) fn share_of_strays(self) -> f64 {
        if self.lost == 0 || !self.has_enough_values() {
            (self.strays + self.lost) as f64 / self.runs as f64
        } else {
            self.strays as f64 / (self.runs - self.lost) as f64
        }
    }

    /// Whether more runs may give enough values: some runs were lost, and none contradicts the
    /// claim. Not if all were lost: then the commit crashes.
    pub(crate) fn lacks_values(self) -> bool {
        let told = self.runs - self.lost;
        self.lost > 0 && self.strays == 0 && told > 0 && !self.has_enough_values()
    }
}

/// The judgement if no more runs follow. More than half of the runs must have the same verdict if
/// runs repeat (`is_exact`), otherwise four of five. Lost runs count only if too few gave a value.
pub(crate) fn judged(
    observation: &Observation,
    targets: &[Target],
    config: &Config,
    is_exact: bool,
) -> Judgement {
    let runs = observation.samples.values().map(Vec::len).max().unwrap_or(1).max(1);
    let sides: Vec<Judgement> =
        (0..runs).map(|run| verdict_of_run(observation, run, targets, config)).collect();
    let lost = sides.iter().filter(|side| is_lost(side, targets)).count();
    let leaves_out_lost = RunCounts { runs, strays: 0, lost }.has_enough_values();
    let counts = |side: &&Judgement| !leaves_out_lost || !is_lost(side, targets);
    let counted: Vec<&Judgement> = sides.iter().filter(counts).collect();
    let all = counted.len();
    let enough = if is_exact { all / 2 + 1 } else { (all * ALIKE).div_ceil(ROUNDS) };
    let count = |verdict: Verdict| counted.iter().filter(|side| side.verdict == verdict).count();
    let wins = |side: &&Judgement| count(side.verdict) >= enough;
    let (good, bad) = (count(Verdict::Good), count(Verdict::Bad));
    counted.iter().copied().find(wins).cloned().unwrap_or_else(|| {
        let failed = runs - good - bad;
        unsteady(format!(
            "its {runs} runs contradict each other: {good} good, {bad} bad, {failed} failed"
        ))
    })
}

fn unsteady(reason: String) -> Judgement {
    Judgement {
        verdict: Verdict::Skip,
        skip: Some(SkipReason::Unsteady),
        reason,
        broken: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm, GuardTarget};
    use crate::oracle::fixture::{
        at, config, failed, fails_alike, failure, noisy, ppl, seen, target,
    };

    #[test]
    fn runs_agree_only_if_each_of_them_has_the_verdict() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.75, 8.25))];
        let are_good = |runs: &[f64]| all_are(Verdict::Good, &at('5', runs), &targets, &config(""));
        assert!(are_good(&[7.75, 7.75, 7.75]));
        assert!(!are_good(&[7.75, 8.25, 7.75]) && !are_good(&[]));
    }

    #[test]
    fn runs_that_crash_say_nothing_about_the_value_of_the_others() {
        let crash = || failed(FailureKind::Crash, "signal 11");
        let guards = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.75, 8.25))];
        let told = |runs: Vec<Sample>| judged(&seen('5', "ppl", runs), &guards, &config(""), false);
        let verdict = |runs| told(runs).verdict;
        let bad = || ppl(8.25);
        assert_eq!(verdict(vec![bad(), crash(), bad(), crash(), bad(), bad()]), Verdict::Bad);
        // Too few values, or fewer than crashes.
        assert_eq!(verdict(vec![bad(), crash(), bad(), crash(), bad()]), Verdict::Skip);
        let mut mostly_lost: Vec<Sample> = (0..4).map(|_| crash()).collect();
        mostly_lost.extend((0..4).map(|_| bad()));
        assert_eq!(verdict(mostly_lost), Verdict::Skip);
        // The values themselves must agree.
        assert_eq!(verdict(vec![bad(), crash(), bad(), ppl(7.75), ppl(7.75)]), Verdict::Skip);
        // Where a failure is sought, a run that fails otherwise is no lost one.
        let lost = told(vec![crash()]);
        let wanted = [fails_alike(Some("ppl"), FailureKind::Crash, "signal 6")];
        assert!(is_lost(&lost, &guards) && !is_lost(&lost, &wanted));
    }

    #[test]
    fn strays_do_not_decide_where_four_of_five_runs_agree() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 8.0))];
        let verdict = |bad: usize, good: usize| {
            let runs = [vec![8.0; bad], vec![7.0; good]].concat();
            judged(&at('5', &runs), &targets, &config(""), false).verdict
        };
        assert_eq!([verdict(1, 7), verdict(7, 1)], [Verdict::Good, Verdict::Bad]);
        assert_eq!(verdict(2, 6), Verdict::Skip);
        assert_eq!(verdict(2, 8), Verdict::Good);
    }

    #[test]
    fn a_commit_whose_runs_all_fail_alike_needs_no_further_run() {
        let timeout = || failed(FailureKind::Timeout, "timeout");
        let crash = || failed(FailureKind::Crash, "signal 11");
        let guards = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.75, 8.25))];
        let in_noise = [Target::Guard(noisy(GuardForm::MaxIncrease(0.1), 7.75, 8.25))];
        let needs_none = |runs: Vec<Sample>, targets: &[Target]| {
            is_surely_untestable(&seen('5', "ppl", runs), targets, &config(""))
        };
        for targets in [&guards, &in_noise] {
            assert!(needs_none(vec![timeout(), timeout()], targets));
            assert!(needs_none(vec![crash(), crash(), crash()], targets));
            // A single failure is not final.
            assert!(!needs_none(vec![timeout()], targets) && !needs_none(vec![], targets));
            assert!(!needs_none(vec![timeout(), crash()], targets));
            assert!(!needs_none(vec![timeout(), timeout(), ppl(8.25)], targets));
            assert!(!needs_none(vec![ppl(7.75), ppl(8.25)], targets));
        }
        // Where a failure is sought, its rate decides.
        let wanted = [fails_alike(Some("ppl"), FailureKind::Timeout, "timeout")];
        assert!(!needs_none(vec![timeout(), timeout()], &wanted));
        assert!(!needs_none(vec![crash(), crash()], &wanted));
        let by_rate = target(GuardForm::MaxIncrease(0.1), 7.75, 7.75);
        let crashes = Some(Box::new(failure(FailureKind::Crash, "signal 11")));
        let by_rate = [Target::Guard(GuardTarget { failure: crashes, ..by_rate })];
        assert!(!needs_none(vec![crash(), crash()], &by_rate));
        // Where failures count as bad, they decide too.
        let counts = config("[failures]\ntimeout = \"bad\"\n");
        let runs = seen('5', "ppl", [timeout(), timeout()]);
        assert!(!is_surely_untestable(&runs, &guards, &counts));
    }

    #[test]
    fn lost_runs_ask_for_more_until_enough_runs_gave_a_value() {
        let counts = |runs, strays, lost| RunCounts { runs, strays, lost };
        assert!(counts(5, 0, 2).lacks_values() && counts(8, 0, 4).lacks_values());
        assert!(!counts(6, 0, 2).lacks_values() && !counts(3, 0, 0).lacks_values());
        // All runs crash, or a value contradicts the claim.
        assert!(!counts(3, 0, 3).lacks_values() && !counts(3, 1, 1).lacks_values());
        let shares = [
            (counts(5, 0, 2), 0.4),
            (counts(6, 0, 2), 0.0),
            (counts(7, 1, 2), 0.2),
            (counts(4, 1, 0), 0.25),
        ];
        for (counts, share) in shares {
            assert!((counts.share_of_strays() - share).abs() < 1e-12, "{counts:?}");
        }
    }
}
