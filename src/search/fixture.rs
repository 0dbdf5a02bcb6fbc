//! Random histories and samples for this module's tests, and slow reference implementations.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;

use super::{Graph, Levels};

/// A history as each commit's parents.
pub(super) type Parents = Vec<Vec<usize>>;

/// Random histories of 1 to `most` commits, with merges of up to three parents, several roots,
/// and a last commit that contains all.
pub(super) fn histories(most: usize) -> impl Strategy<Value = Parents> {
    histories_reaching(most, most)
}

/// Random histories with parents at most `reach` commits back, for long and deep graphs.
pub(super) fn histories_reaching(most: usize, reach: usize) -> impl Strategy<Value = Parents> {
    let picks = prop::collection::vec(any::<Index>(), 0..=3);
    prop::collection::vec(picks, 0..most).prop_map(move |picks| {
        let mut parents: Parents = Vec::new();
        for picks in picks {
            let next = parents.len();
            let from = next.saturating_sub(reach);
            let pick = |index: Index| from + index.index(next - from);
            let own: BTreeSet<usize> =
                if next == 0 { BTreeSet::new() } else { picks.into_iter().map(pick).collect() };
            parents.push(own.into_iter().collect());
        }
        let mut heads: BTreeSet<usize> = (0..parents.len()).collect();
        heads.retain(|head| !parents.iter().flatten().any(|parent| parent == head));
        parents.push(heads.into_iter().collect());
        parents
    })
}

/// Each commit with its ancestors, as explicit sets.
pub(super) fn sets(parents: &Parents) -> Vec<BTreeSet<usize>> {
    let mut sets: Vec<BTreeSet<usize>> = Vec::new();
    for (commit, parents) in parents.iter().enumerate() {
        let mut own = BTreeSet::from([commit]);
        for &parent in parents {
            own.extend(sets[parent].clone());
        }
        sets.push(own);
    }
    sets
}

/// The same history in another topological order: the new index of each commit, and the parents
/// in the new order. `keys`: the priorities if several commits can come next.
pub(super) fn relabelled(parents: &Parents, keys: &[u32]) -> (Vec<usize>, Parents) {
    let mut to = vec![usize::MAX; parents.len()];
    let mut all: Parents = Vec::new();
    // The last commit contains all others, so it stays the last.
    while all.len() < parents.len() {
        let is_ready = |commit: &usize| {
            to[*commit] == usize::MAX && parents[*commit].iter().all(|p| to[*p] != usize::MAX)
        };
        let ready = (0..parents.len()).filter(is_ready);
        let next = ready.min_by_key(|commit| (keys[*commit], *commit)).expect("no cycles");
        to[next] = all.len();
        let mut own: Vec<usize> = parents[next].iter().map(|parent| to[*parent]).collect();
        own.sort_unstable();
        all.push(own);
    }
    (to, all)
}

pub(super) fn graph(parents: &Parents) -> Graph {
    Graph::new(parents)
}

pub(super) fn levels(good: f64, bad: f64, sd: f64) -> Levels {
    Levels { good, bad, sd }
}

#[track_caller]
pub(super) fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs()), "{a} is not {b}");
}
