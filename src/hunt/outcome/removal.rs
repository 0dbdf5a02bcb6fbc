//! Decides by removal which found commits explain the newer end, where the account leaves this
//! open: the newer end is built without what is left there of each commit's change.

use crate::evaluation::{Basis, CommitId, Culprit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::localize::left::EndWithoutChange;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit};

/// Maximum number of commits whose change is removed.
const MOST_REMOVED: usize = 6;

impl Driver<'_> {
    /// If the ledger leaves open which found commits explain the newer end, removes what is left of
    /// each commit's change there. The answer changes only if
    ///
    /// - each removal either takes away at least half of the commit's step or changes nothing,
    /// - in the second case, what is left of the change in another form makes no step, and
    /// - the newer end is good without the changes of all commits of the first kind.
    ///
    /// Then these commits stand, and the others were undone.
    pub(crate) fn settle_by_removal(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels()
            || !self.values_repeat(&whole.targets)
            || self.limit.is_some()
            || !ledger.is_in_question()
        {
            return Ok(());
        }
        // A mend may have undone another commit than the account says.
        let open: Vec<Culprit> = ledger.found.iter().map(|found| found.culprit.clone()).collect();
        let is_exact =
            |culprit: &Culprit| culprit.basis == Basis::BitExact || culprit.failure.is_some();
        if open.is_empty() || open.len() > MOST_REMOVED || !open.iter().all(is_exact) {
            return Ok(());
        }
        let (mut needed, mut idle) = (Vec::new(), Vec::new());
        for culprit in open {
            match self.newer_end_without(&culprit)? {
                EndWithoutChange::LosesTheStep => needed.push(culprit),
                EndWithoutChange::ShowsTheSame => idle.push(culprit),
                EndWithoutChange::Unknown => return Ok(()),
            }
        }
        if needed.is_empty() {
            return Ok(());
        }
        for culprit in &idle {
            if !self.is_rework_harmless(culprit)? {
                return Ok(());
            }
        }
        if !self.newer_end_is_good_without(&needed)? {
            return Ok(());
        }
        for culprit in &needed {
            ledger.set_needed(&culprit.info.commit);
        }
        for culprit in &idle {
            ledger.undone_by(&culprit.info.commit, &whole.newer);
        }
        Ok(())
    }
}

impl Ledger {
    /// Whether it is open which of the found commits explain the newer end. If another commit may
    /// have made the same change again, a removal does not tell the two apart.
    fn is_in_question(&self) -> bool {
        let is_open = |status: &CulpritStatus| {
            matches!(status, CulpritStatus::Unclear | CulpritStatus::Hides { .. })
        };
        let is_shared = |found: &FoundCommit| match &found.among {
            Some((among, _)) => among.iter().any(|one| *one != found.culprit.info.commit),
            None => false,
        };
        let is_hidden = |(commit, _): &(CommitId, Vec<CommitId>)| {
            self.named().any(|named| named.info.commit == *commit)
        };
        let mut found = self.found.iter();
        self.candidates.is_empty()
            && !self.found.iter().any(is_shared)
            && (self.hidden.iter().any(is_hidden)
                || self.explains_too_much()
                || found.any(|found| is_open(&found.status) || found.among.is_some()))
    }
}
