//! In noise, whether the commits after a named one still have its step. Measures those that touch
//! the files of its change, and their parents, if no removal tells whether the newer end needs it.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Phase, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;

use super::end_need::EndNeed;
use super::places::spread_with_ends;
use super::step::between;

/// Maximum number of measured commits.
const MOST_MEASURED: usize = 3;

impl Driver<'_> {
    /// Measures the commits after a named one that touch the files of its change. `GoneAt` if one
    /// of them surely lacks the named commit's step (see [`Self::lacks_step`]). `OfBranch` if the
    /// end does not hold the commit's lines, and a branch without the commit has the step. `Needed`
    /// only if the end loses the step with the lines as they were before (`told`), if it holds the
    /// commit's lines, if few commits touch these files, and if each of these commits and each of
    /// their parents has the step: where an edit of another file took the step back, the parent of
    /// the commit that made the step again lacks it. Else `told`, also for failure rates, and if
    /// the machine drifts: runs of different hours cannot be compared. `named`: all named commits.
    pub(super) fn step_at_later_commits(
        &mut self,
        culprit: &Culprit,
        named: &[Culprit],
        target: &GuardTarget,
        told: &EndNeed,
    ) -> Result<EndNeed, HuntError> {
        if self.has_drifted || target.noise.is_some_and(|noise| noise.paired) {
            return Ok(told.clone());
        }
        let (commit, terms) = (&culprit.info.commit, self.terms());
        let change = self.followed_change(culprit, &[])?;
        let touching = self.touching_later(commit, &change)?;
        let held = self.held_lines(commit, &change)?;
        let [_, newer] = self.begun.ends();
        // A failure rate takes too many runs to measure the parents too.
        let mut is_settled = *told == EndNeed::LinesNeeded
            && !target.is_rate()
            && held.are_in(newer)
            && (1..=MOST_MEASURED).contains(&touching.len());
        let own = match culprit.effect_on(&target.guard.metric) {
            Some(effect) if !target.is_rate() => between(target, effect, terms),
            _ => target.clone(),
        };
        let targets = [Target::Guard(own)];
        let places = if is_settled {
            self.with_parents_after(commit, touching)?
        } else {
            spread_with_ends(touching, MOST_MEASURED)
        };
        for place in places {
            let verdict = self.verdict_beside(&place, &targets)?;
            if terms.is_older(verdict) && self.lacks_step(culprit, target, &place)? {
                return Ok(EndNeed::GoneAt(place));
            }
            is_settled &= terms.is_newer(verdict);
        }
        if !target.is_rate() {
            for step in self.branches_without_lines(culprit, &held, named)? {
                if terms.is_newer(self.verdict_beside(&step.branch, &targets)?) {
                    return Ok(EndNeed::OfBranch(step));
                }
            }
        }
        Ok(if is_settled { EndNeed::Needed } else { told.clone() })
    }

    /// The verdict of a commit that no search asked for.
    fn verdict_beside(
        &mut self,
        place: &CommitId,
        targets: &[Target],
    ) -> Result<Verdict, HuntError> {
        self.compared.insert(place.clone());
        let (judgement, _) =
            self.oracle.judge_until_decided(place, targets, Phase::Search, None)?;
        Ok(judgement.verdict)
    }

    /// These commits, each after its parents as far as those come after the named commit; and the
    /// parents of the newer end, which may edit the lines too.
    fn with_parents_after(
        &self,
        named: &CommitId,
        commits: Vec<CommitId>,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = self.begun.ends();
        let mut all = Vec::new();
        for commit in commits.into_iter().chain([newer.clone()]) {
            for parent in history.parents(&commit)? {
                if parent != *named && history.is_ancestor(named, &parent)? {
                    all.push(parent);
                }
            }
            all.push(commit);
        }
        all.retain(|one| one != newer);
        Ok(distinct(all))
    }
}
