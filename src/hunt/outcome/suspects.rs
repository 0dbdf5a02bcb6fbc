//! Finds the commits where a found commit's change may be undone, and measures them.

use crate::evaluation::{CommitId, Phase, Target, Verdict};
use crate::git::CommitsWithoutChange;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::run_verdicts::verdict_of_run;
use crate::oracle::{Observation, Request, measures_of};

use super::found_step::FoundStep;

/// Number of runs that must all show that a change was undone.
const RUNS_TO_BE_SURE: usize = 4;

/// A place where a change may be undone.
pub(crate) struct UndoLocation {
    /// The last commit before this place.
    pub(crate) before: CommitId,
    /// Commits to measure.
    pub(crate) places: Vec<CommitId>,
    /// Whether the source lacks the change there.
    pub(crate) is_absence: bool,
}

impl Driver<'_> {
    /// The places in the history where the change may have been undone: first that of
    /// `Driver::undone`; then those where the source lacks the change on every path to the newer
    /// end, or on the line of first parents, the newest first; then the later commits that were
    /// reverted.
    pub(crate) fn suspects(
        &mut self,
        step: &FoundStep<'_>,
    ) -> Result<Vec<UndoLocation>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let change = history.change(&step.culprit.parent, found)?;
        let mut suspects = Vec::new();
        for CommitsWithoutChange { before, commits } in
            history.commits_without_change(found, newer, &change)?
        {
            let mut places = vec![commits[0].clone()];
            // If the change came back, perhaps only the last commit without it can be tested.
            if !commits.contains(newer) {
                places.extend(commits.last().filter(|last| **last != commits[0]).cloned());
                places.extend(commits.get(commits.len() / 2).cloned());
            }
            suspects.push(UndoLocation { before, places, is_absence: true });
        }
        suspects.reverse();
        // The range may end before that place.
        if let Some(at) = self.undone.get(found)
            && history.is_ancestor(at, newer)?
            && let Some(before) = history.parents(at)?.into_iter().next()
        {
            let places = vec![at.clone()];
            suspects.insert(0, UndoLocation { before, places, is_absence: true });
        }
        for commit in history.reverted_later(found, newer)? {
            if let Some(before) = history.parents(&commit)?.into_iter().next() {
                suspects.push(UndoLocation { before, places: vec![commit], is_absence: false });
            }
        }
        Ok(suspects)
    }

    /// Judges the suspect's commits in order, and `before` last. Returns the runs of the first one
    /// that surely has the older end's verdict.
    pub(crate) fn find_undone(
        &mut self,
        search_range: &SearchRange,
        found: &CommitId,
        suspect: &UndoLocation,
    ) -> Result<Option<Observation>, HuntError> {
        let [_, newer] = search_range.ends();
        let places = suspect.places.iter().chain([&suspect.before]);
        for place in places.filter(|one| *one != newer && *one != found) {
            // A commit that never had the change cannot show that someone undid the change.
            if !self.oracle.history.is_ancestor(found, place)? {
                continue;
            }
            let judgement = self.judge(place, &search_range.targets)?;
            if search_range.is_older(judgement.verdict)
                && let Some(seen) =
                    self.repeats_as(search_range.terms.older(), place, &search_range.targets)?
            {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }

    /// The runs of a commit with this verdict, if further runs agree. A single stray run would
    /// wrongly clear a found commit.
    pub(crate) fn repeats_as(
        &mut self,
        verdict: Verdict,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<Option<Observation>, HuntError> {
        let is_noisy = targets.iter().any(Target::is_noisy);
        let seen = if is_noisy {
            self.known_runs(commit, &measures_of(targets))?
        } else {
            self.measure_repeatedly(commit, targets)?
        };
        let recipe = self.oracle.recipes.at(commit)?;
        let count = seen.samples.values().map(Vec::len).min().unwrap_or(0);
        let agrees = |run| verdict_of_run(&seen, run, targets, &recipe).verdict == verdict;
        let holds = is_noisy || (0..count).all(agrees);
        Ok(holds.then_some(seen))
    }

    /// At least `RUNS_TO_BE_SURE` runs of a commit. Each new run gets a new build, unless builds of
    /// the commit are known to give identical files.
    pub(crate) fn measure_repeatedly(
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
