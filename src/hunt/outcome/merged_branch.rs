//! What a branch that a found merge brings in shows by itself.

use crate::evaluation::{CommitId, Culprit, Effect, GuardTarget, Target, exceeds_limit};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::hidden_cause::WhyHidden;
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
                        let why = WhyHidden::NoNumberOnBranch;
                        ledger.hides(&merge.info.commit, &branch, why);
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

    /// Whether a merge made a step by its own edits, beside the step of the branch that it brings
    /// in. `inner`: the part of the branch that rises. False if levels do not repeat, or if the
    /// merge's parents have several merge bases: what both sides share is then not one level.
    pub(crate) fn adds_own_step(
        &mut self,
        merge: &Culprit,
        inner: &SearchRange,
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let parents = history.parents(&merge.info.commit)?;
        let [one, other] = &parents[..] else { return Ok(false) };
        if history.merge_bases(one, other)?.len() != 1 {
            return Ok(false);
        }
        for branch in inner.targets.iter().filter_map(Target::guard) {
            let Some(effect) = merge.effect_on(&branch.guard.metric) else { continue };
            let before = self.level_at(&merge.parent, branch)?;
            if is_beyond_branch(branch, before.value, effect) {
                return Ok(true);
            }
        }
        Ok(false)
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
    pub(super) fn worst_of(
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

/// Whether a merge made a step that its branch cannot have made. The merge must be worse than its
/// other parent by more than the branch got worse, and the excess must be its confirmed step: then
/// that step was measured against a parent that has the branch's step already. `branch`: the target
/// between the levels of the branch. `before`: the level of the merge's other parent.
fn is_beyond_branch(branch: &GuardTarget, before: f64, effect: &Effect) -> bool {
    let branch_levels = branch.baseline.number().zip(branch.bad.number());
    let of_merge = effect.commit.number().zip(effect.own_step);
    let Some(((from, to), (after, own_step))) = branch_levels.zip(of_merge) else { return false };
    let guard = &branch.guard;
    let added = guard.worsening(before, after) - guard.worsening(from, to);
    let limit = branch.limit.max(0.0);
    branch.noise.is_none()
        && exceeds_limit(added, limit, [before, after])
        && (added - own_step).abs() <= limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{effect, noisy, target};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    #[test]
    fn a_merge_is_beyond_its_branch_if_its_own_step_is_what_the_branch_does_not_explain() {
        // The branch rises from 7 to 7.75, and the other parent is at 7.
        let branch = target(UP, 7.0, 7.75);
        assert!(is_beyond_branch(&branch, 7.0, &effect(7.75, 8.75, 0.1)));
        assert!(!is_beyond_branch(&branch, 7.0, &effect(7.0, 7.75, 0.1)));
        // Its own step is within the tolerance.
        assert!(!is_beyond_branch(&branch, 7.0, &effect(7.75, 7.8, 0.1)));
        // The step was measured against a parent without the branch's step.
        assert!(!is_beyond_branch(&branch, 7.0, &effect(7.0, 8.75, 0.1)));
        // The branch forked off below the other parent, and brings in its whole step.
        let below = target(UP, 6.0, 7.0);
        assert!(!is_beyond_branch(&below, 7.0, &effect(7.0, 8.0, 0.1)));
        assert!(!is_beyond_branch(&noisy(UP, 7.0, 7.75), 7.0, &effect(7.75, 8.75, 0.1)));
    }
}
