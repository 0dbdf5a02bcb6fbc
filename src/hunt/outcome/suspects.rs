//! Finds the commits where a found commit's change may be undone, and measures them.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Culprit, Phase, Target, Verdict};
use crate::git::{Change, CommitsWithoutChange};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::run_verdicts::{RUNS_TO_SKIP, has_no_value, is_surely_untestable, verdict_of_run};
use crate::hunt::undone_effects::UndoneEffects;
use crate::oracle::{Observation, Request, Sample, measures_of};

use super::account::Ledger;
use super::found_step::FoundStep;
use super::undoing::Undoing;

/// Number of runs that must all show that a change was undone.
const RUNS_TO_BE_SURE: usize = 4;
/// The most such runs if runs or builds of one commit contradict each other.
pub(super) const MOST_RUNS_TO_BE_SURE: usize = 24;

/// A place where a change may be undone.
pub(crate) struct UndoLocation {
    /// The last commit before this place.
    pub(crate) before: CommitId,
    /// Commits to measure.
    pub(crate) places: Vec<CommitId>,
    /// Whether the source lacks the change there, or moves its lines to another file.
    pub(crate) is_absence: bool,
}

/// A commit at which some effects of a found commit are gone, and others are not.
pub(crate) struct UndoneInPart {
    /// The search range with the targets of the effects that are gone.
    pub(crate) undone: SearchRange,
    /// The search range with the other targets.
    pub(crate) left: SearchRange,
    /// The runs of that commit.
    pub(crate) seen: Observation,
}

impl Driver<'_> {
    /// The places in the history where the change may have been undone: first those of
    /// `Driver::undone` for the targets of the search range; then those where the source lacks the
    /// change on every path to the newer end, or on the line of first parents, the newest first;
    /// then the commits that move its lines to another file; then the later commits that were
    /// reverted. Of the last two, those that change something that builds read.
    pub(crate) fn suspects(
        &mut self,
        step: &FoundStep<'_>,
    ) -> Result<Vec<UndoLocation>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let change = history.change_until(&step.culprit.parent, found, newer)?;
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
        let is_known = |one: &&UndoneEffects| {
            one.found == *found && one.is_shown_by(&step.search_range.targets)
        };
        for UndoneEffects { at, .. } in self.undone.iter().filter(is_known).rev() {
            // The range may end before that place.
            if history.is_ancestor(at, newer)? {
                suspects.extend(self.undo_at(at.clone(), true)?);
            }
        }
        // Of the known places, the first one that the hunt found is now the first.
        suspects.reverse();
        for at in change.moves() {
            if self.may_change_a_build(at)? {
                suspects.extend(self.undo_at(at.clone(), true)?);
            }
        }
        for commit in history.reverted_later(found, newer)? {
            if self.may_change_a_build(&commit)? {
                suspects.extend(self.undo_at(commit, false)?);
            }
        }
        Ok(suspects)
    }

    /// Whether a commit changes something that builds read. Any other commit runs its parent's
    /// program, so it undid nothing. A merge counts always: it may be like its second parent.
    fn may_change_a_build(&self, commit: &CommitId) -> Result<bool, HuntError> {
        let parents = self.oracle.history.parents(commit)?;
        let [parent] = parents.as_slice() else { return Ok(true) };
        Ok(!self.read_by_builds(parent, std::slice::from_ref(commit))?.is_empty())
    }

    /// The place of a commit that may have undone the change; `None` if the commit has no parent.
    fn undo_at(
        &self,
        commit: CommitId,
        is_absence: bool,
    ) -> Result<Option<UndoLocation>, HuntError> {
        let before = self.oracle.history.parents(&commit)?.into_iter().next();
        Ok(before.map(|before| UndoLocation { before, places: vec![commit], is_absence }))
    }

    /// The first unmeasured commit after the found one that touches a file of its change, does not
    /// keep all lines of the change, and changes something that builds read: it may undo the change
    /// by hand, in part of its lines.
    pub(crate) fn first_rewrite(
        &self,
        step: &FoundStep<'_>,
        change: &Change,
    ) -> Result<Option<UndoLocation>, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let history = &self.oracle.history;
        let measured = self.measured()?;
        for one in history.touching(found, newer, change)? {
            if one != *newer
                && !measured.contains(&one)
                && !history.keeps_lines(&one, change)
                && history.is_ancestor(found, &one)?
                && self.may_change_a_build(&one)?
            {
                let (before, places) = (found.clone(), vec![one]);
                return Ok(Some(UndoLocation { before, places, is_absence: false }));
            }
        }
        Ok(None)
    }

    /// Judges the suspect's commits in order, and `before` last. Returns the runs of the first one
    /// that surely has the older end's verdict. In noise, it must also lack more than half of the
    /// found commit's step; if the runs do not tell, lowers the confidence in the found commit.
    pub(crate) fn find_undone(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
        suspect: &UndoLocation,
    ) -> Result<Option<Observation>, HuntError> {
        let found = &culprit.info.commit;
        let places = self.places_to_judge(search_range, found, suspect)?;
        for (number, place) in places.iter().enumerate() {
            self.judge_beside(&places[number..], &search_range.targets)?;
            let judgement = self.judge(place, &search_range.targets)?;
            if !search_range.is_older(judgement.verdict) {
                continue;
            }
            match self.undoing(search_range, culprit, place)? {
                Undoing::Undone => {
                    let older = search_range.terms.older();
                    let seen = self.repeats_as(older, place, &search_range.targets)?;
                    if seen.is_some() {
                        return Ok(seen);
                    }
                }
                Undoing::Lasts => {}
                Undoing::Open => ledger.may_be_undone_by(found, place),
            }
        }
        Ok(None)
    }

    /// The suspect's commits, and `before` last, without the newer end and the found commit.
    pub(super) fn places_to_judge(
        &self,
        search_range: &SearchRange,
        found: &CommitId,
        suspect: &UndoLocation,
    ) -> Result<Vec<CommitId>, HuntError> {
        let [_, newer] = search_range.ends();
        let mut places = Vec::new();
        for place in suspect.places.iter().chain([&suspect.before]) {
            // A commit that never had the change cannot show that someone undid the change.
            if place != newer && place != found && self.oracle.history.is_ancestor(found, place)? {
                places.push(place.clone());
            }
        }
        Ok(places)
    }

    /// As [`Self::find_undone`], for each target alone: a commit that undoes one effect of the
    /// found commit may leave the others. Only where values repeat. Uses known runs; makes runs
    /// only of a commit that seems to undo an effect.
    pub(crate) fn find_undone_in_part(
        &mut self,
        search_range: &SearchRange,
        found: &CommitId,
        suspect: &UndoLocation,
    ) -> Result<Option<UndoneInPart>, HuntError> {
        let [_, newer] = search_range.ends();
        if self.is_flaky || !search_range.explains_levels() || search_range.targets.len() < 2 {
            return Ok(None);
        }
        let places = suspect.places.iter().chain([&suspect.before]);
        for place in places.filter(|one| *one != newer && *one != found) {
            if !self.oracle.history.is_ancestor(found, place)? {
                continue;
            }
            let (mut undone, mut left) = (Vec::new(), Vec::new());
            for target in &search_range.targets {
                let is_undone = self.is_older_alone(place, target)?;
                let own = if is_undone { &mut undone } else { &mut left };
                own.push(target.clone());
            }
            if undone.is_empty() || left.is_empty() {
                continue;
            }
            if let Some(seen) = self.repeats_as(search_range.terms.older(), place, &undone)? {
                let with = |targets| SearchRange { targets, ..search_range.clone() };
                let (undone, left) = (with(undone), with(left));
                return Ok(Some(UndoneInPart { undone, left, seen }));
            }
        }
        Ok(None)
    }

    /// Whether the known runs of a commit have the older end's verdict by this target alone. False
    /// for a failure, and in noise.
    pub(crate) fn is_older_alone(
        &mut self,
        place: &CommitId,
        target: &Target,
    ) -> Result<bool, HuntError> {
        if target.is_noisy() || target.guard().is_none() {
            return Ok(false);
        }
        let own = std::slice::from_ref(target);
        let seen = self.known_runs(place, &measures_of(own))?;
        let recipe = self.oracle.recipes.at(place)?;
        Ok(self.terms().is_older(verdict_of_run(&seen, 0, own, &recipe).verdict))
    }

    /// The runs of a commit with this verdict, if further runs agree. A single stray run would
    /// wrongly clear a found commit.
    pub(crate) fn repeats_as(
        &mut self,
        verdict: Verdict,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<Option<Observation>, HuntError> {
        if targets.iter().any(Target::is_noisy) {
            return Ok(Some(self.known_runs(commit, &measures_of(targets))?));
        }
        let recipe = self.oracle.recipes.at(commit)?;
        let agree = |seen: &Observation| {
            let count = seen.fewest_runs();
            let agrees = |run| verdict_of_run(seen, run, targets, &recipe).verdict == verdict;
            (0..count).all(agrees)
        };
        self.measure_repeatedly(verdict, commit, targets, agree)
    }

    /// The runs of a commit if they `agree` and are as many as `runs_to_be_sure` says; makes those
    /// that are missing. `verdict`: the one that they are to show. Each new run gets a new build,
    /// unless builds of the commit are known to give identical files. `None` after the first two
    /// runs if both give no value for one reason, such as a time-out.
    pub(crate) fn measure_repeatedly(
        &mut self,
        verdict: Verdict,
        commit: &CommitId,
        targets: &[Target],
        agree: impl Fn(&Observation) -> bool,
    ) -> Result<Option<Observation>, HuntError> {
        let Some(enough) = self.runs_to_be_sure(verdict, targets)? else { return Ok(None) };
        let measures = measures_of(targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let recipe = self.oracle.recipes.at(commit)?;
        let mut seen = self.oracle.evaluate(look)?;
        loop {
            if is_surely_untestable(&seen, targets, &recipe) {
                return Ok(None);
            }
            // Runs of one build agree with each other, whatever the next build gives.
            let by_builds = self.is_flaky && self.builds_differ(targets)?;
            let lacks = |wanted: usize| {
                seen.samples.values().any(|samples| independent(samples, by_builds) < wanted)
            };
            let is_short = lacks(RUNS_TO_BE_SURE) || (lacks(enough) && agree(&seen));
            if !is_short {
                return Ok(agree(&seen).then_some(seen));
            }
            let least = seen.fewest_runs();
            let repeats = self.known_to_repeat(targets, [commit.clone()])? == Some(true);
            let rebuild = by_builds || !repeats;
            let runs = match least {
                _ if rebuild => least + 1,
                0..RUNS_TO_SKIP if has_no_value(&seen, targets) => RUNS_TO_SKIP,
                _ => enough,
            };
            seen = self.oracle.evaluate(Request { runs, rebuild, ..look })?;
        }
    }

    /// How many runs must all show this verdict, so that chance hardly explains them. Once runs or
    /// builds of one commit contradict each other, this follows from how often the commits of the
    /// other side do so. `None` if too many runs would be needed.
    pub(super) fn runs_to_be_sure(
        &mut self,
        verdict: Verdict,
        targets: &[Target],
    ) -> Result<Option<usize>, HuntError> {
        if !self.is_flaky {
            return Ok(Some(RUNS_TO_BE_SURE));
        }
        let chance = 1.0 - self.wanted_confidence(true)?;
        let terms = self.terms();
        let flaky = self.flaky_commits(targets, terms)?;
        let side = if terms.is_newer(verdict) { flaky.older } else { flaky.newer };
        Ok(side.runs_to_exclude_chance(chance, [RUNS_TO_BE_SURE, MOST_RUNS_TO_BE_SURE]))
    }
}

/// How many of these runs are independent of each other: all, or one of each build (`by_builds`).
pub(crate) fn independent(samples: &[Sample], by_builds: bool) -> usize {
    if !by_builds {
        return samples.len();
    }
    let builds: BTreeSet<&str> = samples.iter().map(|sample| sample.built.as_str()).collect();
    builds.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::ppl;

    #[test]
    fn runs_of_one_build_are_one_vote_where_builds_differ() {
        let run = |built: &str| Sample { built: built.to_owned(), ..ppl(7.0) };
        let runs = [run("a"), run("a"), run("b")];
        assert_eq!([true, false].map(|by_builds| independent(&runs, by_builds)), [2, 3]);
    }
}
