//! Which later commits are measured to see whether one of them undid a named commit's change.

use crate::evaluation::{CommitId, Culprit};
use crate::git::Change;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::left::EndWithoutChange;

/// If at most so many commits touch the files of a change, all of them are measured. So many are
/// also enough if the newer end has all lines of the change and shows the same as the commit.
pub(super) const MOST_LOOKS: usize = 6;
/// So many commits that do not edit the lines of the change are measured, even if many others do.
const LEAST_LOOKS: usize = 2;
/// Maximum number of measured commits.
const MOST_EDITS: usize = 24;

/// The commits that are measured to see whether one of them undid a change, oldest first.
pub(super) struct Places {
    pub(super) measured: Vec<CommitId>,
    /// How many commits that may undo the change are not measured.
    pub(super) left_out: usize,
}

impl Driver<'_> {
    /// The commits to measure after a named one. Each commit that edits the lines of the change may
    /// undo it. If the newer end loses the step with the old lines, these lines still make it: only
    /// these commits are measured then. If not, a commit may undo the change in other lines too.
    /// `change`: followed to the newer end.
    pub(super) fn places_after(
        &self,
        commit: &CommitId,
        change: &Change,
        end: EndWithoutChange,
        is_one_result: bool,
    ) -> Result<Places, HuntError> {
        let [_, newer] = self.begun.ends();
        let history = &self.oracle.history;
        let mut touching = self.touching_later(commit, change)?;
        let is_needed = end == EndWithoutChange::LosesTheStep;
        if !is_needed && touching.len() <= MOST_LOOKS {
            return Ok(Places { measured: touching, left_out: 0 });
        }
        let edits = history.editing(&touching, change)?;
        let edits_left_out = edits.len().saturating_sub(MOST_EDITS);
        if is_needed {
            return Ok(Places {
                measured: spread_with_ends(edits, MOST_EDITS),
                left_out: edits_left_out,
            });
        }
        let others: Vec<_> = touching.iter().filter(|one| !edits.contains(one)).cloned().collect();
        let is_untested = end == EndWithoutChange::Unknown;
        let is_kept = is_untested && is_one_result && history.keeps_lines(newer, change);
        let most = if is_kept { MOST_LOOKS } else { MOST_EDITS };
        let most_others = most.saturating_sub(edits.len()).max(LEAST_LOOKS);
        let left_out = edits_left_out + others.len().saturating_sub(most_others);
        let chosen =
            [spread_with_ends(edits, MOST_EDITS), spread_with_ends(others, most_others)].concat();
        touching.retain(|one| chosen.contains(one));
        Ok(Places { measured: touching, left_out })
    }

    /// Whether more commits touch the files of a named commit's change than are measured one by
    /// one. `change`: followed to the newer end.
    pub(super) fn is_touched_often(
        &self,
        commit: &CommitId,
        change: &Change,
    ) -> Result<bool, HuntError> {
        Ok(self.touching_later(commit, change)?.len() > MOST_LOOKS)
    }

    /// The named commit's change in files with these paths, followed to the newer end.
    pub(super) fn followed_change(
        &self,
        culprit: &Culprit,
        paths: &[&str],
    ) -> Result<Change, HuntError> {
        let commit = &culprit.info.commit;
        let [_, newer] = self.begun.ends();
        let history = &self.oracle.history;
        let change = history.change_in(&culprit.parent, commit, paths)?;
        Ok(history.followed(change, commit, newer)?)
    }

    /// The commits after a named one that touch the files of its change, without the newer end.
    pub(super) fn touching_later(
        &self,
        commit: &CommitId,
        change: &Change,
    ) -> Result<Vec<CommitId>, HuntError> {
        let [_, newer] = self.begun.ends();
        let mut touching = self.oracle.history.touching(commit, newer, change)?;
        touching.retain(|one| one != newer);
        Ok(touching)
    }
}

/// At most `most` of these commits (two or more), evenly spread, with the first and the last.
pub(super) fn spread_with_ends(commits: Vec<CommitId>, most: usize) -> Vec<CommitId> {
    if commits.len() <= most {
        return commits;
    }
    let place = |number: usize| number * (commits.len() - 1) / (most - 1);
    (0..most).map(|number| commits[place(number)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn few_commits_are_measured_and_the_first_and_last_are_among_them() {
        let all: Vec<CommitId> = "0123456789abc".chars().map(commit).collect();
        let chosen = spread_with_ends(all.clone(), MOST_LOOKS);
        assert_eq!(chosen.len(), MOST_LOOKS);
        assert_eq!((chosen.first(), chosen.last()), (all.first(), all.last()));
        assert_eq!(spread_with_ends(all[..3].to_vec(), MOST_LOOKS), all[..3]);
        assert_eq!(spread_with_ends(all.clone(), LEAST_LOOKS), [all[0].clone(), all[12].clone()]);
    }
}
