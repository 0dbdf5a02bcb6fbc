//! Corrects what the hunt found earlier: a later found commit may restore files that a found commit
//! changed.

use crate::evaluation::Culprit;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::standing::FoundCommit;

impl Driver<'_> {
    /// Withdraws a found commit if a later found commit restores some of its files. The later
    /// commit also made something worse, and no measurement tells the two effects apart.
    pub(crate) fn withdraw_what_is_put_back(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let history = &self.oracle.history;
        let standing = ledger.found().iter().filter(|found| found.stands());
        let culprits: Vec<Culprit> =
            standing.map(|found: &FoundCommit| found.culprit.clone()).collect();
        for earlier in &culprits {
            let commit = &earlier.info.commit;
            let change = history.change(&earlier.parent, commit)?;
            for later in &culprits {
                let by = &later.info.commit;
                if by == commit
                    || !history.is_ancestor(commit, by)?
                    || !history.is_put_back_by(&later.parent, by, &change)
                {
                    continue;
                }
                let why = format!(
                    "{} puts files of {} back, so that what is left of its step at the {} end is \
                     not known",
                    by.short(),
                    commit.short(),
                    whole.aim.newer(),
                );
                ledger.withdraw(commit, std::slice::from_ref(commit), why);
            }
        }
        Ok(())
    }
}
