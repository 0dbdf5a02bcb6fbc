//! What a branch that a found merge brings in shows by itself.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::level::{Level, is_worse, part};

impl Driver<'_> {
    /// If a found merge brings in a branch whose own level rises, returns that part of the branch.
    /// If the tip of the branch fails or has no number, the branch cannot be measured by itself:
    /// records that the branch's commits may be the cause. Often such a branch forks off before a
    /// commit that mended the good end.
    pub(crate) fn inside_merge(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        merge: &Culprit,
    ) -> Result<Option<SearchRange>, HuntError> {
        for parent in &self.oracle.history.parents(&merge.info.commit)? {
            if *parent == merge.parent {
                continue;
            }
            let judgement = self.judge(parent, &search_range.targets)?;
            let is_older = search_range.is_older(judgement.verdict);
            let bases = self.oracle.history.merge_bases(&merge.parent, parent)?;
            if bases.contains(parent) {
                continue;
            }
            for base in &bases {
                self.judge(base, &search_range.targets)?;
            }
            for target in &search_range.targets {
                let Target::Guard(target) = target else {
                    if !is_older {
                        self.note_branch(ledger, search_range, merge, parent)?;
                    }
                    continue;
                };
                let Some((base, from)) = self.worst_of(&bases, target)? else { continue };
                let to = self.level_at(parent, target)?;
                if !to.value.is_finite() {
                    if is_older {
                        // A fact has no number.
                        let branch = self.oracle.history.descending(&base, parent)?;
                        ledger.hides(&merge.info.commit, &branch);
                    } else {
                        self.note_branch(ledger, search_range, merge, parent)?;
                    }
                    continue;
                }
                let rise = if is_worse(target, &from, &to) {
                    Some([from, to])
                } else {
                    let levels = self.around_its_files(merge, &base, parent, target)?;
                    levels.filter(|[from, to]| is_worse(target, from, to))
                };
                if let Some([from, to]) = rise {
                    let inner = part(search_range, target, &from, &to);
                    return Ok(Some(SearchRange { aside: Vec::new(), ..inner }));
                }
            }
        }
        Ok(None)
    }

    /// Records that each commit that the merge brings in from this parent may have made the merge's
    /// step, unless the merge made the step by its own edits.
    fn note_branch(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        merge: &Culprit,
        parent: &CommitId,
    ) -> Result<(), HuntError> {
        if self.is_step_of_merge_itself(merge, parent, &search_range.targets)? {
            return Ok(());
        }
        let old = vec![merge.parent.clone(), self.begun.good.commit.clone()];
        let range = Range { old, ..Range::between(&merge.parent, parent) };
        ledger.may_be_merged_in(&merge.info.commit, self.oracle.history.commits(&range)?);
        Ok(())
    }

    /// The merge base with the worst level, and that level. Both parents of the merge contain the
    /// base, so the merge did not bring in that level.
    fn worst_of(
        &mut self,
        bases: &[CommitId],
        target: &GuardTarget,
    ) -> Result<Option<(CommitId, Level)>, HuntError> {
        let mut worst: Option<(CommitId, Level)> = None;
        for base in bases {
            let level = self.level_at(base, target)?;
            if worst.as_ref().is_none_or(|(_, known)| is_worse(target, known, &level)) {
                worst = Some((base.clone(), level));
            }
        }
        Ok(worst)
    }

    /// The levels before and after the commits of a merged branch that touch the merge's files. An
    /// improvement on the branch may hide their step; the merge may leave that improvement out.
    fn around_its_files(
        &mut self,
        merge: &Culprit,
        base: &CommitId,
        tip: &CommitId,
        target: &GuardTarget,
    ) -> Result<Option<[Level; 2]>, HuntError> {
        let history = &self.oracle.history;
        let change = history.change(&merge.parent, &merge.info.commit)?;
        let touching = history.touching(base, tip, &change)?;
        let (Some(first), Some(last)) = (touching.first(), touching.last()) else {
            return Ok(None);
        };
        let Some(before) = history.parents(first)?.into_iter().next() else { return Ok(None) };
        let targets = [Target::Guard(target.clone())];
        self.judge(&before, &targets)?;
        self.judge(last, &targets)?;
        Ok(Some([self.level_at(&before, target)?, self.level_at(last, target)?]))
    }
}
