//! What a hunt may know before its search. A plan promises no cost that known results may save.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, Lineage};
use crate::git::{History, Range};
use crate::store::Store;

use super::HuntError;
use super::begin::examine::ExaminedRange;
use super::terms::SearchTerms;

/// The least that a search by git costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeastSearch {
    /// Each answer leaves about half of the range.
    Halvings,
    /// An answer may leave much less than half: on branches, and beside commits that the user skips.
    OneStep,
    /// Known results may give all answers.
    Nothing,
}

/// What may make a hunt cheaper than a search of unknown commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownResults {
    /// Whether the store has something about an end.
    pub(crate) has_ends: bool,
    /// Whether the store may answer for a commit that the search or the confirmation measures.
    pub(crate) has_commits: bool,
    /// What the search costs at least.
    pub(crate) search: LeastSearch,
}

impl KnownResults {
    /// What the store and the history say about the range of a hunt. `range`: without pathspecs,
    /// since a confirmation also measures parents that touch none of the paths.
    pub(crate) fn of(
        history: &History,
        store: &Store,
        range: &Range,
        skips: bool,
    ) -> Result<Self, HuntError> {
        let lineage = history.lineage(range)?;
        let mut trees = BTreeMap::new();
        for commit in lineage.iter().map(|one| &one.commit).chain(&range.old) {
            trees.insert(commit.clone(), history.tree_id(commit)?);
        }
        let ends = range.old.iter().chain([&range.new]);
        let ends: BTreeSet<&String> = ends.filter_map(|end| trees.get(end)).collect();
        // A commit that is gone from the repository has no tree to compare.
        let recorded = store.recorded_commits()?.into_iter();
        let recorded: BTreeSet<String> =
            recorded.filter_map(|commit| history.tree_id(&commit).ok()).collect();
        let is_between = |tree: &&String| !ends.contains(tree);
        let has_between = trees.values().filter(is_between).any(|tree| recorded.contains(tree));
        // The confirmation of the only commit measures nothing but ends.
        let has_commits = has_between || (lineage.len() < 2 && store.has_confirmations()?);
        let search = if has_commits || has_equal(&trees) {
            LeastSearch::Nothing
        } else if skips || (!range.first_parent && has_merges(&lineage)) {
            LeastSearch::OneStep
        } else {
            LeastSearch::Halvings
        };
        let has_ends = ends.iter().any(|tree| recorded.contains(*tree));
        Ok(Self { has_ends, has_commits, search })
    }

    /// The same before the hunt of such a range has begun.
    pub(crate) fn before(
        history: &History,
        store: &Store,
        range: &ExaminedRange,
    ) -> Result<Self, HuntError> {
        let options = &range.options;
        let terms = SearchTerms::of(options.aim);
        let between = terms.range_between(&range.good.commit, &range.bad.commit);
        let whole = Range { first_parent: options.first_parent, ..between };
        Self::of(history, store, &whole, !options.skip.is_empty())
    }
}

/// Whether two of these commits have the same tree, such as a revert and the commit before the
/// reverted one: one measurement answers for both.
fn has_equal(trees: &BTreeMap<CommitId, String>) -> bool {
    let distinct: BTreeSet<&String> = trees.values().collect();
    distinct.len() < trees.len()
}

/// Whether a commit has several parents: then git may have to choose a commit that splits the range
/// unevenly.
fn has_merges(lineage: &[Lineage]) -> bool {
    lineage.iter().any(|one| one.parents.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(number: usize) -> CommitId {
        format!("{number:040x}").parse().unwrap()
    }

    #[test]
    fn a_revert_has_the_tree_of_an_earlier_commit() {
        let trees = |names: [&str; 3]| -> BTreeMap<CommitId, String> {
            names.iter().enumerate().map(|(at, name)| (commit(at), (*name).to_owned())).collect()
        };
        assert!(!has_equal(&trees(["a", "b", "c"])));
        assert!(has_equal(&trees(["a", "b", "a"])));
    }

    #[test]
    fn a_merge_has_several_parents() {
        let of = |number, parents: &[usize]| Lineage {
            commit: commit(number),
            parents: parents.iter().copied().map(commit).collect(),
        };
        assert!(!has_merges(&[of(1, &[0]), of(2, &[1])]));
        assert!(has_merges(&[of(1, &[0]), of(2, &[0]), of(3, &[1, 2])]));
    }
}
