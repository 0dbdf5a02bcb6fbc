//! The order of a hunt's commits. Which of them may have changed something besides known commits
//! follows from their parents: in a list, a commit of another branch may stand before or after any
//! commit. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, Lineage};

/// The commits of a hunt with their parents.
#[derive(Clone, Debug)]
pub(crate) struct CommitOrder {
    /// All commits between the endpoints, no commit before its parents.
    lineage: Vec<Lineage>,
    /// Those that a search may test, in the same order.
    possible: Vec<CommitId>,
}

impl CommitOrder {
    /// All commits of this history, of which a search tests those that are `possible`.
    pub(crate) fn new(lineage: Vec<Lineage>, possible: Vec<CommitId>) -> Self {
        Self { lineage, possible }
    }

    /// A history in which a search may test each commit.
    pub(crate) fn of(lineage: Vec<Lineage>) -> Self {
        let possible = lineage.iter().map(|one| one.commit.clone()).collect();
        Self { lineage, possible }
    }

    /// The commits that a search may test, oldest first.
    pub(crate) fn commits(&self) -> &[CommitId] {
        &self.possible
    }

    /// These commits, and all that are not before each of them. All commits without any.
    pub(crate) fn not_before<'a>(
        &self,
        known: impl IntoIterator<Item = &'a CommitId>,
    ) -> Vec<CommitId> {
        self.without(known, Self::before)
    }

    /// These commits, and all that are not after each of them. All commits without any.
    pub(crate) fn not_after<'a>(
        &self,
        known: impl IntoIterator<Item = &'a CommitId>,
    ) -> Vec<CommitId> {
        self.without(known, Self::after)
    }

    /// The commits that this one does not contain, without itself.
    pub(crate) fn not_in(&self, commit: &CommitId) -> Vec<CommitId> {
        let contained = self.before(commit);
        let is_other = |one: &&CommitId| *one != commit && !contained.contains(*one);
        self.possible.iter().filter(is_other).cloned().collect()
    }

    /// Whether a commit is neither before nor after this one.
    pub(crate) fn has_commits_beside(&self, commit: &CommitId) -> bool {
        let after = self.after(commit);
        self.not_in(commit).iter().any(|one| !after.contains(one))
    }

    /// The commits that a search may test, without those that `excluded` gives for each of these.
    fn without<'a>(
        &self,
        known: impl IntoIterator<Item = &'a CommitId>,
        excluded: impl Fn(&Self, &CommitId) -> BTreeSet<CommitId>,
    ) -> Vec<CommitId> {
        let each = known.into_iter().map(|one| excluded(self, one));
        let common = each.reduce(|all, one| &all & &one).unwrap_or_default();
        self.possible.iter().filter(|one| !common.contains(*one)).cloned().collect()
    }

    /// The commits of the hunt that this one contains, without itself.
    fn before(&self, commit: &CommitId) -> BTreeSet<CommitId> {
        let parents: BTreeMap<&CommitId, &[CommitId]> =
            self.lineage.iter().map(|one| (&one.commit, one.parents.as_slice())).collect();
        let mut before = BTreeSet::new();
        let mut open = vec![commit];
        while let Some(one) = open.pop() {
            for parent in parents.get(one).copied().unwrap_or_default() {
                if parents.contains_key(parent) && before.insert(parent.clone()) {
                    open.push(parent);
                }
            }
        }
        before
    }

    /// The commits that contain this commit. It is not among them itself.
    fn after(&self, commit: &CommitId) -> BTreeSet<CommitId> {
        let mut after = BTreeSet::new();
        for one in &self.lineage {
            if one.parents.iter().any(|parent| parent == commit || after.contains(parent)) {
                after.insert(one.commit.clone());
            }
        }
        after
    }
}

#[cfg(test)]
impl CommitOrder {
    /// A line of these commits.
    pub(crate) fn line(digits: &str) -> Self {
        let commits: Vec<CommitId> = digits.chars().map(crate::oracle::fixture::commit).collect();
        let one = |at: usize| Lineage {
            commit: commits[at].clone(),
            parents: commits[..at].last().into_iter().cloned().collect(),
        };
        Self::of((0..commits.len()).map(one).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    fn all(digits: &str) -> Vec<CommitId> {
        digits.chars().map(commit).collect()
    }

    /// 2 after 1; 3, 5 and 4, 6 on two branches from 2; 7 merges them; 8 after 7.
    fn branches() -> CommitOrder {
        let parents = [("1", "0"), ("2", "1"), ("3", "2"), ("4", "2"), ("5", "3"), ("6", "4")];
        let parents = parents.into_iter().chain([("7", "56"), ("8", "7")]);
        let one = |(of, parents): (&str, &str)| Lineage {
            commit: all(of).remove(0),
            parents: all(parents),
        };
        CommitOrder::of(parents.map(one).collect())
    }

    #[test]
    fn commits_of_another_branch_are_neither_before_nor_after() {
        let order = branches();
        assert_eq!(order.not_before(&all("5")), all("45678"));
        assert_eq!(order.not_before(&all("4")), all("345678"));
        assert_eq!(order.not_after(&all("3")), all("12346"));
        assert_eq!(order.not_in(&commit('5')), all("4678"));
        assert!(order.has_commits_beside(&commit('5')));
        for on_line in ['1', '2', '7', '8'] {
            assert!(!order.has_commits_beside(&commit(on_line)), "{on_line}");
        }
    }

    #[test]
    fn only_what_is_before_each_of_several_is_left_out() {
        let order = branches();
        assert_eq!(order.not_before(&all("56")), all("345678"));
        assert_eq!(order.not_before(&all("27")), all("2345678"));
        assert_eq!(order.not_after(&all("34")), all("123456"));
        assert_eq!(order.not_before(&[]), all("12345678"));
    }

    #[test]
    fn commits_that_no_search_tests_are_not_listed_but_connect_others() {
        let CommitOrder { lineage, .. } = branches();
        let order = CommitOrder::new(lineage, all("1568"));
        assert_eq!(order.commits(), all("1568"));
        assert_eq!(order.not_before(&all("5")), all("568"));
        assert_eq!(order.not_in(&commit('1')), all("568"));
    }

    #[test]
    fn on_a_line_the_list_tells_all() {
        let order = CommitOrder::line("23456");
        assert_eq!(order.not_before(&all("5")), all("56"));
        assert_eq!(order.not_after(&all("5")), all("2345"));
        assert_eq!(order.not_in(&commit('4')), all("56"));
    }
}
