//! The commits of this hunt whose own runs differ. Often some commits flake and others do not. Then
//! the rate of all commits together says little about one of them.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::suspects::independent;
use crate::hunt::terms::SearchTerms;
use crate::oracle::{Observation, Request, measures_of};
use crate::search::FlakyCounts;

use super::verdict_counts::VerdictCounts;

/// The counts of the commits on either side of a claim. A commit without a majority counts on both.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlakyCommits {
    pub(crate) older: FlakyCounts,
    pub(crate) newer: FlakyCounts,
}

impl FlakyCommits {
    /// Whether some commits of a side flake and others do not.
    pub(crate) fn are_uneven(&self) -> bool {
        self.older.are_uneven() || self.newer.are_uneven()
    }
}

impl Driver<'_> {
    /// Counts the runs of all judged commits of this hunt and of its ends, by their values: unlike
    /// verdicts, values do not depend on the search range. `targets`: the targets of a claim, which
    /// tell the sides apart.
    pub(crate) fn flaky_commits(
        &mut self,
        targets: &[Target],
        terms: SearchTerms,
    ) -> Result<FlakyCommits, HuntError> {
        let measures = measures_of(targets);
        let mut counts = FlakyCommits::default();
        for commit in self.judged_and_ends()? {
            let seen = self.known_runs(&commit, &measures)?;
            let (alike, runs) = alike(&seen, targets);
            let recipe = self.oracle.recipes.at(&commit)?;
            let verdicts = VerdictCounts::of(&seen, targets, &recipe);
            let [older, newer] =
                [terms.older(), terms.newer()].map(|side| verdicts.runs_with(side));
            if older >= newer {
                counts.older.add(alike, runs);
            }
            if newer >= older {
                counts.newer.add(alike, runs);
            }
        }
        Ok(counts)
    }

    /// Whether runs or builds of one commit were seen to differ: its runs gave different values of a
    /// metric whose values repeat at the ends.
    pub(crate) fn was_seen_to_differ(&mut self, targets: &[Target]) -> Result<bool, HuntError> {
        let steady: Vec<Target> = targets.iter().filter(|one| !one.is_noisy()).cloned().collect();
        let measures = measures_of(&steady);
        if self.is_flaky || measures.is_empty() {
            return Ok(self.is_flaky);
        }
        for commit in self.judged_and_ends()? {
            let seen = self.known_runs(&commit, &measures)?;
            if do_values_differ(&seen, &steady) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs each commit whose own runs differ until it has so many (`enough`), from as many builds
    /// if builds are not known to repeat. Of a commit with one stray in two runs, hardly anything
    /// is known: it may flake nearly always, and so may the commits of a claim, however many of
    /// their own runs agree.
    pub(super) fn measure_flaky_commits(
        &mut self,
        targets: &[Target],
        enough: usize,
    ) -> Result<(), HuntError> {
        let measures = measures_of(targets);
        let rebuild = self.builds_differ(targets)?;
        for commit in self.judged_and_ends()? {
            let look = Request::look(&commit, &measures, Phase::Search);
            let mut seen = self.oracle.evaluate(look)?;
            for _ in 0..enough {
                if !flakes_at_unknown_rate(&seen, targets, enough, rebuild) {
                    break;
                }
                let least = seen.fewest_runs();
                seen = self.oracle.evaluate(Request { runs: least + 1, rebuild, ..look })?;
            }
        }
        Ok(())
    }

    /// The judged commits of this hunt, and its ends.
    fn judged_and_ends(&self) -> Result<BTreeSet<CommitId>, HuntError> {
        let mut commits = self.judged()?;
        commits.extend(self.begun.ends().map(CommitId::clone));
        Ok(commits)
    }
}

/// Whether runs of a commit differ, and fewer than `enough` are independent of each other
/// (`by_builds`: those of one build are not).
fn flakes_at_unknown_rate(
    seen: &Observation,
    targets: &[Target],
    enough: usize,
    by_builds: bool,
) -> bool {
    let (alike, runs) = alike(seen, targets);
    let mut samples = seen.samples.values();
    alike < runs && samples.any(|samples| independent(samples, by_builds) < enough)
}

/// Whether runs of a commit gave different values of a metric. Runs without a value do not count.
fn do_values_differ(seen: &Observation, targets: &[Target]) -> bool {
    targets.iter().filter_map(Target::guard).any(|target| {
        let values = seen.values(&target.guard.metric);
        values.windows(2).any(|two| two[0] != two[1])
    })
}

/// How many runs gave the most frequent values, and how many runs there are.
fn alike(seen: &Observation, targets: &[Target]) -> (usize, usize) {
    let mut kinds: Vec<(Vec<Option<Value>>, usize)> = Vec::new();
    let runs = seen.fewest_runs();
    for run in 0..runs {
        let value = |target: &Target| match target {
            Target::Guard(target) => {
                let metric = &target.guard.metric;
                seen.of(&metric.measure).get(run)?.value(metric)
            }
            Target::Failure { measure, .. } => {
                let sample = seen.of(measure.as_deref()?).get(run)?;
                sample.result.is_ok().then(|| Value::Fact(String::new()))
            }
        };
        let values: Vec<Option<Value>> = targets.iter().map(value).collect();
        match kinds.iter_mut().find(|(known, _)| *known == values) {
            Some((_, count)) => *count += 1,
            None => kinds.push((values, 1)),
        }
    }
    (kinds.iter().map(|(_, count)| *count).max().unwrap_or(0), runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::Sample;
    use crate::oracle::fixture::{at, failed, ppl, seen, target};

    #[test]
    fn only_values_show_that_runs_of_a_commit_differ() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 8.0))];
        let differ = |runs: Vec<Sample>| do_values_differ(&seen('a', "ppl", runs), &targets);
        assert!(differ(vec![ppl(7.0), ppl(7.0), ppl(8.0)]));
        assert!(!differ(vec![ppl(7.0), ppl(7.0)]) && !differ(Vec::new()));
        assert!(!differ(vec![ppl(7.0), failed(FailureKind::Crash, "signal 11"), ppl(7.0)]));
    }

    #[test]
    fn a_commit_with_one_stray_in_few_runs_or_builds_flakes_at_an_unknown_rate() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 8.0))];
        let is_unknown = |seen: &Observation, by_builds: bool| {
            flakes_at_unknown_rate(seen, &targets, 4, by_builds)
        };
        assert!(is_unknown(&at('a', &[7.0, 8.0]), false));
        assert!(!is_unknown(&at('a', &[7.0, 7.0]), false));
        assert!(!is_unknown(&at('a', &[7.0, 8.0, 7.0, 7.0]), false));
        let run = |x: f64, built: &str| Sample { built: built.to_owned(), ..ppl(x) };
        let of_two = [run(8.0, "a"), run(8.0, "a"), run(8.0, "a"), run(7.0, "b")];
        let of_two = seen('a', "ppl", of_two);
        assert!(is_unknown(&of_two, true) && !is_unknown(&of_two, false));
    }
}
