//! What a comparison of two printed graphs claims.

use std::path::Path;

use super::*;
use crate::evaluation::{TensorComparison, TensorInput, TensorPatternKind, TensorVerdict};
use crate::tensor::{TensorNoise, TensorSet, compare_sets};

/// A tensor such as `f32 MUL_MAT(w{4, 4}, x{4, 2}})` as llama-eval-callback prints it: all
/// values are `value`. `shape`: the two dimensions. A quantised type prints no values.
fn tensor(name: &str, what: &str, shape: [u64; 2], value: f64) -> String {
    let [width, rows] = shape;
    let sum = value * (width * rows) as f64;
    with_sum(name, what, shape, value, sum)
}

/// The same with another sum.
fn with_sum(name: &str, what: &str, shape: [u64; 2], value: f64, sum: f64) -> String {
    let [width, rows] = shape;
    let (kind, operation) = what.split_once(' ').unwrap();
    let text = format!("ggml_debug: {name} = ({kind}) {operation} = {{{width}, {rows}, 1, 1}}\n");
    if kind.starts_with('q') {
        return text;
    }
    let row = format!("[{}],\n", vec![format!("{value:.4}"); width.min(6) as usize].join(", "));
    let rows = row.repeat(rows.min(6) as usize);
    text + &format!("[\n[\n{rows}],\n]\nsum = {sum:.6}\n")
}

fn opened(folder: &Path, name: &str, text: &str) -> Result<TensorSet, DumpError> {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    TensorSet::open(&path)
}

fn tried(a: &str, b: &str) -> Result<TensorComparison, DumpError> {
    let root = tempfile::tempdir().unwrap();
    let [a, b] = [opened(root.path(), "a.txt", a)?, opened(root.path(), "b.txt", b)?];
    compare_sets(&a, &b, &TensorNoise::default(), 1, &|| false)
}

fn compared(a: &str, b: &str) -> TensorComparison {
    tried(a, b).unwrap()
}

fn states(found: &TensorComparison) -> Vec<(&str, &str)> {
    found.inputs.iter().map(|one| (one.name.as_str(), TensorInput::states(one)[0])).collect()
}

/// Keys, queries and scores; `kind` is that of the keys.
fn scores(kind: &str, scores: f64) -> String {
    [
        tensor("q-0", "f32 PERMUTE(Qcur-0{4, 2, 1, 1}, })", [4, 2], 1.5),
        tensor("k-0", &format!("{kind} VIEW(cache_k_l0{{64, 1, 1, 1}}, }})"), [4, 2], 0.5),
        tensor("kq-0", "f32 MUL_MAT(k-0{4, 2, 1, 1}, q-0{4, 2, 1, 1}})", [2, 2], scores),
    ]
    .concat()
}

#[test]
fn a_changed_type_is_a_difference_and_comes_first() {
    let found = compared(&scores("f16", 3.0), &scores("q8_0", 3.1));
    let first = found.first().unwrap();
    assert_eq!((first.name.as_str(), first.verdict), ("k-0", TensorVerdict::Type));
    assert_eq!(first.remark.as_deref(), Some("its type is f16 in A and q8_0 in B"));
    assert!(found.patterns.is_empty(), "{:?}", found.patterns);
    // Also if the values of both types are printed.
    let found = compared(&scores("f16", 3.0), &scores("bf16", 3.0));
    assert_eq!((found.first().unwrap().name.as_str(), found.beyond), ("k-0", 1));
}

#[test]
fn an_input_that_is_not_printed_is_not_known_to_be_clean() {
    let found = compared(&scores("q8_0", 3.0), &scores("q8_0", 3.1));
    assert_eq!(found.first().unwrap().name, "kq-0");
    assert_eq!(states(&found), [("k-0", "not known"), ("q-0", "clean")]);
    assert!(found.patterns.is_empty(), "{:?}", found.patterns);
    // All inputs are known.
    let found = compared(&scores("f16", 3.0), &scores("f16", 3.1));
    assert_eq!(found.patterns[0].kind, TensorPatternKind::Attention);
    // B lacks an input.
    let lacks = scores("f16", 3.1).replace("k-0 = (f16) VIEW", "other = (f16) CPY");
    assert_eq!(
        states(&compared(&scores("f16", 3.0), &lacks)),
        [("k-0", "not known"), ("q-0", "clean")]
    );
}

#[test]
fn an_input_with_a_small_difference_is_not_said_to_be_clean() {
    let b = scores("f16", 3.1).replace("0.5000", "0.5001");
    let found = compared(&scores("f16", 3.0), &b);
    assert_eq!(states(&found), [("k-0", "within its tolerance"), ("q-0", "clean")]);
    let evidence = &found.patterns[0].evidence;
    let expected = "k-0 before it is within its tolerance, q-0 before it is clean, kq-0 is not";
    assert_eq!(evidence, expected);
}

#[test]
fn a_dump_that_ends_early_is_not_equal() {
    let whole = scores("f16", 3.0);
    let told = |b: &str| tried(&whole, b).unwrap_err().to_string();
    // Inside a tensor.
    let cut = told(whole.trim_end().strip_suffix("sum = 12.000000").unwrap());
    assert!(cut.ends_with("b.txt: it ends early, after k-0: kq-0 is cut"), "{cut}");
    // After a tensor.
    let shorter = |scores: &str| scores[..scores.find("ggml_debug: kq-0").unwrap()].to_owned();
    let expected = "the files cannot be compared: B ends early, after k-0: A goes on, with 1 more";
    assert_eq!(told(&shorter(&whole)), expected);
    // A difference before the end is told.
    let found = compared(&shorter(&whole).replace("1.5000", "1.6000"), &whole);
    assert_eq!(found.first().unwrap().name, "q-0");
    assert_eq!(found.ends_early, [Some("k-0".to_owned()), None]);
    // A last tensor that was replaced is not an early end.
    let replaced = whole.replace("kq-0 = (f32) MUL_MAT", "other = (f32) SCALE");
    assert_eq!(compared(&whole, &replaced).ends_early, [None, None]);
}

#[test]
fn a_sum_of_all_values_shows_what_is_not_printed() {
    let norm = |sum| with_sum("norm-0", "f32 RMS_NORM(x{64, 64, 1, 1}, })", [64, 64], 0.5, sum);
    let query = |sum| with_sum("Qcur-0", "f32 MUL_MAT(norm-0{64, 64, 1, 1}})", [64, 64], 1.5, sum);
    let a = [norm(-40.0), query(9.0)].concat();
    let found = compared(&a, &[norm(-38.0), query(11.0)].concat());
    let first = found.first().unwrap();
    assert_eq!((first.name.as_str(), first.verdict), ("norm-0", TensorVerdict::Sum));
    assert_eq!(first.sums, Some([-40.0, -38.0]));
    // Rounding of the sum.
    assert!(compared(&a, &[norm(-40.01), query(9.0)].concat()).first.is_none());
    let state =
        |a: &str, b: &str| compared(a, &b.replace("1.5000", "1.6000")).inputs[0].states()[0];
    assert_eq!(state(&a, &a), "clean");
    assert_eq!(state(&a, &[norm(-40.01), query(9.0)].concat()), "clean where printed");
    // Sums of the printed values say nothing of the others.
    let of_printed = [norm(0.5 * 36.0), query(1.5 * 36.0)].concat();
    assert_eq!(state(&of_printed, &of_printed), "clean where printed");
}

#[test]
fn the_padding_of_a_cache_is_no_first_difference() {
    let graph = |cells: u64, value: f64| {
        [
            tensor("q-0", "f32 PERMUTE(Qcur-0{4, 2, 1, 1}, })", [4, 2], 1.5),
            tensor("k-0", "f16 VIEW(cache_k_l0{64, 1, 1, 1}, })", [4, cells], 0.5),
            tensor("kq-0", "f32 MUL_MAT(k-0{4, 2, 1, 1}, q-0{4, 2, 1, 1}})", [cells, 2], 3.0),
            tensor("kqv-0", "f32 MUL_MAT(v-0{4, 2, 1, 1}, kq-0{2, 2, 1, 1}})", [4, 2], value),
        ]
        .concat()
    };
    let found = compared(&graph(32, 1.0), &graph(256, 1.0));
    assert_eq!((found.first, found.beyond), (None, 0));
    let remarks: Vec<&str> = found.tensors.iter().filter_map(|one| one.remark.as_deref()).collect();
    let expected = [
        "its shape is [32, 4] in A and [256, 4] in B, which can be padding",
        "its shape is [2, 32] in A and [2, 256] in B, which follows from k-0",
    ];
    assert_eq!(remarks, expected);
    let found = compared(&graph(32, 1.0), &graph(256, 2.0));
    assert_eq!(found.first().unwrap().name, "kqv-0");
    assert_eq!(states(&found), [("kq-0", "not known")]);
    // A shape that was computed.
    let found =
        compared(&graph(32, 1.0), &graph(32, 1.0).replace("{4, 2, 1, 1}\n", "{2, 4, 1, 1}\n"));
    assert_eq!(found.first().map(|one| one.verdict), Some(TensorVerdict::Shape));
}

#[test]
fn another_number_of_tokens_is_refused() {
    let graph = |tokens: u64| {
        tensor(
            "inp_embd",
            "f32 GET_ROWS(token_embd.weight{4, 9, 1, 1}, leaf_2{2, 1, 1, 1}})",
            [4, tokens],
            0.5,
        )
    };
    assert!(compared(&graph(3), &graph(3)).first.is_none());
    let expected =
        "the files cannot be compared: not the same tokens: inp_embd has 3 in A and 2 in B";
    assert_eq!(tried(&graph(3), &graph(2)).unwrap_err().to_string(), expected);
}
