//! In noise, whether a later commit surely lacks a named commit's step. A later commit with the
//! older end's verdict may have more than half of the step, or its level may be better for another
//! reason: a merge may have brought in the mend of another step.

use crate::evaluation::{CommitId, Culprit, GuardTarget};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::neighbours::oriented_step;
use crate::hunt::outcome::undoing::{Sizes, Undoing};

use super::places::spread_with_ends;

/// Maximum number of measured branches without the named commit. Two or more.
const MOST_BRANCHES: usize = 3;

impl Driver<'_> {
    /// Whether a later commit, which has the older end's verdict, surely lacks more than half of a
    /// named commit's step, and no merge between them explains that. Makes up to 24 runs of each
    /// compared commit. For failure rates, and if the commit has no step in the metric, the verdict
    /// decides. For targets whose levels can be compared from commit to commit.
    pub(super) fn lacks_step(
        &mut self,
        culprit: &Culprit,
        target: &GuardTarget,
        place: &CommitId,
    ) -> Result<bool, HuntError> {
        let Some(step) = oriented_step(culprit, target).filter(|_| !target.is_rate()) else {
            return Ok(true);
        };
        let found = &culprit.info.commit;
        let beside_found = Sizes { step, above: 0.0 };
        if self.undoing_by_levels([found, place], target, beside_found)? != Undoing::Undone {
            return Ok(false);
        }
        for branch in self.merged_without(found, place)? {
            if self.explains_lack([found, place, &branch], target, step)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a merged branch without the named commit may explain that a later commit is better
    /// than the named one: that commit may be worse than the branch by more than half of the step,
    /// and the branch may have become better by that much since the named commit's history left it.
    fn explains_lack(
        &mut self,
        [found, place, branch]: [&CommitId; 3],
        target: &GuardTarget,
        step: f64,
    ) -> Result<bool, HuntError> {
        let with_step = Sizes { step, above: step };
        if self.undoing_by_levels([branch, place], target, with_step)? == Undoing::Undone {
            return Ok(false);
        }
        for fork in self.oracle.history.merge_bases(found, branch)? {
            let from_fork = Sizes { step, above: 0.0 };
            if self.undoing_by_levels([&fork, branch], target, from_fork)? != Undoing::Lasts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The branches without a commit that merges between it and a later commit bring in: the last
    /// commit of each. At most [`MOST_BRANCHES`], the first and the last among them.
    fn merged_without(
        &self,
        found: &CommitId,
        place: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let mut branches = Vec::new();
        for commit in history.descending(found, place)? {
            let parents = history.parents(&commit)?;
            if parents.len() < 2 {
                continue;
            }
            for parent in parents {
                if !history.is_ancestor(found, &parent)? {
                    branches.push(parent);
                }
            }
        }
        Ok(spread_with_ends(distinct(branches), MOST_BRANCHES))
    }
}
