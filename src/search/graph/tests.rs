use proptest::prelude::*;

use super::super::fixture::{assert_close, histories, histories_reaching, sets};
use super::*;

#[test]
fn a_diamond() {
    let graph = Graph::new(&[vec![], vec![0], vec![0], vec![1, 2]]);
    assert_eq!((graph.len(), graph.is_empty()), (4, false));
    assert_eq!(graph.parents(3).collect::<Vec<_>>(), [1, 2]);
    let of_one = graph.ancestors(1);
    assert_eq!([0, 1, 2, 3].map(|one| of_one.contains(one)), [true, true, false, false]);
    // Common ancestors of both branches count once.
    assert_eq!(graph.contained(&[1.0, 2.0, 4.0, 8.0]), [1.0, 3.0, 5.0, 15.0]);
}

#[test]
fn a_line_is_a_running_sum() {
    let graph = Graph::line(5);
    assert_eq!(graph.contained(&[1.0, 0.0, 2.0, 0.0, 4.0]), [1.0, 1.0, 3.0, 3.0, 7.0]);
    assert_eq!(Graph::line(0).len(), 0);
    assert!(Graph::line(0).contained(&[]).is_empty());
}

#[test]
#[should_panic(expected = "1 is a parent of 1")]
fn parents_come_first() {
    let _ = Graph::new(&[vec![], vec![1]]);
}

#[test]
fn a_parent_that_is_named_twice_is_one() {
    let graph = Graph::new(&[vec![], vec![0, 0], vec![1, 0, 1]]);
    assert_eq!(graph, Graph::new(&[vec![], vec![0], vec![1, 0]]));
}

/// Roots in the middle contain no earlier commit.
#[test]
fn a_late_root_is_on_its_own() {
    let parents = [vec![], vec![0], vec![], vec![2], vec![1, 3], vec![], vec![4, 5], vec![6]];
    agree(&parents, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);
    agree(&parents, &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

fn agree(parents: &[Vec<usize>], weights: &[f64]) {
    let graph = Graph::new(parents);
    let sets = sets(&parents.to_vec());
    let found = graph.contained(weights);
    for (commit, set) in sets.iter().enumerate() {
        assert_close(found[commit], set.iter().map(|one| weights[*one]).sum());
        let ancestors = graph.ancestors(commit);
        for one in 0..graph.len() {
            assert_eq!(ancestors.contains(one), set.contains(&one), "{one} in {commit}");
        }
    }
}

fn weighted(
    histories: impl Strategy<Value = Vec<Vec<usize>>>,
) -> impl Strategy<Value = (Vec<Vec<usize>>, Vec<f64>)> {
    // Zeros, and equal weights, each use a separate code path.
    let weight = prop_oneof![1 => Just(0.0), 3 => 0.0..10.0_f64];
    histories.prop_flat_map(move |parents| {
        let size = parents.len();
        let unequal = prop::collection::vec(weight.clone(), size);
        (Just(parents), prop_oneof![unequal, Just(vec![0.25; size])])
    })
}

proptest! {
    #[test]
    fn sums_and_ancestors_are_those_of_explicit_sets((parents, weights) in weighted(histories(12))) {
        agree(&parents, &weights);
    }

    /// Graphs that need two or more words of 64 commits.
    #[test]
    fn long_histories_too((parents, weights) in weighted(histories_reaching(200, 6))) {
        agree(&parents, &weights);
    }
}
