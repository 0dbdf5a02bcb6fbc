//! Whether the newer end still has the lines of a named commit's change. If it has not, a test with
//! the lines as they were before takes the lines of other commits out of that end, so the step that
//! is lost may be theirs. A merge may have taken these lines from a branch without the commit: that
//! branch is measured.

use std::slice;

use crate::differ;
use crate::evaluation::{Cause, CommitId, Culprit, Finding, Target, Verdict};
use crate::git::{Change, HeldLines, MergeWithoutLines, Range};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::open_change::{BranchStep, OpenChange, WhyOpen};
use super::undone::{LaterCommits, paths_of};

/// Maximum number of measured branches.
const MOST_BRANCHES: usize = 3;

impl Driver<'_> {
    /// The later commits that hold the lines of a named commit's change in their place. Documents
    /// do not count. `change`: followed to the newer end.
    pub(super) fn held_lines(
        &self,
        commit: &CommitId,
        change: &Change,
    ) -> Result<HeldLines, HuntError> {
        let [_, newer] = self.begun.ends();
        let change = change.except(differ::is_document);
        Ok(self.oracle.history.held_lines([commit, newer], &change)?)
    }

    /// Whether the newer end still has the lines of a named commit's change. `of_effects`: see
    /// [`super::undone::cause_of_effects`].
    pub(super) fn end_holds_lines(
        &self,
        culprit: &Culprit,
        of_effects: Option<&Cause>,
    ) -> Result<bool, HuntError> {
        let [_, newer] = self.begun.ends();
        let paths = of_effects.map(paths_of).unwrap_or_default();
        let change = self.followed_change(culprit, &paths)?;
        Ok(self.held_lines(&culprit.info.commit, &change)?.are_in(newer))
    }

    /// How many of these measured commits edit the lines of a change, do not hold them, and cannot
    /// be judged: such a commit may have undone the change.
    pub(super) fn unjudged_edits(
        &mut self,
        places: &[CommitId],
        change: &Change,
        held: &HeldLines,
        targets: &[Target],
    ) -> Result<usize, HuntError> {
        let mut unjudged = Vec::new();
        for place in places.iter().filter(|place| !held.are_in(place)) {
            let verdict = self.judge(place, targets)?.verdict;
            if matches!(verdict, Verdict::Skip | Verdict::Unknown) {
                unjudged.push(place.clone());
            }
        }
        Ok(self.oracle.history.editing(&unjudged, change)?.len())
    }

    /// What the commits after a named one show, with a branch that brings in the step without that
    /// commit. Measures nothing if the newer end holds the lines, or if a later commit lacks the
    /// step.
    pub(super) fn with_step_of_branch(
        &mut self,
        mut later: LaterCommits,
        culprit: &Culprit,
        held: &HeldLines,
        finding: &Finding,
        targets: &[Target],
    ) -> Result<LaterCommits, HuntError> {
        if later.undone.is_some() || self.limit.is_some() {
            return Ok(later);
        }
        let why = match self.step_of_branch(culprit, held, &finding.culprits, targets) {
            Err(HuntError::Limit(limit)) => {
                self.limit = Some(limit.clone());
                Some(WhyOpen::Limit(limit))
            }
            step => step?.map(WhyOpen::OfBranch),
        };
        if let Some(why) = why {
            later.open = vec![OpenChange { commit: culprit.info.commit.clone(), why }];
        }
        Ok(later)
    }

    fn step_of_branch(
        &mut self,
        culprit: &Culprit,
        held: &HeldLines,
        named: &[Culprit],
        targets: &[Target],
    ) -> Result<Option<BranchStep>, HuntError> {
        for step in self.branches_without_lines(culprit, held, named)? {
            let BranchStep { merge, branch, .. } = &step;
            let is_newer = self.judge(branch, targets)?.verdict == self.terms().newer();
            if is_newer && self.has_an_effect(culprit, [merge, branch], targets)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Whether one of the commit's effects does not go back from a merge to its parent.
    fn has_an_effect(
        &mut self,
        culprit: &Culprit,
        [merge, branch]: [&CommitId; 2],
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        for effect in &culprit.effects {
            if !self.goes_back(slice::from_ref(effect), merge, branch, targets)? {
                return Ok(true);
            }
        }
        // A failure has no level: the verdict says all.
        Ok(culprit.effects.is_empty())
    }

    /// If the newer end does not hold the commit's lines: the merged branches without the commit to
    /// which these lines may have been lost. Leaves out branches on which another commit is named:
    /// that one explains what they show.
    pub(super) fn branches_without_lines(
        &self,
        culprit: &Culprit,
        held: &HeldLines,
        named: &[Culprit],
    ) -> Result<Vec<BranchStep>, HuntError> {
        let mut steps = Vec::new();
        let [_, newer] = self.begun.ends();
        if held.are_in(newer) {
            return Ok(steps);
        }
        for MergeWithoutLines { merge, branches } in &held.merges {
            for branch in branches {
                let range = Range::between(&culprit.parent, branch);
                let commits = self.oracle.history.commits(&range)?;
                if !named.iter().any(|one| commits.contains(&one.info.commit)) {
                    let (merge, branch) = (merge.clone(), branch.clone());
                    steps.push(BranchStep { merge, branch, commits });
                }
            }
        }
        steps.truncate(MOST_BRANCHES);
        Ok(steps)
    }
}
