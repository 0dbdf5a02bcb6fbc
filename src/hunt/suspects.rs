//! Where a found change may not have lasted, and what enough runs there say.

use crate::evaluation::{CommitId, Phase, Target};
use crate::git::Absence;
use crate::oracle::{Observation, Request, measures_of};

use super::HuntError;
use super::account::SearchRange;
use super::driver::Driver;
use super::fresh::verdict_of_run;
use super::lasting::Step;

/// Runs that must all say that a change did not last.
const RUNS_TO_BE_SURE: usize = 4;

/// Where a change may not have lasted.
pub(super) struct Suspect {
    /// The last commit before.
    pub(super) before: CommitId,
    /// Commits that would show it.
    pub(super) places: Vec<CommitId>,
    /// There the change is gone from the tree.
    pub(super) is_absence: bool,
}

impl Driver<'_> {
    /// Where to look whether the change lasts: where it is out of the tree on every way to the
    /// newer end, the latest first, and what was landed and reverted meanwhile.
    pub(super) fn suspects(&mut self, step: &Step<'_>) -> Result<Vec<Suspect>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let change = history.change(&step.culprit.parent, found)?;
        let mut suspects = Vec::new();
        for Absence { before, commits } in history.where_it_is_gone(found, newer, &change)? {
            let mut places = vec![commits[0].clone()];
            // Where it came back, the last commit without it may be the one that can be tested.
            if !commits.contains(newer) {
                places.extend(commits.last().filter(|last| **last != commits[0]).cloned());
                places.extend(commits.get(commits.len() / 2).cloned());
            }
            suspects.push(Suspect { before, places, is_absence: true });
        }
        suspects.reverse();
        for commit in history.reverted_later(found, newer)? {
            if let Some(before) = history.parents(&commit)?.into_iter().next() {
                suspects.push(Suspect { before, places: vec![commit], is_absence: false });
            }
        }
        Ok(suspects)
    }

    /// What was measured at the suspect's place, or right before it, if that is surely as the
    /// older end is.
    pub(super) fn first_older(
        &mut self,
        search_range: &SearchRange,
        found: &CommitId,
        suspect: &Suspect,
    ) -> Result<Option<Observation>, HuntError> {
        let [_, newer] = search_range.ends();
        let number = self.searches.saturating_sub(1);
        let places = suspect.places.iter().chain([&suspect.before]);
        for place in places.filter(|one| *one != newer && *one != found) {
            // A side of a merge that never had the change shows nothing of what became of it.
            if !self.oracle.history.is_ancestor(found, place)? {
                continue;
            }
            let judgement = self.judge(place, &search_range.targets, number)?;
            if judgement.verdict == search_range.aim.older()
                && let Some(seen) = self.is_surely_older(search_range, place)?
            {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }

    /// What was measured at a commit that was judged as the older end is, if more runs say the
    /// same: one run may be a stray, and would take the blame from the commit that was found.
    fn is_surely_older(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
    ) -> Result<Option<Observation>, HuntError> {
        let measures = measures_of(&search_range.targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let is_noisy =
            |target: &Target| matches!(target, Target::Guard(target) if target.noise.is_some());
        let is_noisy = search_range.targets.iter().any(is_noisy);
        let seen = if is_noisy {
            self.oracle.evaluate(look)?
        } else {
            self.seen_often(commit, &search_range.targets)?
        };
        let recipe = self.oracle.recipe(commit)?;
        let older = search_range.aim.older();
        let count = seen.samples.values().map(Vec::len).min().unwrap_or(0);
        let is_older =
            |run| verdict_of_run(&seen, run, &search_range.targets, &recipe).verdict == older;
        let holds = is_noisy || (0..count).all(is_older);
        Ok(holds.then_some(seen))
    }

    /// What enough runs of a commit say to rest on it: of two builds that gave the very same files,
    /// else each of a build of its own.
    pub(super) fn seen_often(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<Observation, HuntError> {
        let measures = measures_of(targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let mut seen = self.oracle.evaluate(look)?;
        while seen.samples.values().any(|samples| samples.len() < RUNS_TO_BE_SURE) {
            let least = seen.samples.values().map(Vec::len).min().unwrap_or(0);
            let rebuild = self.known_to_repeat(targets, [commit.clone()])? != Some(true);
            let runs = if rebuild { least + 1 } else { RUNS_TO_BE_SURE };
            seen = self.oracle.evaluate(Request { runs, rebuild, ..look })?;
        }
        Ok(seen)
    }
}
