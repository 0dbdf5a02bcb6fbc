//! Tests whether a merge makes its step by its own edits: builds what its parents alone give.

use crate::evaluation::{CommitId, Culprit, Target};
use crate::git::Conflicts;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::revert::Patched;

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
        let bases = self.oracle.history.merge_bases(&merge.parent, branch)?;
        let [base] = &bases[..] else { return Ok(false) };
        if judged.len() < targets.len() || self.common_recipe(merge)?.is_none() {
            return Ok(false);
        }
        let recipes = &self.oracle.recipes;
        let from = recipes.tree_with(base, Vec::new())?;
        let to = recipes.tree_with(branch, Vec::new())?;
        let patched = self.patched_with(&merge.parent, &[[from, to]], Conflicts::Replaced)?;
        let Patched::Done { recipe, .. } = patched else { return Ok(false) };
        let tested = self.judge_end(&merge.parent, &recipe, &judged)?;
        Ok(tested.is_some_and(|(judgement, _)| self.terms().is_older(judgement.verdict)))
    }
}
