//! Decides by removal which found commits explain the newer end, where the account leaves this
//! open: the newer end is built without what is left there of each commit's change.

use std::collections::BTreeSet;

use crate::evaluation::{Basis, CommitId, Culprit};
use crate::git::{Change, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::localize::left::EndWithoutChange;
use crate::hunt::range::SearchRange;
use crate::oracle::measures_of;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit};
use super::found_step::FoundStep;
use super::hidden_cause::HiddenCause;
use super::own_mend::OwnMend;

/// Maximum number of commits whose change is removed.
const MOST_REMOVED: usize = 6;

/// Found commits, by what the newer end shows without what is left there of their change.
struct SplitByRemoval {
    /// At least half of the commit's step is gone.
    needed: Vec<Culprit>,
    /// Nothing changes.
    idle: Vec<Culprit>,
    /// The removal does not tell, but a mend in the commit's own files took the step back.
    untold: Vec<(Culprit, Vec<OwnMend>)>,
}

impl Driver<'_> {
    /// If the ledger leaves open which found commits explain the newer end, removes what is left of
    /// each commit's change there. The answer changes only if
    ///
    /// - each removal either takes away at least half of the commit's step or changes nothing, or a
    ///   mend in the commit's own files tells what became of the commit,
    /// - in the second case, what is left of the change in another form makes no step,
    /// - no two commits of the first kind, on separate lines of history, together explain more than
    ///   the whole change,
    /// - no mend in another file, which took a step of the first kind back, is still there, and
    /// - the newer end is good without the changes of all commits of the first kind.
    ///
    /// Then these commits stand, and the others were undone. A commit whose change landed again
    /// counts as undone too, and is named beside the commit that landed it if its removal takes the
    /// step away. A commit stands if only a branch undid it, and no found commit landed it again
    /// there. If no removal changes anything, see [`Self::settle_either`].
    pub(crate) fn settle_by_removal(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let Some(SplitByRemoval { needed, idle, untold }) = self.split_by_removal(ledger, whole)?
        else {
            return Ok(());
        };
        if needed.is_empty() {
            return if untold.is_empty() { self.settle_either(ledger, &idle) } else { Ok(()) };
        }
        let (mut own, mut landed_again) = (Vec::new(), Vec::new());
        for culprit in &needed {
            let by = match self.mend_where(ledger, culprit, History::is_restored)? {
                // The removal took another commit's lines out.
                Some(by) if self.is_made_elsewhere(culprit, &by)? => return Ok(()),
                Some(by) => Some(by),
                None => self.put_back_after(&self.own_mends(ledger, culprit)?, culprit, &needed)?,
            };
            let Some(by) = by else {
                own.push(culprit.clone());
                continue;
            };
            let is_kept = self.is_kept_beside(culprit, &by, &whole.newer)?;
            if is_kept && !self.is_landed_again(culprit, &needed)? {
                own.push(culprit.clone());
            } else {
                landed_again.push((culprit, by, is_kept));
            }
        }
        let mut undone = Vec::new();
        for (culprit, mends) in &untold {
            let by = match self.put_back_after(mends, culprit, &needed)? {
                None => self.undone_in_own_files(mends, culprit)?,
                by => by,
            };
            let Some(by) = by else { return Ok(()) };
            if self.is_kept_beside(culprit, &by, &whole.newer)? {
                return Ok(());
            }
            undone.push((culprit, by));
        }
        if own.is_empty() || self.has_a_pair_too_many(ledger, whole, &own)? {
            return Ok(());
        }
        for culprit in &idle {
            if !self.is_rework_harmless(culprit)? {
                return Ok(());
            }
        }
        for culprit in &own {
            if self.is_still_countered(ledger, culprit, &idle, &whole.newer)? {
                return Ok(());
            }
        }
        let Some(seen) = self.newer_end_good_without(&own)? else { return Ok(()) };
        ledger.close_checks(&seen);
        for culprit in &own {
            ledger.set_needed(culprit);
        }
        for (culprit, by, is_kept) in landed_again {
            ledger.set_landed_again(culprit, &by);
            if is_kept {
                ledger.kept_beside.insert(culprit.info.commit.clone());
            }
        }
        for culprit in &idle {
            ledger.set_idle(culprit, &whole.newer);
        }
        for (culprit, by) in undone {
            ledger.set_idle(culprit, &by);
        }
        Ok(())
    }

    /// Checks each found commit that does not stand in the account, although the newer end loses
    /// its step without it, and whose change was out of the tree for a while: another commit may
    /// have landed the same change again. Returns further ranges to search. `looked_at`: the
    /// commits already checked.
    pub(crate) fn look_whether_needed_last(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        looked_at: &mut BTreeSet<CommitId>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut doubted = BTreeSet::new();
        for FoundCommit { culprit, .. } in ledger.found.iter().filter(|found| !found.stands()) {
            let commit = &culprit.info.commit;
            if looked_at.contains(commit) {
                continue;
            }
            let history = &self.oracle.history;
            let change = history.change_until(&culprit.parent, commit, &whole.newer)?;
            if !history.commits_without_change(commit, &whole.newer, &change)?.is_empty() {
                doubted.insert(commit.clone());
            }
        }
        if doubted.is_empty() {
            return Ok(Vec::new());
        }
        let split = self.split_by_removal(ledger, whole)?;
        let tells = |split: &SplitByRemoval| !split.needed.is_empty() && split.untold.is_empty();
        let Some(SplitByRemoval { needed, .. }) = split.filter(tells) else {
            return Ok(Vec::new());
        };
        let mut next = Vec::new();
        for culprit in needed.iter().filter(|one| doubted.contains(&one.info.commit)) {
            let commit = &culprit.info.commit;
            looked_at.insert(commit.clone());
            let search_range = &whole.moved_by(culprit);
            let seen = self.known_runs(commit, &measures_of(&search_range.targets))?;
            let step = FoundStep { search_range, culprit, seen: &seen };
            next.extend(self.measure_after(ledger, &step)?);
        }
        self.settle_account(ledger)?;
        Ok(next)
    }

    /// Removes what is left of each found commit's change from the newer end, if the ledger leaves
    /// open which of these commits explain that end. `None` if the ledger does not leave this open,
    /// or if neither a removal nor a mend in the commit's own files tells.
    fn split_by_removal(
        &mut self,
        ledger: &Ledger,
        whole: &SearchRange,
    ) -> Result<Option<SplitByRemoval>, HuntError> {
        if !whole.explains_levels()
            || !self.values_repeat(&whole.targets)
            || self.limit.is_some()
            || !ledger.is_in_question()
        {
            return Ok(None);
        }
        // A mend may have undone another commit than the account says.
        let open: Vec<Culprit> = ledger.found.iter().map(|found| found.culprit.clone()).collect();
        let is_exact =
            |culprit: &Culprit| culprit.basis == Basis::BitExact || culprit.failure.is_some();
        if open.is_empty() || open.len() > MOST_REMOVED || !open.iter().all(is_exact) {
            return Ok(None);
        }
        let mut split = SplitByRemoval { needed: Vec::new(), idle: Vec::new(), untold: Vec::new() };
        for culprit in open {
            match self.newer_end_without(&culprit)? {
                EndWithoutChange::LosesTheStep => split.needed.push(culprit),
                EndWithoutChange::ShowsTheSame => split.idle.push(culprit),
                EndWithoutChange::KeepsAPart | EndWithoutChange::Unknown => {
                    let mends = self.own_mends(ledger, &culprit)?;
                    if mends.is_empty() {
                        return Ok(None);
                    }
                    split.untold.push((culprit, mends));
                }
            }
        }
        Ok(Some(split))
    }

    /// If the newer end keeps the steps of two commits on separate lines of history without either
    /// of them, and is good without both, each of the two makes the step there: both stand. For
    /// example, a cherry-pick put the same line at another place, and a merge has both lines.
    fn settle_either(&mut self, ledger: &mut Ledger, idle: &[Culprit]) -> Result<(), HuntError> {
        let [one, other] = idle else { return Ok(()) };
        let [first, second] = [one, other].map(|culprit| &culprit.info.commit);
        let is_one_line = self.oracle.history.are_on_one_line(first, second)?;
        if !is_one_line && self.newer_end_good_without(idle)?.is_some() {
            for culprit in idle {
                ledger.set_needed(culprit);
            }
            ledger.either = Some([one, other].map(|culprit| culprit.info.commit.clone()));
        }
        Ok(())
    }

    /// Whether two of these commits explain too much together: the removal of one of them took out
    /// lines of the other.
    fn has_a_pair_too_many(
        &self,
        ledger: &Ledger,
        whole: &SearchRange,
        culprits: &[Culprit],
    ) -> Result<bool, HuntError> {
        let is_one = |commit: &CommitId| culprits.iter().any(|one| one.info.commit == *commit);
        let pairs = self.too_much_together(ledger, whole)?;
        Ok(pairs.iter().any(|pair| pair.iter().all(is_one)))
    }

    /// Whether another file took this commit's step back, and the newer end still has the text of
    /// that mend. Then another commit makes the step there, and the newer end loses as much without
    /// either of the two. A mend that took out an `idle` commit's change says nothing.
    fn is_still_countered(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        idle: &[Culprit],
        newer: &CommitId,
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let commit = &culprit.info.commit;
        for found in ledger.found.iter().filter(|found| found.has_effects_of(culprit)) {
            let CulpritStatus::Undone { by, .. } = &found.status else { continue };
            let own = history.change_until(&culprit.parent, commit, by)?;
            let is_whole = history.contains_change(by, &own) == Some(true)
                && !history.is_gone_in_part(by, &own);
            if !is_whole || self.lacks_one_of(idle, by)? {
                continue;
            }
            for mend in ledger.mends().iter().filter(|mend| mend.by == *by) {
                let before = mend.before.as_ref().unwrap_or(commit);
                let change = history.change_until(before, by, newer)?;
                if history.contains_change(newer, &change) != Some(false) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether the text of one of these commits' changes is gone at a later commit.
    fn lacks_one_of(&self, culprits: &[Culprit], later: &CommitId) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        for culprit in culprits {
            let commit = &culprit.info.commit;
            if !history.is_ancestor(commit, later)? {
                continue;
            }
            let change = history.change_until(&culprit.parent, commit, later)?;
            if history.contains_change(later, &change) == Some(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a line of history beside `by`, which undid a found commit's change, keeps the change
    /// up to the newer end.
    pub(super) fn is_kept_beside(
        &self,
        culprit: &Culprit,
        by: &CommitId,
        newer: &CommitId,
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let commit = &culprit.info.commit;
        let change = history.change_until(&culprit.parent, commit, newer)?;
        Ok(history.is_kept_beside(by, [commit, newer], &change)?)
    }

    /// Whether one of these commits landed a found commit's change again: its parent lacks the
    /// change, and it has the change.
    pub(super) fn is_landed_again(
        &self,
        culprit: &Culprit,
        all: &[Culprit],
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let commit = &culprit.info.commit;
        for other in all {
            let [before, after] = [&other.parent, &other.info.commit];
            if after == commit || !history.is_ancestor(commit, before)? {
                continue;
            }
            let change = history.change_until(&culprit.parent, commit, after)?;
            if history.contains_change(before, &change) == Some(false)
                && history.contains_change(after, &change) != Some(false)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commit of the first known mend after a found commit at which `is_it` holds for the found
    /// commit's change.
    pub(super) fn mend_where(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        is_it: impl Fn(&History, &CommitId, &Change) -> bool,
    ) -> Result<Option<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let commit = &culprit.info.commit;
        for mend in ledger.mends() {
            if !history.is_ancestor(commit, &mend.by)? {
                continue;
            }
            let change = history.change_until(&culprit.parent, commit, &mend.by)?;
            if is_it(history, &mend.by, &change) {
                return Ok(Some(mend.by.clone()));
            }
        }
        Ok(None)
    }
}

impl Ledger {
    /// Records that the newer end shows a found commit's step because of the commit's change.
    fn set_needed(&mut self, culprit: &Culprit) {
        let commit = &culprit.info.commit;
        for found in self.found.iter_mut().filter(|one| one.has_effects_of(culprit)) {
            found.status = CulpritStatus::Stands;
            found.among = None;
        }
        self.hidden.retain(|one| one.found != *commit);
        self.leaving.retain(|one| one != commit);
    }

    /// Records that the newer end shows a found commit's step because the same change landed again.
    /// `by`: the first known commit without it.
    fn set_landed_again(&mut self, culprit: &Culprit, by: &CommitId) {
        self.set_needed(culprit);
        for found in self.found.iter_mut().filter(|one| one.has_effects_of(culprit)) {
            found.status = CulpritStatus::Undone { by: by.clone(), again: true };
        }
    }

    /// Records that the newer end shows a found commit's step without the commit's change too.
    /// `by`: the first known commit without it.
    fn set_idle(&mut self, culprit: &Culprit, by: &CommitId) {
        for found in self.found.iter_mut().filter(|one| one.has_effects_of(culprit)) {
            found.status = CulpritStatus::Undone { by: by.clone(), again: false };
        }
    }

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
        let is_hidden =
            |one: &HiddenCause| self.named().any(|named| named.info.commit == one.found);
        let mut found = self.found.iter();
        self.candidates.is_empty()
            && !self.found.iter().any(is_shared)
            && (self.hidden.iter().any(is_hidden)
                || self.explains_too_much()
                || !self.open_checks.is_empty()
                || found.any(|found| is_open(&found.status) || found.among.is_some()))
    }
}
