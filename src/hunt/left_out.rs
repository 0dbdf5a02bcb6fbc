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
    /// The commits between the endpoints that no search tests. If a search went on without a part
    /// of the path filter, this part leaves nothing out: it may hide the wanted commit.
    pub(crate) fn left_out(&self) -> Result<LeftOut, HuntError> {
        let mut used = Vec::new();
        for entry in self.hunt.entries_in_force()? {
            if let Event::Search { paths, .. } = entry.event {
                used.push(paths);
            }
        }
        let (asked, unread) = (self.begun.options.paths.clone(), self.unread.clone());
        let filter = PathFilter { asked, unread }.as_far_as_used(&used);
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
