//! Rises of a level after a mend that the hunt saw only later: a search that began at the worse
//! level before the mend could not see them.

use crate::evaluation::{GuardTarget, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;

impl Driver<'_> {
    /// Returns each of these ranges that must be searched: the range lies after a mend, it is not
    /// the own step of a found commit, and the found commits leave more than the tolerance of its
    /// metric unexplained. A step that a found commit itself may have undone is explained. Only
    /// where values repeat: in noise, `ranges_between_named` compares the named commits. The caller
    /// settles the account first.
    pub(super) fn rises_left_after_mends(
        &self,
        ledger: &mut Ledger,
        rises: Vec<SearchRange>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        if rises.is_empty() {
            return Ok(rises);
        }
        self.note_lineage(ledger)?;
        let accounts = ledger.accounts();
        let is_left = |target: &&GuardTarget| {
            let metric = &target.guard.metric;
            let account = accounts.iter().find(|account| account.metric == *metric);
            target.noise.is_none()
                && account.is_some_and(|account| account.left() > account.limit.max(0.0))
        };
        let mut left = Vec::new();
        for rise in rises {
            let is_own_step = ledger.found.iter().any(|found| {
                found.culprit.info.commit == rise.newer && found.culprit.parent == rise.older
            });
            let target = rise.targets.iter().filter_map(Target::guard).find(is_left);
            let Some(target) = target.filter(|_| !is_own_step) else { continue };
            let mut is_after = false;
            for mend in ledger.mends_of(&target.guard.metric) {
                is_after = is_after || self.oracle.history.is_ancestor(&mend.by, &rise.older)?;
            }
            if is_after {
                left.push(rise);
            }
        }
        Ok(left)
    }
}
