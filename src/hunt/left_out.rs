//! The commits that no search tests, because of the path filter. They are no candidates, unless
//! something shows that the filter hides commits that matter.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Finding};
use crate::git::Range;
use crate::store::journal::Event;

use super::HuntError;
use super::commit_order::CommitOrder;
use super::driver::Driver;
use super::path_filter::PathFilter;

/// The commits of a hunt that no search tests.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOut {
    commits: BTreeSet<CommitId>,
    /// How many commits lie between the endpoints.
    between: usize,
    filter: PathFilter,
}

impl LeftOut {
    /// `all`: the commits between the endpoints; `tested`: those that the filter keeps.
    pub(crate) fn of(filter: PathFilter, all: &[CommitId], tested: &[CommitId]) -> Self {
        let tested: BTreeSet<&CommitId> = tested.iter().collect();
        let others = all.iter().filter(|commit| !tested.contains(commit));
        Self { commits: others.cloned().collect(), between: all.len(), filter }
    }

    /// Whether one of these commits is left out.
    pub(crate) fn has_any<'c>(&self, commits: impl IntoIterator<Item = &'c CommitId>) -> bool {
        commits.into_iter().any(|commit| self.commits.contains(commit))
    }

    /// The commits of the list that are not left out; the whole list if all of them are.
    pub(crate) fn without(&self, commits: &[CommitId]) -> Vec<CommitId> {
        let others = commits.iter().filter(|commit| !self.commits.contains(*commit));
        let others: Vec<CommitId> = others.cloned().collect();
        if others.is_empty() { commits.to_vec() } else { others }
    }

    /// A note that says how many commits are no candidates, and why.
    pub(crate) fn note(&self) -> String {
        format!(
            "the candidates leave out {} of {} commits: those that {}",
            self.commits.len(),
            self.between,
            self.filter.what_is_left_out()
        )
    }
}

impl Driver<'_> {
    /// The path filter of the hunt. If a search went on without a part of it, this part leaves
    /// nothing out: it may hide the wanted commit.
    fn filter_in_force(&self) -> Result<PathFilter, HuntError> {
        let mut used = Vec::new();
        for entry in &self.hunt.entries_in_force()? {
            if let Event::Search { paths, .. } = &entry.event {
                used.push(paths.clone());
            }
        }
        let (asked, unread) = (self.begun.options.paths.clone(), self.unread.clone());
        Ok(PathFilter { asked, unread }.as_far_as_used(&used))
    }

    /// The files, and the folders with all files below them, that the builds of both ends do not
    /// read.
    pub(crate) fn unread_in_force(&self) -> Result<Vec<String>, HuntError> {
        Ok(self.filter_in_force()?.unread)
    }

    /// Of some commits after `older`, oldest first, those that change something that the builds of
    /// both ends read. Any other commit runs the program of the one before it, so it has the same
    /// level, and nobody needs to build it. The last commit of the list descends from all others.
    pub(crate) fn read_by_builds(
        &self,
        older: &CommitId,
        commits: &[CommitId],
    ) -> Result<Vec<CommitId>, HuntError> {
        let unread = self.filter_in_force()?.unread;
        let Some(newest) = commits.last().filter(|_| !unread.is_empty()) else {
            return Ok(commits.to_vec());
        };
        let paths = PathFilter { asked: Vec::new(), unread }.specs();
        let range = Range { paths, ..Range::between(older, newest) };
        let read = self.oracle.history.commits_touching(&range)?;
        let read: BTreeSet<CommitId> = read.into_iter().collect();
        Ok(commits.iter().filter(|one| read.contains(*one)).cloned().collect())
    }

    /// Of a merge's parents, the one that is this commit, or runs its program: the commits after it
    /// up to the parent change nothing that builds read.
    pub(crate) fn parent_like(
        &self,
        commit: &CommitId,
        parents: &[CommitId],
    ) -> Result<Option<CommitId>, HuntError> {
        if parents.contains(commit) {
            return Ok(Some(commit.clone()));
        }
        if parents.len() < 2 {
            return Ok(None);
        }
        for parent in parents {
            let after = self.chain(commit, parent)?;
            if !after.is_empty() && self.read_by_builds(commit, &after)?.is_empty() {
                return Ok(Some(parent.clone()));
            }
        }
        Ok(None)
    }

    /// The commits between the endpoints that no search tests.
    pub(crate) fn left_out(&self) -> Result<LeftOut, HuntError> {
        let filter = self.filter_in_force()?;
        if filter.is_empty() {
            return Ok(LeftOut::default());
        }
        let history = &self.oracle.history;
        let all = history.commits(&self.whole())?;
        let tested = history.commits_touching(&Range { paths: filter.specs(), ..self.whole() })?;
        Ok(LeftOut::of(filter, &all, &tested))
    }

    /// The commits between the endpoints, without those that no search tests. Notes in the finding
    /// how many these are. All commits, without a note, if one of them is named.
    pub(crate) fn possible_commits(&self, finding: &mut Finding) -> Result<CommitOrder, HuntError> {
        let lineage = self.oracle.history.lineage(&self.whole())?;
        let all: Vec<CommitId> = lineage.iter().map(|one| one.commit.clone()).collect();
        let left_out = self.left_out()?;
        // The filter hides commits that matter.
        if left_out.has_any(finding.culprits.iter().map(|culprit| &culprit.info.commit)) {
            return Ok(CommitOrder::of(lineage));
        }
        let possible = left_out.without(&all);
        let note = left_out.note();
        // The finding has the note already if some of its candidates were left out.
        if possible.len() < all.len() && !finding.notes.contains(&note) {
            finding.notes.push(note);
        }
        Ok(CommitOrder::new(lineage, possible))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn a_list_keeps_the_tested_commits_or_all_if_none_is_tested() {
        let all = |digits: &str| digits.chars().map(commit).collect::<Vec<_>>();
        let filter = PathFilter { asked: vec!["src".to_owned()], unread: Vec::new() };
        let left_out = LeftOut::of(filter, &all("12345"), &all("135"));
        assert!(left_out.has_any(&all("12")) && !left_out.has_any(&all("135")));
        assert_eq!(left_out.without(&all("2345")), all("35"));
        assert_eq!(left_out.without(&all("24")), all("24"));
        let said = "the candidates leave out 2 of 5 commits: those that touch nothing in the path \
                    filter (src)";
        assert_eq!(left_out.note(), said);
        let nothing = LeftOut::default();
        assert_eq!(nothing.without(&all("24")), all("24"));
    }
}
