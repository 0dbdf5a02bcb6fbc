//! Rises of a level after a mend that the hunt saw only later: a search that began at the worse
//! level before the mend could not see them.

use crate::evaluation::{GuardTarget, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;

impl Driver<'_> {
    /// Those of these ranges that lie after a mend, are no found commit's own step, and belong to a
    /// metric whose found steps leave more than the tolerance. Only where values repeat: in noise,
    /// what lies between the named commits is compared. For an account that is settled.
    pub(super) fn rises_left_after_mends(
        &self,
        ledger: &Ledger,
        rises: Vec<SearchRange>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let accounts = ledger.accounts();
        let is_left = |target: &GuardTarget| {
            let metric = &target.guard.metric;
            let account = accounts.iter().find(|account| account.metric == *metric);
            target.noise.is_none()
                && account.is_some_and(|account| account.rest > account.limit.max(0.0))
        };
        let mut left = Vec::new();
        for rise in rises {
            let is_own_step = ledger.found.iter().any(|found| {
                found.culprit.info.commit == rise.newer && found.culprit.parent == rise.older
            });
            let Some(target) = rise.targets.iter().filter_map(Target::guard).find(|it| is_left(it))
            else {
                continue;
            };
            if is_own_step {
                continue;
            }
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
