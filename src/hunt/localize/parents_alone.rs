//! Tests whether a merge makes its step or its improvement by its own edits: builds what its
//! parents alone give.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Target};
use crate::git::Conflicts;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::patched::Patched;

impl Driver<'_> {
    /// Whether a merge of this branch makes its step by its own edits: its parent with the whole
    /// change of the branch has the older end's verdict. False if no test tells. Where both sides
    /// edited the same lines, the test takes those of the branch: the branch is the other suspect.
    pub(crate) fn is_step_of_merge_itself(
        &mut self,
        merge: &Culprit,
        branch: &CommitId,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        let judged = self.judged_alone(targets);
        if judged.len() < targets.len() {
            return Ok(false);
        }
        let patched = self.parent_with_branch(merge, branch)?;
        let Some(Patched::Done { recipe, .. }) = patched else { return Ok(false) };
        let tested = self.judge_end(&merge.parent, &recipe, &judged)?;
        Ok(tested.is_some_and(|(judgement, _)| self.terms().is_older(judgement.verdict)))
    }

    /// Whether a merge of this branch makes its improvement by its own edits: its parent with the
    /// whole change of the branch still has the parent's level, to within the tolerance. False if
    /// no test tells. `level`: that of the parent.
    pub(crate) fn is_fall_of_merge_itself(
        &mut self,
        merge: &Culprit,
        branch: &CommitId,
        target: &GuardTarget,
        level: f64,
    ) -> Result<bool, HuntError> {
        let judged = self.judged_alone(&[Target::Guard(target.clone())]);
        if judged.is_empty() {
            return Ok(false);
        }
        let recipe = match self.parent_with_branch(merge, branch)? {
            Some(Patched::Done { recipe, .. }) => recipe,
            Some(Patched::Same) => return Ok(true),
            Some(Patched::Conflict(_)) | None => return Ok(false),
        };
        let tested = self.judge_end(&merge.parent, &recipe, &judged)?;
        let shown = tested.and_then(|(_, seen)| seen.level(&target.guard.metric)?.number());
        Ok(shown.is_some_and(|shown| (shown - level).abs() <= target.limit.max(0.0)))
    }

    /// A merge's parent with the whole change of a branch that it merges; the branch's lines where
    /// both sides edited the same ones. `None` if the two have several merge bases, or if the merge
    /// and its parent are not built by the same recipe.
    fn parent_with_branch(
        &mut self,
        merge: &Culprit,
        branch: &CommitId,
    ) -> Result<Option<Patched>, HuntError> {
        let bases = self.oracle.history.merge_bases(&merge.parent, branch)?;
        let [base] = &bases[..] else { return Ok(None) };
        if self.common_recipe(merge)?.is_none() {
            return Ok(None);
        }
        let recipes = &self.oracle.recipes;
        let from = recipes.tree_with(base, Vec::new())?;
        let to = recipes.tree_with(branch, Vec::new())?;
        self.patched_with(&merge.parent, &[[from, to]], Conflicts::LinesReplaced).map(Some)
    }
}
