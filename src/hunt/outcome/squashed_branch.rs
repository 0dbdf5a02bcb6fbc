//! A branch that one commit brings to the main line at once, as a squash does, and that is merged
//! later too. In between, a commit may take back only the lines that make the step, and keep the
//! rest of the squash. The branch's own commit tells which lines these are.

use crate::evaluation::{CommitId, Culprit};
use crate::git::CommitsWithoutChange;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::measures_of;

use super::account::Ledger;
use super::range_after_mend::goes_on_from;
use super::suspects::UndoLocation;

impl Driver<'_> {
    /// The range to search after a commit that took back what the found commit has in common with a
    /// commit of a branch that is merged later. Adds the mend to the ledger. `None` if no measured
    /// commit took it back.
    pub(super) fn after_squash_was_undone(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Option<SearchRange>, HuntError> {
        let found = &culprit.info.commit;
        let places = self.without_lines_of_branch(ledger, whole, culprit)?;
        // If the found commit is not on the newer side, a search between other ends found it.
        if places.is_empty() || !whole.is_newer(self.judge(found, &whole.targets)?.verdict) {
            return Ok(None);
        }
        for suspect in places {
            match self.find_undone(ledger, whole, culprit, &suspect) {
                // A limit must not discard a confirmed commit.
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("commits without a found change were not measured", &limit);
                    self.limit = Some(limit);
                    return Ok(None);
                }
                undone => {
                    let Some(seen) = undone? else { continue };
                    let before = self.known_runs(found, &measures_of(&whole.targets))?;
                    return Ok(Some(goes_on_from(ledger, whole, &seen, &before)));
                }
            }
        }
        Ok(None)
    }

    /// The places after the found commit whose trees lack the change of another named commit, which
    /// the found commit makes too. Neither contains the other, and the change is back later.
    fn without_lines_of_branch(
        &self,
        ledger: &Ledger,
        whole: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Vec<UndoLocation>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = whole.ends();
        let found = &culprit.info.commit;
        let mut places = Vec::new();
        for other in ledger.standing_culprits() {
            let branch = &other.info.commit;
            if history.is_ancestor(found, branch)? || history.is_ancestor(branch, found)? {
                continue;
            }
            let change = history.change(&other.parent, branch)?;
            let [before, after] =
                [&culprit.parent, found].map(|commit| history.contains_change(commit, &change));
            if [before, after] != [Some(false), Some(true)] {
                continue;
            }
            for CommitsWithoutChange { before, commits } in
                history.commits_without_change(found, newer, &change)?
            {
                if commits.contains(newer) {
                    continue;
                }
                // Perhaps only the last of them can be tested.
                let ends: [Option<&CommitId>; 2] = [commits.first(), commits.last()];
                let mut ends: Vec<CommitId> = ends.into_iter().flatten().cloned().collect();
                ends.dedup();
                places.push(UndoLocation { before, places: ends, is_absence: true });
            }
        }
        Ok(places)
    }
}
