//! In noise, tells whether the level of a found commit's parent is that of a mend: the parent takes
//! an earlier found commit back. Then the parent is better than its own parent for this reason, and
//! not because its code lies elsewhere in memory.

use crate::evaluation::{CommitId, Culprit, GuardTarget};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::account::Ledger;

impl Driver<'_> {
    /// Whether a mend of another found commit is recorded at the parent of a found commit, the text
    /// of the other commit's change goes there, and the parent is not better than the level before
    /// that change by more than the tolerance. `code`: the parent, or the commit before it whose
    /// code the parent runs. Makes no runs.
    pub(super) fn is_parent_a_mend(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        target: &GuardTarget,
        code: &CommitId,
    ) -> Result<bool, HuntError> {
        let places = [&culprit.parent, code];
        if !ledger.mends_of(&target.guard.metric).any(|mend| places.contains(&&mend.by)) {
            return Ok(false);
        }
        let history = &self.oracle.history;
        let parents = history.parents(code)?;
        let [before] = parents.as_slice() else { return Ok(false) };
        for found in ledger.found.iter().filter(|found| found.among.is_none()) {
            let earlier = &found.culprit;
            let commit = &earlier.info.commit;
            if !is_level_before(target, earlier, culprit) || !history.is_ancestor(commit, before)? {
                continue;
            }
            let change = history.change_until(&earlier.parent, commit, code)?;
            let is_there = [before, code].map(|one| history.contains_change(one, &change));
            if is_there == [Some(true), Some(false)] {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the parent of `found` is better than the parent of an earlier found commit by no more
/// than the tolerance.
fn is_level_before(target: &GuardTarget, earlier: &Culprit, found: &Culprit) -> bool {
    let metric = &target.guard.metric;
    let level = |culprit: &Culprit| culprit.effect_on(metric)?.parent.number();
    level(found).zip(level(earlier)).is_some_and(|(here, before)| {
        let is_number = here.is_finite() && before.is_finite();
        is_number && !target.guard.is_worse_by(here, before, target.limit.max(0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{culprit, effect, noisy};

    #[test]
    fn a_parent_that_is_better_than_before_the_earlier_step_is_no_plain_mend() {
        let target = noisy(GuardForm::MaxIncrease(0.5), 7.0, 8.0);
        let step = |digit: char, before: char, parent: f64| Culprit {
            effects: vec![effect(parent, parent + 1.0, 0.5)],
            ..culprit(digit, before)
        };
        let earlier = step('3', '2', 7.0);
        let explains = |parent: f64| is_level_before(&target, &earlier, &step('8', '7', parent));
        assert!(explains(7.1) && explains(6.75) && explains(7.5));
        assert!(!explains(6.25) && !explains(f64::NAN));
        assert!(!is_level_before(&target, &culprit('3', '2'), &step('8', '7', 7.0)));
    }
}
