//! What commits gained that brought an improvement, against the step of the commit that takes it
//! back. A larger step is not explained by the improvement alone.

use crate::evaluation::{Culprit, GuardTarget, Target, exceeds_limit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::behind_improvements::{MOST_BROUGHT, has_levels};
use super::dropped_improvement::DroppedImprovement;

impl Driver<'_> {
    /// Whether no revert makes a step that is larger, by more than the tolerance, than what the
    /// commits gained that brought the improvement. Otherwise it does something else too: what it
    /// goes back to is worse now, or the lines that stay need those that it takes back. Only where
    /// values repeat.
    pub(super) fn are_worth_their_gains(
        &mut self,
        ledger: &Ledger,
        whole: &SearchRange,
        reverts: &[Culprit],
    ) -> Result<bool, HuntError> {
        for culprit in reverts {
            let commit = &culprit.info.commit;
            let Some(dropped) = ledger.dropped.iter().find(|one| one.by == *commit) else {
                continue;
            };
            for target in &whole.moved_by(culprit).targets {
                let Some(guarded) = target.guard().filter(|target| has_levels(target)) else {
                    continue;
                };
                let step = culprit.effect_on(&guarded.guard.metric).and_then(|it| it.own_step);
                let Some(step) = step.filter(|_| guarded.noise.is_none()) else { continue };
                let gained = self.gained_by(dropped, target, guarded)?;
                let limit = guarded.limit.max(0.0);
                let is_worth = |gained| !exceeds_limit(step - gained, limit, [step, gained]);
                if !gained.is_some_and(is_worth) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// By how much the commits that brought an improvement made the metric better; `None` if one of
    /// their levels is not known, or if they are too many to measure.
    fn gained_by(
        &mut self,
        dropped: &DroppedImprovement,
        target: &Target,
        guarded: &GuardTarget,
    ) -> Result<Option<f64>, HuntError> {
        if dropped.brought.len() > MOST_BROUGHT {
            return Ok(None);
        }
        let mut gained = 0.0;
        for (before, by) in dropped.before.iter().zip(&dropped.brought) {
            for commit in [before, by] {
                self.judge(commit, std::slice::from_ref(target))?;
            }
            let (from, to) = (self.level_at(before, guarded)?, self.level_at(by, guarded)?);
            if !from.value.is_finite() || !to.value.is_finite() {
                return Ok(None);
            }
            gained += guarded.guard.worsening(to.value, from.value);
        }
        Ok(Some(gained))
    }
}
