//! Side branches that fork off before the older end and lack a change that gave the older end its
//! verdict. Their commits tell nothing about the search range, so they are set aside. A merge of
//! such a branch is judged only against its other parents.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Culprit, Lineage};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::range::{ExcludedBranch, SearchRange};
use crate::store::journal::Event;

impl Driver<'_> {
    /// The side branch to set aside if a parent of a claimed commit has the newer end's verdict:
    /// the one that starts at the claimed commit, the one that this commit merges, or the one whose
    /// later part begins at this commit. `None` if none of them forks off before the older end got
    /// its verdict, or if the commit where it forks off may have the newer end's verdict by chance.
    pub(crate) fn branch_without_fix(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        parent: &CommitId,
    ) -> Result<Option<ExcludedBranch>, HuntError> {
        if let Some(aside) = self.side_branch(search_range, commit, parent)? {
            return Ok(Some(aside));
        }
        match self.merged_side_branch(search_range, commit, parent)? {
            None => self.continued_side_branch(search_range, commit),
            aside => Ok(aside),
        }
    }

    /// The side branch that starts at a claimed commit. `parent`: a parent with the same verdict.
    /// `None` if the commit is not on a branch that forks off before the older end, or if the
    /// parent may have the verdict by chance.
    pub(crate) fn side_branch(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        parent: &CommitId,
    ) -> Result<Option<ExcludedBranch>, HuntError> {
        let history = &self.oracle.history;
        let [older, _] = search_range.ends();
        if parent == older
            || !history.is_ancestor(parent, older)?
            || history.is_ancestor(older, commit)?
        {
            return Ok(None);
        }
        self.set_aside_from(search_range, commit, std::slice::from_ref(parent))
    }

    /// Sets aside the branch that begins at `first`. `forks`: the parents of `first` that have the
    /// newer end's verdict. `None` if one of them may have it by chance, or if the newer end is on
    /// the branch: nothing would be left to search.
    fn set_aside_from(
        &mut self,
        search_range: &SearchRange,
        first: &CommitId,
        forks: &[CommitId],
    ) -> Result<Option<ExcludedBranch>, HuntError> {
        let mut chance_of_error = 0.0;
        for fork in forks {
            match self.chance_at_fork(search_range, fork)? {
                Some(chance) => chance_of_error += chance,
                None => return Ok(None),
            }
        }
        let tips = self.tips_after(search_range, first)?;
        let aside = ExcludedBranch { first: first.clone(), tips, chance_of_error };
        let [older, newer] = search_range.ends();
        if self.is_on(newer, older, std::slice::from_ref(&aside))? {
            return Ok(None);
        }
        if let Some(parent) = forks.first() {
            self.note_aside(search_range, &aside, parent)?;
        }
        Ok(Some(aside))
    }

    /// The newest of the commits from this one on that do not contain the older end.
    fn tips_after(
        &self,
        search_range: &SearchRange,
        first: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
        let range = Range::between(older, newer);
        let mut branch = BTreeSet::from([first.clone()]);
        let mut with_children = BTreeSet::new();
        // The lineage lists parents before children.
        for one in history.lineage(&range)? {
            let comes_after = one.parents.iter().any(|parent| branch.contains(parent));
            if (comes_after || one.commit == *first) && !history.is_ancestor(older, &one.commit)? {
                with_children.extend(one.parents);
                branch.insert(one.commit);
            }
        }
        Ok(branch.into_iter().filter(|one| !with_children.contains(one)).collect())
    }

    /// Notes which branch is set aside. `parent`: the parent of its first commit.
    fn note_aside(
        &mut self,
        search_range: &SearchRange,
        aside: &ExcludedBranch,
        parent: &CommitId,
    ) -> Result<(), HuntError> {
        let [older, _] = search_range.ends();
        let change = if search_range.terms.aim().is_regression() { "better" } else { "worse" };
        let text = format!(
            "{} and the commits after it on its branch are set aside: the branch forks off before \
             {} got {change}, and shows the same as {}",
            aside.first.short(),
            older.short(),
            parent.short()
        );
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }

    /// The side branch that a claimed merge brings in by the parent `tip`, if the merge makes its
    /// step by its own edits. If another commit merged the branch and kept the fix, git infers that
    /// all commits of the branch are on the older side, so it claims none of them.
    ///
    /// `None` if the branch has several first commits, if its first commit or a parent of that
    /// commit does not have the newer end's verdict, or if no test tells what the merge does.
    fn merged_side_branch(
        &mut self,
        search_range: &SearchRange,
        merge: &CommitId,
        tip: &CommitId,
    ) -> Result<Option<ExcludedBranch>, HuntError> {
        let [older, _] = search_range.ends();
        let history = &self.oracle.history;
        let parents = history.parents(merge)?;
        let other = match &parents[..] {
            [one, other] if one == tip => other,
            [other, one] if one == tip => other,
            _ => return Ok(None),
        };
        if history.is_ancestor(older, tip)? || self.is_aside(tip, search_range)? {
            return Ok(None);
        }
        let Some(first) = self.start_of_branch(search_range, tip)? else { return Ok(None) };
        let merge = Culprit::bare(self.oracle.history.named(merge)?, other.clone());
        if !self.is_step_of_merge_itself(&merge, tip, &search_range.targets)? {
            return Ok(None);
        }
        self.set_aside_from(search_range, &first.commit, &first.parents)
    }

    /// The side branch that forks off before the older end and goes on at a claimed commit. A merge
    /// of its earlier part kept the fix, so git infers that this part is on the older side, and
    /// claims the first commit after it.
    ///
    /// `None` as in [`Self::start_of_branch`], and if a part of the branch may have made a step.
    fn continued_side_branch(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
    ) -> Result<Option<ExcludedBranch>, HuntError> {
        let [older, _] = search_range.ends();
        if self.oracle.history.is_ancestor(older, commit)? || self.is_aside(commit, search_range)? {
            return Ok(None);
        }
        let Some(first) = self.start_of_branch(search_range, commit)? else { return Ok(None) };
        let tips = self.tips_after(search_range, &first.commit)?;
        if !self.bring_no_step(search_range, &tips)? {
            return Ok(None);
        }
        self.set_aside_from(search_range, &first.commit, &first.parents)
    }

    /// The first commit of the branch up to `tip`, which forks off before the older end, and its
    /// parents. `None` if the branch has several first commits, or if the first commit or one of
    /// its parents does not have the newer end's verdict.
    fn start_of_branch(
        &mut self,
        search_range: &SearchRange,
        tip: &CommitId,
    ) -> Result<Option<Lineage>, HuntError> {
        let [older, _] = search_range.ends();
        // Each parent outside this branch is an ancestor of the older end.
        let branch = self.oracle.history.lineage(&Range::between(older, tip))?;
        let inside: BTreeSet<&CommitId> = branch.iter().map(|one| &one.commit).collect();
        let is_first = |one: &&Lineage| !one.parents.iter().any(|parent| inside.contains(parent));
        let mut firsts = branch.iter().filter(is_first);
        let (Some(first), None) = (firsts.next(), firsts.next()) else { return Ok(None) };
        if first.parents.is_empty() {
            return Ok(None);
        }
        for one in first.parents.iter().chain([&first.commit]) {
            if !search_range.is_newer(self.judge(one, &search_range.targets)?.verdict) {
                return Ok(None);
            }
        }
        Ok(Some(first.clone()))
    }

    /// Whether merges of these tips bring no step of the branch into the search range. So it is for
    /// a tip that a commit on the older side contains. Each merge of another tip must make its step
    /// by its own edits, if it makes one.
    fn bring_no_step(
        &mut self,
        search_range: &SearchRange,
        tips: &[CommitId],
    ) -> Result<bool, HuntError> {
        let [older, newer] = search_range.ends();
        let mut verdicts = self.last_verdicts()?;
        verdicts.retain(|_, verdict| search_range.is_older(*verdict));
        let lineage = self.oracle.history.lineage(&Range::between(older, newer))?;
        for tip in tips {
            let mut is_on_older_side = false;
            for one in verdicts.keys() {
                is_on_older_side = is_on_older_side || self.oracle.history.is_ancestor(tip, one)?;
            }
            if is_on_older_side {
                continue;
            }
            for Lineage { commit, parents } in &lineage {
                let other = match &parents[..] {
                    _ if !parents.contains(tip) => continue,
                    [one, other] if one == tip => other,
                    [other, one] if one == tip => other,
                    _ => return Ok(false),
                };
                let merge = Culprit::bare(self.oracle.history.named(commit)?, other.clone());
                if !self.is_step_of_merge_itself(&merge, tip, &search_range.targets)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
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
