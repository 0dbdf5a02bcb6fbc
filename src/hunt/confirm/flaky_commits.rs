//! The commits of this hunt whose own runs differ. Often some commits flake and others do not. Then
//! the rate of all commits together says little about one of them.

use crate::evaluation::{CommitId, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::oracle::{Observation, measures_of};
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
        let mut commits = self.judged()?;
        commits.extend(self.begun.ends().map(CommitId::clone));
        let mut counts = FlakyCommits::default();
        for commit in commits {
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
}

/// How many runs gave the most frequent values, and how many runs there are.
fn alike(seen: &Observation, targets: &[Target]) -> (usize, usize) {
    let mut kinds: Vec<(Vec<Option<Value>>, usize)> = Vec::new();
    let runs = seen.samples.values().map(Vec::len).min().unwrap_or(0);
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
