//! What the named commits leave unexplained may be small steps that add up. Then no single commit
//! made the rest, and the answer is complete.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::culprit_status::FoundCommit;
use super::level::{Level, is_worse};

impl Driver<'_> {
    /// Notes in the ledger each metric whose unexplained rest consists of small steps: between the
    /// named commits, no measured commit is worse than the one before it by more than the
    /// tolerance, or by more than the smallest named step. Looks only at metrics that repeat.
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
            let hidden: Vec<CommitId> = ledger.hidden.iter().map(|(one, _)| one.clone()).collect();
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
            if self.rises_slowly(whole, &target, &steps)? {
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
