use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::*;
use crate::evaluation::{TensorPatternKind, TensorVerdict};

/// A `.npy` file of f32.
fn npy(path: &Path, shape: [usize; 2], values: &[f32]) {
    let [rows, columns] = shape;
    let literal =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(literal.len()).unwrap().to_le_bytes());
    bytes.extend(literal.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

/// A dump as the bundled engine writes it: two rows of three values for each tensor.
fn dump(folder: &Path, tensors: &[(&str, f32)]) -> TensorSet {
    fs::create_dir_all(folder).unwrap();
    let mut index = String::new();
    for (number, (name, value)) in tensors.iter().enumerate() {
        npy(
            &folder.join(format!("{number:03}_{name}.npy")),
            [2, 3],
            &[1.0, 1.0, 1.0, 1.0, *value, 1.0],
        );
        writeln!(index, "{number:03} {name} 2x3").unwrap();
    }
    fs::write(folder.join("index.txt"), index).unwrap();
    TensorSet::open(folder).unwrap()
}

fn compared(base: &TensorSet, candidate: &TensorSet, of_base: Vec<TensorSet>) -> TensorComparison {
    let noise = TensorNoise { of_base, ..TensorNoise::default() };
    compare_sets(base, candidate, &noise, 2, &|| false).unwrap()
}

#[test]
#[allow(clippy::float_cmp, reason = "exact values are expected")]
fn the_first_different_tensor_is_the_first_beyond_its_tolerance() {
    let root = tempfile::tempdir().unwrap();
    let base =
        dump(&root.path().join("a"), &[("blk0.q", 1.0), ("blk0.q_rope", 1.0), ("blk0.attn", 1.0)]);
    let candidate = dump(
        &root.path().join("b"),
        &[("blk0.q", 1.00005), ("blk0.q_rope", 1.5), ("blk0.attn", 9.0)],
    );
    let found = compared(&base, &candidate, Vec::new());
    assert_eq!((found.compared, found.beyond, found.first), (3, 2, Some(1)));
    let first = found.first().unwrap();
    assert_eq!((first.max_abs, first.tolerance, first.noise), (Some(0.5), 1e-4, None));
    assert_eq!((first.mean_abs, first.shape.as_slice()), (Some(0.5 / 6.0), &[2, 3][..]));
    assert_eq!((&first.first_position, &first.worst_position), (&Some(vec![1]), &Some(vec![1])));
    assert_eq!(first.worst_values, Some([1.0, 1.5]));
    assert_eq!(found.tensors[0].verdict, TensorVerdict::Within);
    assert_eq!(found.inputs.len(), 1);
    assert!(found.inputs[0].is_clean && found.inputs[0].name == "blk0.q");
    let kinds: Vec<TensorPatternKind> = found.patterns.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [TensorPatternKind::Rotation, TensorPatternKind::NotRounding]);
}

#[test]
#[allow(clippy::float_cmp, reason = "exact values are expected")]
fn a_tensor_may_differ_by_four_times_its_noise() {
    let root = tempfile::tempdir().unwrap();
    let of = |name: &str, value| dump(&root.path().join(name), &[("x", value), ("y", 1.0)]);
    let (base, candidate) = (of("a", 1.0), of("b", 1.75));
    let both = vec![of("n1", 1.125), of("n2", 1.1875)];
    let found = compared(&base, &candidate, both);
    assert_eq!((found.tensors[0].noise, found.tensors[0].tolerance), (Some(0.1875), 0.75));
    assert_eq!(found.tensors[1].noise, Some(0.0));
    assert_eq!(found.first, None);
    assert_eq!(compared(&base, &candidate, vec![of("n1", 1.125)]).first, Some(0));
    // The candidate's own noise counts too.
    let noise = TensorNoise { of_candidate: vec![of("n3", 1.5)], ..TensorNoise::default() };
    let found = compare_sets(&base, &candidate, &noise, 1, &|| false).unwrap();
    assert_eq!((found.tensors[0].noise, found.first), (Some(0.25), None));
}

#[test]
fn shapes_and_missing_tensors_are_findings() {
    let root = tempfile::tempdir().unwrap();
    let base = dump(&root.path().join("a"), &[("x", 1.0), ("y", 1.0), ("old", 1.0)]);
    dump(&root.path().join("b"), &[("y", 1.0), ("x", 1.0), ("new", 1.0)]);
    npy(&root.path().join("b/000_y.npy"), [3, 2], &[1.0; 6]);
    let candidate = TensorSet::open(&root.path().join("b")).unwrap();
    let found = compared(&base, &candidate, Vec::new());
    assert_eq!(found.unmatched, [vec!["old".to_owned()], vec!["new".to_owned()]]);
    assert_eq!(found.reordered.len(), 1);
    let first = found.first().unwrap();
    assert_eq!((first.name.as_str(), first.verdict), ("y", TensorVerdict::Shape));
    assert_eq!(first.remark.as_deref(), Some("its shape is [2, 3] in A and [3, 2] in B"));
}

#[test]
fn a_set_with_both_passes_shows_a_broken_cache() {
    let root = tempfile::tempdir().unwrap();
    let of = |name: &str, decoded: f32| {
        let folder = root.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        npy(&folder.join("full.logits.npy"), [3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        npy(&folder.join("prefill.logits.npy"), [2, 2], &[1.0, 2.0, 3.0, 4.0]);
        npy(&folder.join("decode.logits.npy"), [1, 2], &[5.0, decoded]);
        TensorSet::open(&folder).unwrap()
    };
    let found = compared(&of("a", 6.0), &of("b", 6.5), Vec::new());
    let cache = found.patterns.iter().find(|one| one.kind == TensorPatternKind::Cache).unwrap();
    let expected = "logits of prefill and decode differs from the full pass by 0.5 in B, by 0 in A";
    assert_eq!(cache.evidence, expected);
    let same = compared(&of("c", 6.5), &of("d", 6.5), Vec::new());
    assert!(same.patterns.is_empty() && same.first.is_none());
}

#[test]
fn dumps_without_a_common_tensor_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let [a, b] = ["one", "two"].map(|name| dump(&root.path().join(name), &[(name, 1.0)]));
    let error =
        compare_sets(&a, &b, &TensorNoise::default(), 1, &|| false).unwrap_err().to_string();
    assert_eq!(error, "the files cannot be compared: they have no tensor in common (`one`, `two`)");
}
