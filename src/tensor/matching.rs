//! Finds the partner of each tensor of one set in another one. Pure.
//!
//! Tensors are matched by name. If a name occurs several times, the operation and the position
//! among tensors of the same name and operation must match too. In graphs that an engine printed,
//! one name with two operations means two tensors, and `node_7` is not a name: every added tensor
//! shifts its number. The remaining tensors are matched in order, between the same matched
//! neighbours: tensors without a name by operation, operands and shape; then others by layer and
//! part in a transformer; then, where a graph was rewritten, by operation and shape.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::entry::Entry;
use super::name::NameParts;

/// Which tensors of two sets belong together.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Matching {
    /// Indices in A and in B, in the order of A.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Indices of tensors without a partner, in A and in B.
    pub(super) unmatched: [Vec<usize>; 2],
    /// Indices in A of tensors whose partners are in another order.
    pub(super) reordered: Vec<usize>,
}

/// Matches all tensors. `are_graphs`: both are graphs that an engine printed.
pub(super) fn matching(a: &[Entry], b: &[Entry], are_graphs: bool) -> Matching {
    let mut partner: BTreeMap<usize, usize> = BTreeMap::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let keys = [a, b].map(|tensors| unique_keys(tensors, are_graphs));
    let named = |(place, key): (usize, &Option<Key>)| Some((key.clone()?, place));
    let by_key: BTreeMap<Key, usize> = keys[1].iter().enumerate().filter_map(named).collect();
    for (place, key) in keys[0].iter().enumerate() {
        if let Some(other) = key.as_ref().and_then(|key| by_key.get(key)) {
            partner.insert(place, *other);
            taken.insert(*other);
        }
    }
    let parts = |entry: &Entry| {
        let parts = NameParts::of(&entry.name, entry.operation.as_deref());
        Some(format!("{:?} {:?} {:?}", parts.step, parts.layer, parts.part?))
    };
    let shape = |entry: &Entry| {
        let operation = entry.operation.as_ref()?;
        Some(format!("{operation} {:?}", entry.shape))
    };
    let moved = |entry: &Entry| {
        (are_graphs && has_name(&entry.name) && moves_values(entry))
            .then(|| format!("{} {:?}", entry.name, entry.shape))
    };
    let operands = |entry: &Entry| {
        let is_it = are_graphs && !has_name(&entry.name);
        let named = |input: &String| if has_name(input) { input.clone() } else { "?".to_owned() };
        let operands: Vec<String> = entry.inputs.iter().map(named).collect();
        is_it.then(|| format!("{:?} {operands:?} {:?}", entry.operation, entry.shape))
    };
    let may_match = |a: &Entry, b: &Entry| {
        !are_graphs
            || match (a.name == b.name, moves_values(a), moves_values(b)) {
                (true, true, true) => true,
                (true, _, _) => a.operation == b.operation,
                // A view of other values may have the same part, and so may a fused operation.
                (false, true, true) => a.shape == b.shape,
                (false, false, false) => a.operation == b.operation || a.shape == b.shape,
                (false, _, _) => false,
            }
    };
    for key in [&moved as &dyn Fn(&Entry) -> Option<String>, &operands, &parts, &shape] {
        match_rest([a, b], key, &may_match, &mut partner, &mut taken);
    }
    let pairs: Vec<(usize, usize)> = partner.iter().map(|(a, b)| (*a, *b)).collect();
    let others: Vec<usize> = pairs.iter().map(|(_, b)| *b).collect();
    let in_order = longest_rise(&others);
    Matching {
        unmatched: [
            (0..a.len()).filter(|place| !partner.contains_key(place)).collect(),
            (0..b.len()).filter(|place| !taken.contains(place)).collect(),
        ],
        reordered: (0..pairs.len())
            .filter(|place| !in_order.contains(place))
            .map(|place| pairs[place].0)
            .collect(),
        pairs,
    }
}

/// A name, the operation if needed to tell tensors of that name apart, and a count from 0.
type Key = (String, Option<String>, usize);

/// False for a mere number: `node_7`, `leaf_2`, and `node_7 (view)`, derived from one.
fn has_name(name: &str) -> bool {
    static COUNTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(node|leaf)_\d+( \(.*)?$").expect("the pattern is valid"));
    !COUNTED.is_match(name)
}

/// Whether the tensor's operation only moves values.
pub(super) fn moves_values(entry: &Entry) -> bool {
    let operation = entry.operation.as_deref();
    matches!(operation, Some("VIEW" | "PERMUTE" | "RESHAPE" | "TRANSPOSE" | "CONT"))
}

/// The keys of tensors with a name.
fn unique_keys(tensors: &[Entry], are_graphs: bool) -> Vec<Option<Key>> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for one in tensors {
        *names.entry(&one.name).or_default() += 1;
    }
    let mut counts: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    let mut keys = Vec::new();
    for one in tensors {
        if are_graphs && !has_name(&one.name) {
            keys.push(None);
            continue;
        }
        let needs_operation = are_graphs || names[one.name.as_str()] > 1;
        let operation = one.operation.as_deref().filter(|_| needs_operation);
        let count = counts.entry((&one.name, operation)).or_default();
        keys.push(Some((one.name.clone(), operation.map(str::to_owned), *count)));
        *count += 1;
    }
    keys
}

/// Names without a partner in both sets, with different operations: the name and both operations.
pub(super) fn changed_operations(a: &[Entry], b: &[Entry], found: &Matching) -> Vec<[String; 3]> {
    let mut left: Vec<&Entry> = found.unmatched[1].iter().map(|place| &b[*place]).collect();
    let mut changed = Vec::new();
    for one in found.unmatched[0].iter().map(|place| &a[*place]) {
        let is_it = |other: &&Entry| other.name == one.name && other.operation != one.operation;
        let Some(at) = left.iter().position(is_it) else { continue };
        let operations = [one, left.remove(at)].map(|entry| entry.operation.clone());
        if let [Some(a), Some(b)] = operations
            && has_name(&one.name)
        {
            changed.push([one.name.clone(), a, b]);
        }
    }
    changed
}

/// Matches tensors without a partner that have the same key, in order, between the same matched
/// neighbours.
fn match_rest(
    [a, b]: [&[Entry]; 2],
    key: &dyn Fn(&Entry) -> Option<String>,
    may_match: &dyn Fn(&Entry, &Entry) -> bool,
    partner: &mut BTreeMap<usize, usize>,
    taken: &mut BTreeSet<usize>,
) {
    let mut found = Vec::new();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    for place in (0..a.len()).filter(|place| !partner.contains_key(place)) {
        let Some(wanted) = key(&a[place]) else { continue };
        let after = partner.range(..place).next_back().map_or(0, |(_, other)| other + 1);
        let before = partner.range(place..).next().map_or(b.len(), |(_, other)| *other);
        let is_it = |other: &usize| {
            !taken.contains(other)
                && !used.contains(other)
                && key(&b[*other]).as_ref() == Some(&wanted)
                && may_match(&a[place], &b[*other])
        };
        if let Some(other) = (after..before.max(after)).find(is_it) {
            used.insert(other);
            found.push((place, other));
        }
    }
    for (place, other) in found {
        partner.insert(place, other);
        taken.insert(other);
    }
}

/// The indices of a longest rising subsequence.
fn longest_rise(values: &[usize]) -> BTreeSet<usize> {
    // ends[n]: the index of the smallest value that ends a rise of n + 1 values.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (place, value) in values.iter().enumerate() {
        let length = ends.partition_point(|end| values[*end] < *value);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        if length == ends.len() {
            ends.push(place);
        } else {
            ends[length] = place;
        }
    }
    let last = ends.last().copied();
    std::iter::successors(last, |place| before[*place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, operation: Option<&str>, shape: &[u64]) -> Entry {
        Entry {
            name: name.to_owned(),
            operation: operation.map(str::to_owned),
            inputs: Vec::new(),
            kind: None,
            shape: shape.to_vec(),
            has_nan: false,
            is_partial: false,
            full_sum: None,
            source: Err("not needed".to_owned()),
        }
    }

    fn plain(names: &[&str]) -> Vec<Entry> {
        names.iter().map(|name| entry(name, None, &[2, 3])).collect()
    }

    #[test]
    fn names_match_and_another_order_is_told() {
        let found = matching(&plain(&["a", "b", "c", "d"]), &plain(&["a", "c", "b", "new"]), false);
        assert_eq!(found.pairs, [(0, 0), (1, 2), (2, 1)]);
        assert_eq!(found.unmatched, [vec![3], vec![3]]);
        assert_eq!(found.reordered.len(), 1);
    }

    #[test]
    fn one_name_of_several_tensors_matches_by_operation_and_count() {
        let of = |names: &[(&str, &str)]| -> Vec<Entry> {
            names.iter().map(|(name, what)| entry(name, Some(what), &[4])).collect()
        };
        let a = of(&[("Qcur-0", "MUL_MAT"), ("Qcur-0", "ROPE"), ("x", "ADD"), ("x", "ADD")]);
        let b = of(&[
            ("Qcur-0", "MUL_MAT"),
            ("Qcur-0", "ADD"),
            ("Qcur-0", "ROPE"),
            ("x", "ADD"),
            ("x", "ADD"),
        ]);
        let found = matching(&a, &b, true);
        assert_eq!(found.pairs, [(0, 0), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(found.unmatched, [vec![], vec![1]]);
    }

    #[test]
    fn other_names_of_the_same_part_match() {
        let a = plain(&["blk0.q", "blk0.k", "blk1.q"]);
        let b = plain(&["Qcur-0", "Kcur-0", "Qcur-1"]);
        assert_eq!(matching(&a, &b, false).pairs, [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn a_rewritten_graph_matches_by_operation_and_shape_between_its_neighbours() {
        let a = [
            entry("x", Some("ADD"), &[2]),
            entry("node_1", Some("MUL_MAT"), &[2, 3]),
            entry("y", Some("ADD"), &[2]),
            entry("node_2", Some("MUL_MAT"), &[2, 3]),
        ];
        let b = [
            entry("x", Some("ADD"), &[2]),
            entry("node_7", Some("SCALE"), &[2, 3]),
            entry("node_8", Some("MUL_MAT"), &[2, 3]),
            entry("y", Some("ADD"), &[2]),
            entry("node_9", Some("MUL_MAT"), &[9, 3]),
        ];
        let found = matching(&a, &b, true);
        assert_eq!(found.pairs, [(0, 0), (1, 2), (2, 3)]);
        assert_eq!(found.unmatched, [vec![3], vec![1, 4]]);
    }

    fn computed(name: &str, operation: &str, inputs: &[&str]) -> Entry {
        let inputs = inputs.iter().map(|&input| input.to_owned()).collect();
        Entry { inputs, ..entry(name, Some(operation), &[4]) }
    }

    #[test]
    fn a_count_is_no_name() {
        let a = [
            computed("attn", "MUL_MAT", &["w", "x"]),
            computed("node_7", "GET_ROWS", &["attn", "leaf_5"]),
            computed("node_8", "GET_ROWS", &["x", "leaf_5"]),
        ];
        let b = [
            computed("attn", "MUL_MAT", &["w", "x"]),
            computed("node_7", "SCALE", &["attn"]),
            computed("node_8", "GET_ROWS", &["attn", "leaf_6"]),
            computed("node_9", "GET_ROWS", &["x", "leaf_6"]),
        ];
        let found = matching(&a, &b, true);
        assert_eq!(found.pairs, [(0, 0), (1, 2), (2, 3)]);
        assert_eq!(found.unmatched, [vec![], vec![1]]);
        assert!(changed_operations(&a, &b, &found).is_empty());
        // In a file, `node_7` is a name.
        assert_eq!(matching(&a, &b, false).pairs, [(0, 0), (1, 1), (2, 2)]);
    }

    #[test]
    fn one_name_of_two_operations_is_not_the_same_tensor() {
        let a = [computed("kqv-0", "MUL_MAT", &[]), computed("kqv_out-0", "MUL_MAT", &["w"])];
        let b = [computed("kqv-0", "MUL_MAT", &[]), computed("kqv_out-0", "CONT", &["kqv-0"])];
        let found = matching(&a, &b, true);
        assert_eq!(
            (found.pairs.as_slice(), &found.unmatched),
            (&[(0, 0)][..], &[vec![1], vec![1]])
        );
        let changed = changed_operations(&a, &b, &found);
        assert_eq!(changed, [["kqv_out-0", "MUL_MAT", "CONT"].map(str::to_owned)]);
        // Operations that compute nothing give the same values.
        let c = [computed("kqv-0", "MUL_MAT", &[]), computed("kqv_out-0", "RESHAPE", &["kqv-0"])];
        assert_eq!(matching(&b, &c, true).pairs, [(0, 0), (1, 1)]);
    }

    #[test]
    fn another_name_matches_by_part_if_it_can_be_the_same_tensor() {
        let one = |name, what, shape: &[u64]| [entry(name, Some(what), shape)];
        let a = one("__fattn__-0", "FLASH_ATTN_EXT", &[13, 4, 64]);
        let query = one("q-0", "VIEW", &[4, 13, 64]);
        for (a, b, is_match) in [
            (&a, one("kqv-0", "MUL_MAT", &[4, 13, 64]), false),
            (&a, one("node_9", "FLASH_ATTN_EXT", &[13, 4, 64]), true),
            (&query, one("Qcur-0 (view)", "VIEW", &[13, 4, 64]), false),
            (&query, one("Qcur-0", "MUL_MAT", &[4, 13, 64]), false),
            (&query, one("Qcur-0 (view)", "PERMUTE", &[4, 13, 64]), true),
        ] {
            let found = matching(a, &b, true);
            assert_eq!(!found.pairs.is_empty(), is_match, "{} {}", a[0].name, b[0].name);
        }
    }
}
