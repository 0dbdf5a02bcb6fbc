//! What the named commits leave unexplained may be small steps that add up. Then no single commit
//! made the rest, and the answer is complete.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, Culprit, GuardTarget, Lineage, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::culprit_status::FoundCommit;
use super::level::{Level, is_worse};

impl Driver<'_> {
    /// Notes in the ledger each metric whose unexplained rest consists of small steps: between the
    /// named commits, no measured commit is worse than the one before it by more than the
    /// tolerance, or by more than the smallest named step. A merge may bring several small steps
    /// at once: then all measured commits count, those of branches too. Looks only at metrics that
    /// repeat.
    pub(crate) fn note_small_steps(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels() {
            return Ok(());
        }
        for account in ledger.accounts() {
            let is_its = |target: &&GuardTarget| target.guard.metric == account.metric;
            let guards = whole.targets.iter().filter_map(|target| match target {
                Target::Guard(target) if target.noise.is_none() => Some(target),
                _ => None,
            });
            let Some(target) = guards.into_iter().find(is_its) else { continue };
            let hidden: Vec<CommitId> = ledger.hidden.iter().map(|one| one.found.clone()).collect();
            let is_doubted = |found: &FoundCommit| hidden.contains(&found.culprit.info.commit);
            let steps = ledger.found().iter().filter(|found| found.is_named());
            let steps = steps.filter(|found| !is_doubted(found)).map(|found| found.culprit.clone());
            let mut steps: Vec<Culprit> =
                steps.filter(|step| step.effect_on(&account.metric).is_some()).collect();
            if steps.is_empty() || account.rest <= account.limit.max(0.0) {
                continue;
            }
            let history = self.oracle.history.commits(&self.whole())?;
            steps.sort_by_key(|step| history.iter().position(|one| *one == step.info.commit));
            let own = steps.iter().filter_map(|step| step.effect_on(&account.metric)?.own_step);
            let smallest = own.map(f64::abs).fold(f64::INFINITY, f64::min);
            let target = GuardTarget { limit: target.limit.min(smallest), ..target.clone() };
            if self.rises_slowly(whole, &target, &steps)?
                || self.rises_slowly_on_all_lines(whole, &target, &steps)?
            {
                ledger.small_steps.insert(account.metric);
            }
        }
        Ok(())
    }

    /// Whether no measured commit between these steps is worse than the one before it by more than
    /// the target's limit.
    fn rises_slowly(
        &mut self,
        whole: &SearchRange,
        target: &GuardTarget,
        steps: &[Culprit],
    ) -> Result<bool, HuntError> {
        let mut from = whole.older.clone();
        let ends = steps.iter().map(|step| (&step.parent, Some(&step.info.commit)));
        for (to, then) in ends.chain([(&whole.newer, None)]) {
            if from != *to {
                if !self.oracle.history.is_ancestor(&from, to)? {
                    return Ok(false);
                }
                let levels = self.levels_between(&from, to, target)?;
                if levels.windows(2).any(|pair| is_worse(target, &pair[0], &pair[1])) {
                    return Ok(false);
                }
            }
            from = then.unwrap_or(&from).clone();
        }
        Ok(true)
    }

    /// See [`has_no_jump`].
    fn rises_slowly_on_all_lines(
        &mut self,
        whole: &SearchRange,
        target: &GuardTarget,
        steps: &[Culprit],
    ) -> Result<bool, HuntError> {
        let lineage = self.oracle.history.lineage(&self.whole())?;
        let measured = self.measured()?;
        let mut levels = BTreeMap::new();
        for Lineage { commit, .. } in &lineage {
            if *commit == whole.newer || measured.contains(commit) {
                let level = self.level_at(commit, target)?;
                if level.value.is_finite() {
                    levels.insert(commit.clone(), level);
                }
            }
        }
        let older = self.level_at(&whole.older, target)?;
        let named: BTreeSet<CommitId> = steps.iter().map(|step| step.info.commit.clone()).collect();
        Ok(has_no_jump(&lineage, &levels, &older, &named, target))
    }

    /// The levels of the two commits, and of the measured ones between them along one path.
    fn levels_between(
        &mut self,
        from: &CommitId,
        to: &CommitId,
        target: &GuardTarget,
    ) -> Result<Vec<Level>, HuntError> {
        let measured = self.measured()?;
        let mut levels = Vec::new();
        for commit in [from.clone()].into_iter().chain(self.chain(from, to)?) {
            if commit == *from || commit == *to || measured.contains(&commit) {
                let level = self.level_at(&commit, target)?;
                if level.value.is_finite() {
                    levels.push(level);
                }
            }
        }
        Ok(levels)
    }
}

/// Whether each measured commit, except the named ones, is worse by at most the target's limit than
/// the worst of the measured commits that come before it on its lines of history. `levels`: those
/// of the measured commits; a line without any begins at the level of the older end.
fn has_no_jump(
    lineage: &[Lineage],
    levels: &BTreeMap<CommitId, Level>,
    older: &Level,
    named: &BTreeSet<CommitId>,
    target: &GuardTarget,
) -> bool {
    let worse = |a, b| if is_above(target, a, b) { b } else { a };
    let mut last: BTreeMap<&CommitId, &Level> = BTreeMap::new();
    for Lineage { commit, parents } in lineage {
        let before = parents.iter().map(|parent| last.get(parent).copied().unwrap_or(older));
        let before = before.reduce(worse).unwrap_or(older);
        let level = levels.get(commit);
        let is_jump = level.is_some_and(|level| is_worse(target, before, level));
        if is_jump && !named.contains(commit) {
            return false;
        }
        last.insert(commit, level.unwrap_or(before));
    }
    true
}

/// Whether the second level is worse than the first one, by any amount.
fn is_above(target: &GuardTarget, one: &Level, other: &Level) -> bool {
    target.guard.worsening(one.value, other.value) > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{commit, target};

    /// Whether `ppl` rises slowly from 7 along `a` b c, a branch `a` d e, and their merge f. `d`
    /// has 7.08. `b` is named.
    fn is_slow(levels: &[(char, f64)]) -> bool {
        let lines = [("b", "a"), ("c", "b"), ("d", "a"), ("e", "d"), ("f", "ce")];
        let commits = |names: &str| names.chars().map(commit).collect::<Vec<_>>();
        let lineage = lines.map(|(one, parents)| Lineage {
            commit: commits(one).remove(0),
            parents: commits(parents),
        });
        let level = |(digit, value): &(char, f64)| Level { commit: commit(*digit), value: *value };
        let known = levels.iter().chain(&[('d', 7.08)]).map(level);
        let known: BTreeMap<CommitId, Level> =
            known.map(|level| (level.commit.clone(), level)).collect();
        let named = BTreeSet::from([commit('b')]);
        let target = target(GuardForm::MaxIncrease(0.1), 7.0, 9.0);
        has_no_jump(&lineage, &known, &level(&('a', 7.0)), &named, &target)
    }

    #[test]
    fn a_merge_may_bring_several_small_steps_of_a_measured_branch() {
        assert!(is_slow(&[('b', 8.8), ('c', 8.85), ('f', 8.9)]));
        // The merge adds 0.15 to the older end's level, in two steps.
        assert!(is_slow(&[('c', 7.0), ('e', 7.13), ('f', 7.15)]));
        // Without the level of `e`, its step may be the merge's.
        assert!(is_slow(&[('c', 7.0), ('f', 7.15)]));
    }

    #[test]
    fn a_jump_on_any_line_is_no_small_step() {
        assert!(!is_slow(&[('c', 7.0), ('f', 7.25)]));
        assert!(!is_slow(&[('e', 7.25), ('f', 7.25)]));
        assert!(!is_slow(&[('b', 8.8), ('c', 8.95), ('f', 8.95)]));
        // Where no commit was measured before it, a line begins at the older end's level.
        assert!(!is_slow(&[('c', 7.11), ('f', 7.11)]));
    }
}
