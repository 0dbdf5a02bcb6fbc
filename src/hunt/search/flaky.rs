//! Searches a range again if verdicts of one commit contradict each other, as its runs or builds
//! differ. Each run then counts as one vote, and a posterior over the commits weighs the votes.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, GuardTarget, Noise, NoiseKind, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::searched::Searched;
use crate::hunt::strategy::SearchStrategy;
use crate::store::journal::Event;

use super::posterior::posterior;
use super::sampler::Sampler;

/// Number of runs without the failure after which a commit counts as good.
const RUNS_WITHOUT: usize = 3;

impl Driver<'_> {
    /// Searches the range again by how often each commit breaks its guard. `None` if no guard is a
    /// target.
    pub(crate) fn search_by_rates(
        &mut self,
        search_range: &SearchRange,
        strategy: &SearchStrategy,
        why: &str,
    ) -> Result<Option<Searched>, HuntError> {
        self.is_flaky = true;
        let Some(target) = strategy.targets.iter().find_map(rated) else { return Ok(None) };
        let text = format!(
            "runs of {} do not repeat after all ({why}): from now on each run counts as one vote",
            target.guard.metric
        );
        self.oracle.recorder.event(Event::Note { text })?;
        let mut sampler = Sampler::default();
        sampler.is_rebuilt = self.builds_differ(search_range)?;
        match self.ends(search_range, &target, &mut sampler)? {
            Err(Searched::Nothing(why) | Searched::Unchanged(why)) => {
                let range = self.open_range(search_range)?;
                Ok(Some(Searched::Candidates(range, why.into())))
            }
            Err(other) => Ok(Some(other)),
            Ok((target, ends)) => {
                if let Some(end) = self.flaky_end(search_range, &target.guard.metric, &ends)? {
                    let why = format!(
                        "runs of {}, an end of the range, differ from each other",
                        end.short()
                    );
                    let range = self.open_range(search_range)?;
                    return Ok(Some(Searched::Candidates(range, why.into())));
                }
                posterior(self, search_range, &target, ends, sampler).map(Some)
            }
        }
    }

    /// Whether builds are known to differ, or not known to repeat. Then only runs of different
    /// builds are independent votes.
    fn builds_differ(&mut self, search_range: &SearchRange) -> Result<bool, HuntError> {
        let judged = self.judged()?;
        Ok(self.known_to_repeat(&search_range.targets, judged)? != Some(true))
    }

    /// The commits still in question after the last verdicts: those after the older side's commits,
    /// up to the first commit on the newer side.
    pub(crate) fn open_range(
        &self,
        search_range: &SearchRange,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
        let range = crate::git::Range::between(older, newer);
        let mut open = history.commits(&range)?;
        let verdicts = self.last_verdicts()?;
        // One run without the failure does not prove much.
        let is_failure = |target: &Target| matches!(target, Target::Failure { .. });
        let fewest = if search_range.targets.iter().any(is_failure) { RUNS_WITHOUT } else { 1 };
        let runs = self.runs_judged()?;
        let mut last = newer.clone();
        for commit in &open {
            if verdicts.get(commit).is_some_and(|verdict| search_range.is_newer(*verdict))
                && history.is_ancestor(commit, &last)?
            {
                last = commit.clone();
            }
        }
        let mut first = vec![older.clone()];
        for commit in &open {
            if verdicts.get(commit).is_some_and(|verdict| search_range.is_older(*verdict))
                && runs.get(commit).is_some_and(|runs| *runs >= fewest)
                && history.is_ancestor(commit, &last)?
            {
                first.push(commit.clone());
            }
        }
        let range = crate::git::Range { old: first, ..crate::git::Range::between(older, &last) };
        let left = history.commits(&range)?;
        if !left.is_empty() {
            open = left;
        }
        Ok(open)
    }
}

impl Driver<'_> {
    /// For each judged commit, the largest number of runs behind one verdict.
    fn runs_judged(&self) -> Result<BTreeMap<CommitId, usize>, HuntError> {
        let mut runs: BTreeMap<CommitId, usize> = BTreeMap::new();
        for entry in self.hunt.entries_in_force()? {
            if let Event::Judged(judged) = entry.event {
                let most = runs.entry(judged.commit).or_default();
                *most = judged.attempts.len().max(*most);
            }
        }
        Ok(runs)
    }
}

/// The target, judged by how often runs break it; `None` for a failure.
pub(crate) fn rated(target: &Target) -> Option<GuardTarget> {
    let Target::Guard(target) = target else { return None };
    let (kind, error) = (NoiseKind::Breaks, target.noise.map_or(0.001, |noise| noise.error));
    let noise = Noise { kind, good: 0.0, bad: 1.0, sd: 0.0, runs: 0, paired: false, error };
    Some(GuardTarget { noise: Some(noise), ..target.clone() })
}
