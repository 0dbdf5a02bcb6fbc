//! The position of commits in the range of a hunt, and which commits are still in question.

use std::collections::HashMap;

use crate::evaluation::{CommitId, Lineage};

use super::model::Report;

/// The commits of a hunt by place: the older endpoint has place 0, and the others follow in order
/// of history.
pub(super) struct Range {
    places: HashMap<CommitId, usize>,
    /// By place.
    commits: Vec<CommitId>,
    /// By place. The older endpoint's parents are unknown.
    parents: Vec<Vec<usize>>,
}

/// First and last place of a group of neighbours, both included.
pub(super) type PlaceSpan = (usize, usize);

impl Range {
    pub(super) fn of(report: &Report) -> Self {
        let [old, _] = report.ends();
        Self::new(&old.commit, &report.history, report.options.first_parent)
    }

    fn new(old: &CommitId, history: &[Lineage], first_parent: bool) -> Self {
        let all = [old].into_iter().chain(history.iter().map(|one| &one.commit));
        let commits: Vec<CommitId> = all.cloned().collect();
        let places: HashMap<_, _> = commits.iter().cloned().zip(0..).collect();
        let followed = if first_parent { 1 } else { usize::MAX };
        let parents = history.iter().map(|one| {
            let followed = one.parents.iter().take(followed);
            followed.filter_map(|parent| places.get(parent).copied()).collect()
        });
        let parents = [Vec::new()].into_iter().chain(parents).collect();
        Self { places, commits, parents }
    }

    /// Whether the hunt stored the commits of its range.
    pub(super) fn is_known(&self) -> bool {
        self.places.len() > 1
    }

    /// The place of the newest commit.
    pub(super) fn last(&self) -> usize {
        self.parents.len() - 1
    }

    /// The commit's place; `None` outside the range, or if the range is unknown.
    pub(super) fn place(&self, commit: &CommitId) -> Option<usize> {
        self.places.get(commit).copied().filter(|_| self.is_known())
    }

    /// The commit at a place.
    pub(super) fn commit(&self, place: usize) -> &CommitId {
        &self.commits[place]
    }

    /// Places of the parents in the range; with `--first-parent` only of the first one.
    pub(super) fn parents(&self, place: usize) -> &[usize] {
        &self.parents[place]
    }

    /// The commits in question, by place. `newest` has the newer end's verdict, `olds` have the
    /// older end's. As in git, these are the commits that `newest` reaches and no `olds` reaches.
    pub(super) fn open(&self, olds: &[CommitId], newest: &CommitId) -> Vec<bool> {
        let olds: Vec<_> = olds.iter().filter_map(|old| self.place(old)).collect();
        let mut open = self.reached(self.place(newest).into_iter());
        let cleared = self.reached(olds.into_iter());
        for (open, cleared) in open.iter_mut().zip(cleared) {
            *open &= !cleared;
        }
        open[0] = false;
        open
    }

    /// The commits that are reachable from these places, including the places themselves.
    pub(super) fn reached(&self, from: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.parents.len()];
        from.for_each(|place| reached[place] = true);
        // Parents have lower places, so one pass is enough.
        for place in (0..reached.len()).rev() {
            if reached[place] {
                self.parents[place].iter().for_each(|&parent| reached[parent] = true);
            }
        }
        reached
    }
}

/// Groups neighbouring places into ranges.
pub(super) fn spans(open: &[bool]) -> Vec<PlaceSpan> {
    let mut spans: Vec<PlaceSpan> = Vec::new();
    for (place, _) in open.iter().enumerate().filter(|(_, open)| **open) {
        match spans.last_mut() {
            Some((_, end)) if *end + 1 == place => *end = place,
            _ => spans.push((place, place)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: char) -> CommitId {
        letter.to_string().repeat(40).parse().unwrap()
    }

    fn range(commits: &[(char, &str)], first_parent: bool) -> Range {
        let lineage = |(commit, parents): &(char, &str)| Lineage {
            commit: id(*commit),
            parents: parents.chars().map(id).collect(),
        };
        let history: Vec<_> = commits.iter().map(lineage).collect();
        Range::new(&id('0'), &history, first_parent)
    }

    #[test]
    fn a_line_narrows_to_neighbours() {
        let range = range(&[('a', "0"), ('b', "a"), ('c', "b"), ('d', "c")], false);
        assert_eq!((range.place(&id('0')), range.place(&id('d'))), (Some(0), Some(4)));
        assert_eq!(spans(&range.open(&[id('0')], &id('d'))), [(1, 4)]);
        assert_eq!(spans(&range.open(&[id('b'), id('0')], &id('c'))), [(3, 3)]);
        assert_eq!(range.place(&id('f')), None);
    }

    #[test]
    fn a_good_side_branch_leaves_the_other_in_question() {
        // 0 - a - b - e - f, and 0 - c - d - e.
        let graph = [('a', "0"), ('b', "a"), ('c', "0"), ('d', "c"), ('e', "bd"), ('f', "e")];
        let whole = range(&graph, false);
        assert_eq!(spans(&whole.open(&[id('d')], &id('f'))), [(1, 2), (5, 6)]);
        assert_eq!(spans(&whole.open(&[id('b')], &id('e'))), [(3, 5)]);
        let first = range(&graph, true);
        assert_eq!(spans(&first.open(&[id('0')], &id('f'))), [(1, 2), (5, 6)]);
    }
}
