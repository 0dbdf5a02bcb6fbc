//! The verdict of a commit from one run, and from the majority of its runs.

use crate::config::Config;
use crate::evaluation::{Judgement, SkipReason, Target, Verdict};
use crate::oracle::{Decision, Observation, judge};

/// Number of fresh runs of each commit if values vary. If two commits are equal, all five runs of
/// one are worse than all five of the other in 1 of 252 cases.
pub(crate) const ROUNDS: usize = 5;
/// How many of [`ROUNDS`] runs must have the same verdict.
pub(crate) const ALIKE: usize = 4;

/// The verdict from one run.
pub(crate) fn verdict_of_run(
    observation: &Observation,
    run: usize,
    targets: &[Target],
    config: &Config,
) -> Judgement {
    let mut one = observation.clone();
    for samples in one.samples.values_mut() {
        // `judge` asks for a second, equal run: give it the same run twice.
        *samples = samples.get(run).into_iter().flat_map(|s| [s.clone(), s.clone()]).collect();
    }
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

/// The judgement if no more runs follow. More than half of the runs must have the same verdict if
/// runs repeat (`is_exact`), otherwise four of five.
pub(crate) fn judged(
    observation: &Observation,
    targets: &[Target],
    config: &Config,
    is_exact: bool,
) -> Judgement {
    let runs = observation.samples.values().map(Vec::len).max().unwrap_or(1).max(1);
    let sides: Vec<Judgement> =
        (0..runs).map(|run| verdict_of_run(observation, run, targets, config)).collect();
    let enough = if is_exact { runs / 2 + 1 } else { (runs * ALIKE).div_ceil(ROUNDS) };
    let count = |verdict: Verdict| sides.iter().filter(|side| side.verdict == verdict).count();
    let wins = |side: &&Judgement| count(side.verdict) >= enough;
    let (good, bad) = (count(Verdict::Good), count(Verdict::Bad));
    sides.iter().find(wins).cloned().unwrap_or_else(|| {
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
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, config, target};

    #[test]
    fn runs_agree_only_if_each_of_them_has_the_verdict() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.75, 8.25))];
        let are_good = |runs: &[f64]| all_are(Verdict::Good, &at('5', runs), &targets, &config(""));
        assert!(are_good(&[7.75, 7.75, 7.75]));
        assert!(!are_good(&[7.75, 8.25, 7.75]) && !are_good(&[]));
    }
}
