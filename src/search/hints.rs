//! Hints about the parts of a change: which parts are likely causes, and which need others to be
//! tested at all. Wrong hints cost tests, but never change the answer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A set of parts, by their numbers.
pub(crate) type Parts = BTreeSet<usize>;

/// With more parts than this, no sets are proposed: the work grows with the square of their number.
const MOST_PARTS: usize = 400;

/// A part is negligible if its weight is at most the heaviest part's weight divided by this.
const NEGLIGIBLE: u64 = 10;

/// Hints about the parts of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    /// How likely each part makes the difference, relative to the others. A part without a weight
    /// has 1.
    pub weights: BTreeMap<usize, u32>,
    /// For each part, the parts without which it does not build.
    pub needs: BTreeMap<usize, Parts>,
}

impl Hints {
    /// Adds needs of parts. Returns whether any of them is new.
    pub(crate) fn learn(&mut self, needs: &[(usize, usize)]) -> bool {
        let mut is_new = false;
        for (part, other) in needs.iter().filter(|(part, other)| part != other) {
            is_new |= self.needs.entry(*part).or_default().insert(*other);
        }
        is_new
    }

    /// Whether a part of `set` needs one of `all` that is not in the set.
    pub(super) fn is_lacking(&self, set: &Parts, all: &Parts) -> bool {
        let needs = set.iter().filter_map(|part| self.needs.get(part)).flatten();
        needs.into_iter().any(|other| all.contains(other) && !set.contains(other))
    }

    /// The weight of all these parts.
    pub(super) fn weight<'p>(&self, parts: impl IntoIterator<Item = &'p usize>) -> u64 {
        let one = |part| u64::from(self.weights.get(part).copied().unwrap_or(1));
        parts.into_iter().map(one).sum()
    }

    /// Sets of `change` that include every part of `change` that they need. The sets that divide
    /// its weight best come first; of equal sets, that with fewer parts, then that with earlier
    /// parts. A part far below the heaviest one is in a set only if others need it.
    pub(super) fn divisions(&self, change: &[usize]) -> Vec<Parts> {
        if change.len() > MOST_PARTS {
            return Vec::new();
        }
        let all: Parts = change.iter().copied().collect();
        let closed: Vec<Parts> = change.iter().map(|part| self.closed(*part, &all)).collect();
        let heaviest = change.iter().map(|part| self.weight([part])).max().unwrap_or_default();
        let is_heavy = |part: &&usize| NEGLIGIBLE * self.weight([*part]) > heaviest;
        let heavy = || change.iter().zip(&closed).filter(|(part, _)| is_heavy(part));
        let whole = self.weight(change);
        let mut sets = closed.clone();
        // The rest of the change without a part and all that need it.
        sets.extend(change.iter().map(|part| {
            let stay = heavy().filter(|(_, needs)| !needs.contains(part));
            stay.flat_map(|(_, needs)| needs.iter().copied()).collect()
        }));
        let (mut first, mut half) = (Parts::new(), Parts::new());
        for (_, needs) in heavy() {
            first.extend(needs);
            sets.push(first.clone());
            let more: Parts = half.union(needs).copied().collect();
            if 2 * self.weight(&more) <= whole {
                half = more;
            }
        }
        sets.push(half);
        sets.retain(|set| !set.is_empty() && set.len() < change.len());
        let rank = |set: Parts| {
            let weight = self.weight(set.iter().filter(is_heavy));
            let rest = self.weight(change.iter().filter(is_heavy)) - weight;
            let whole_weight = self.weight(&set);
            let lighter = whole_weight.min(whole - whole_weight);
            (Reverse(weight.min(rest)), weight == 0, set.len(), Reverse(lighter), set)
        };
        let ranked: BTreeSet<_> = sets.into_iter().map(rank).collect();
        ranked.into_iter().map(|(.., set)| set).collect()
    }

    /// The parts of `all` that need one of `parts`, directly or through other parts.
    pub(crate) fn dependents(&self, parts: &Parts, all: &Parts) -> Parts {
        let whole: Parts = all.union(parts).copied().collect();
        let needs = |part: &&usize| !self.closed(**part, &whole).is_disjoint(parts);
        all.iter().filter(needs).copied().collect()
    }

    /// A part with all parts of `all` that it needs.
    fn closed(&self, part: usize, all: &Parts) -> Parts {
        let mut closed = Parts::from([part]);
        let mut left = vec![part];
        while let Some(next) = left.pop() {
            let needs = self.needs.get(&next).into_iter().flatten();
            left.extend(needs.filter(|other| all.contains(other) && closed.insert(**other)));
        }
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(parts: &[usize]) -> Parts {
        parts.iter().copied().collect()
    }

    fn hints(needs: &[(usize, usize)]) -> Hints {
        let mut hints = Hints::default();
        hints.learn(needs);
        hints
    }

    #[test]
    fn equal_parts_are_halved_and_the_first_half_comes_first() {
        let sets = Hints::default().divisions(&[4, 5, 6, 7]);
        assert_eq!(sets[0], set(&[4, 5]));
        assert!(Hints::default().divisions(&[4]).is_empty());
    }

    #[test]
    fn a_set_has_what_its_parts_need() {
        let hints = hints(&[(0, 1), (1, 2), (3, 2), (2, 9)]);
        let sets = hints.divisions(&[0, 1, 2, 3]);
        for set in &sets {
            assert!(!set.contains(&0) || set.contains(&1), "{set:?}");
            assert!(set.contains(&2), "{set:?}");
        }
        assert_eq!(sets[0], set(&[1, 2]));
    }

    #[test]
    fn parts_that_need_each_other_are_not_divided() {
        assert!(hints(&[(0, 1), (1, 2), (2, 0)]).divisions(&[0, 1, 2]).is_empty());
    }

    #[test]
    fn a_likely_part_is_a_half_of_its_own() {
        let weights = BTreeMap::from([(2, 9)]);
        assert_eq!(Hints { weights, ..Hints::default() }.divisions(&[0, 1, 2, 3])[0], set(&[2]));
    }

    #[test]
    fn negligible_parts_are_left_out_unless_they_are_needed() {
        let weights = BTreeMap::from([(0, 1), (1, 50), (2, 50), (3, 1), (4, 50)]);
        let mut hints = Hints { weights, ..Hints::default() };
        assert_eq!(hints.divisions(&[0, 1, 2, 3, 4])[0], set(&[1]));
        assert_eq!(hints.divisions(&[0, 1, 3])[0], set(&[1]));
        hints.learn(&[(1, 3)]);
        assert_eq!(hints.divisions(&[0, 1, 2, 3])[0], set(&[2]));
        assert_eq!(hints.divisions(&[0, 1, 3])[0], set(&[1, 3]));
    }

    #[test]
    fn what_needs_a_part_goes_with_it() {
        let hints = hints(&[(0, 1), (1, 2), (3, 2), (4, 0), (2, 5)]);
        assert_eq!(hints.dependents(&set(&[1]), &set(&[0, 2, 3, 4, 5])), set(&[0, 4]));
        // Parts that are not in `all` are left out.
        assert_eq!(hints.dependents(&set(&[1]), &set(&[4, 5])), set(&[]));
    }
}
