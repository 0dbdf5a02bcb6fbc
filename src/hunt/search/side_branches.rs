//! Side branches that fork off before the older end and lack a change that gave the older end its
//! verdict. Their commits tell nothing about the search range, so they are set aside. A merge of
//! such a branch is judged only against its other parents.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::range::{ExcludedBranch, SearchRange};
use crate::store::journal::Event;

impl Driver<'_> {
    /// The side branch that starts at a claimed commit. `parent`: a parent with the same verdict.
    /// `None` if the commit is not on a branch that forks off before the older end.
    pub(crate) fn side_branch(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        parent: &CommitId,
    ) -> Result<Option<ExcludedBranch>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
        if parent == older
            || !history.is_ancestor(parent, older)?
            || history.is_ancestor(older, commit)?
        {
            return Ok(None);
        }
        let range = Range::between(older, newer);
        let mut branch = BTreeSet::from([commit.clone()]);
        let mut with_children = BTreeSet::new();
        // The lineage lists parents before children.
        for one in history.lineage(&range)? {
            let comes_after = one.parents.iter().any(|parent| branch.contains(parent));
            if (comes_after || one.commit == *commit) && !history.is_ancestor(older, &one.commit)? {
                with_children.extend(one.parents);
                branch.insert(one.commit);
            }
        }
        let tips: Vec<CommitId> =
            branch.into_iter().filter(|one| !with_children.contains(one)).collect();
        let change = if search_range.terms.aim().is_regression() { "better" } else { "worse" };
        let text = format!(
            "{} and the commits after it on its branch are set aside: the branch forks off before \
             {} got {change}, and shows the same as {}",
            commit.short(),
            older.short(),
            parent.short()
        );
        self.oracle.recorder.event(Event::Note { text })?;
        Ok(Some(ExcludedBranch { first: commit.clone(), tips }))
    }

    /// Removes parents on branches that were set aside, unless all parents are on such branches.
    pub(crate) fn drop_excluded_parents(
        &self,
        parents: &mut Vec<CommitId>,
        claim: Claim<'_>,
    ) -> Result<(), HuntError> {
        let mut kept = Vec::new();
        for parent in parents.iter() {
            if !self.is_among_aside(parent, claim)? {
                kept.push(parent.clone());
            }
        }
        if !kept.is_empty() {
            *parents = kept;
        }
        Ok(())
    }

    /// Whether a commit lies on a branch that was set aside in the claim's search.
    pub(crate) fn is_among_aside(
        &self,
        commit: &CommitId,
        claim: Claim<'_>,
    ) -> Result<bool, HuntError> {
        self.is_on(commit, claim.ends[0], claim.aside)
    }

    /// Whether a commit lies on a branch that was set aside in this search range.
    pub(crate) fn is_aside(
        &self,
        commit: &CommitId,
        search_range: &SearchRange,
    ) -> Result<bool, HuntError> {
        self.is_on(commit, search_range.ends()[0], &search_range.aside)
    }

    fn is_on(
        &self,
        commit: &CommitId,
        older: &CommitId,
        aside: &[ExcludedBranch],
    ) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        for aside in aside {
            if history.is_ancestor(&aside.first, commit)? && !history.is_ancestor(older, commit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
