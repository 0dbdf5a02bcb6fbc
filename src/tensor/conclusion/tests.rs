use super::*;
use crate::evaluation::{TensorLevel, TensorPatternKind as Kind, TensorVerdict};
use crate::tensor::name::NameParts;

/// A tensor of RMS 1 with this difference.
fn tensor(name: &str, delta: f64) -> TensorDifference {
    let parts = NameParts::of(name, None);
    let tolerance = TensorLevel::Layer.tolerance();
    TensorDifference {
        name: name.to_owned(),
        other_name: None,
        part: parts.part,
        layer: parts.layer,
        step: parts.step,
        operation: None,
        types: None,
        shape: vec![2, 3],
        verdict: match delta {
            0.0 => TensorVerdict::Equal,
            _ if delta > tolerance => TensorVerdict::Beyond,
            _ => TensorVerdict::Within,
        },
        level: parts.level,
        tolerance,
        noise: None,
        printed_only: false,
        sums: None,
        max_abs: Some(delta),
        mean_abs: Some(delta),
        rms: Some(delta),
        base_rms: Some(1.0),
        cosine: Some(1.0),
        first_position: None,
        worst_position: None,
        worst_values: None,
        non_finite: [0, 0],
        remark: None,
    }
}

fn concluded(tensors: &[(&str, f64)]) -> TensorComparison {
    let tensors = tensors.iter().map(|(name, delta)| tensor(name, *delta)).collect();
    of(tensors, seen(TensorOrder::Listed))
}

/// Nothing is known besides the differences.
fn seen(order: TensorOrder) -> Seen<'static> {
    Seen {
        order,
        printed_only: false,
        inputs: &|_| None,
        unmatched: [Vec::new(), Vec::new()],
        reordered: Vec::new(),
        caches: Vec::new(),
        changed_operations: Vec::new(),
    }
}

fn kinds(tensors: &[(&str, f64)]) -> Vec<Kind> {
    concluded(tensors).patterns.iter().map(|pattern| pattern.kind).collect()
}

fn inputs(found: &TensorComparison) -> Vec<&str> {
    found.inputs.iter().map(|input| input.name.as_str()).collect()
}

/// The tensors of a layer of the bundled engine, with a difference from one tensor on.
fn layer_from(first: &str) -> Vec<(&'static str, f64)> {
    let all = [
        "embd",
        "blk0.attn_norm",
        "blk0.q",
        "blk0.k",
        "blk0.v",
        "blk0.q_rope",
        "blk0.k_rope",
        "blk0.attn",
        "blk0.attn_out",
        "blk0.attn_residual",
        "blk0.ffn_norm",
        "blk0.ffn_gate",
        "blk0.ffn_up",
        "blk0.ffn_act",
        "blk0.ffn_down",
        "blk0.ffn_residual",
        "result_norm",
        "result_output",
    ];
    let begin = all.iter().position(|name| *name == first).unwrap();
    all.into_iter()
        .enumerate()
        .map(|(at, name)| (name, if at < begin { 0.0 } else { 0.5 }))
        .collect()
}

#[test]
fn the_first_part_with_clean_inputs_names_the_pattern() {
    for (first, kind, before) in [
        ("embd", Kind::Embedding, &[][..]),
        ("blk0.attn_norm", Kind::Norm, &["embd"]),
        ("blk0.q", Kind::Projection, &["blk0.attn_norm"]),
        ("blk0.q_rope", Kind::Rotation, &["blk0.q"]),
        ("blk0.attn", Kind::Attention, &["blk0.q_rope", "blk0.k_rope", "blk0.v"]),
        ("blk0.attn_out", Kind::Projection, &["blk0.attn"]),
        ("blk0.attn_residual", Kind::Residual, &["blk0.attn_out", "embd"]),
        ("blk0.ffn_act", Kind::FeedForward, &["blk0.ffn_gate", "blk0.ffn_up"]),
        ("blk0.ffn_down", Kind::FeedForward, &["blk0.ffn_act"]),
        ("result_output", Kind::Output, &["result_norm"]),
    ] {
        let found = concluded(&layer_from(first));
        assert_eq!(found.first().unwrap().name, first);
        assert_eq!(inputs(&found), before, "{first}");
        assert_eq!(found.patterns[0].kind, kind, "{first}");
    }
    // A kernel that adds to the residual writes no output of its own.
    let fused: Vec<_> = layer_from("blk0.attn_residual")
        .into_iter()
        .filter(|(name, _)| *name != "blk0.attn_out")
        .collect();
    let found = concluded(&fused);
    assert_eq!(inputs(&found), ["blk0.attn", "embd"]);
    assert_eq!(found.patterns[0].kind, Kind::Residual);
    let found = concluded(&layer_from("blk0.q_rope"));
    let expected =
        "blk0.q before it is clean; blk0.q_rope and blk0.k_rope differ, both after the rotation";
    assert_eq!(found.patterns[0].evidence, expected);
}

#[test]
fn a_dump_of_modules_does_not_tell_the_attention_from_its_projection() {
    let found = concluded(&[
        ("model.layers.0.self_attn.q_proj", 0.0),
        ("model.layers.0.self_attn.k_proj", 0.0),
        ("model.layers.0.self_attn.v_proj", 0.0),
        ("model.layers.0.self_attn.o_proj", 0.5),
    ]);
    assert_eq!(found.patterns[0].kind, Kind::Attention);
    assert!(found.patterns[0].evidence.contains("does not tell"));
}

#[test]
fn without_a_known_part_the_tensor_before_is_the_input() {
    let found = concluded(&[("a", 0.0), ("b", 0.0), ("c", 0.5)]);
    assert_eq!(inputs(&found), ["b"]);
    assert!(found.patterns.is_empty());
}

#[test]
fn listed_operands_come_before_the_table() {
    let tensors = [("a", 0.0), ("b", 0.0), ("c", 0.5)].map(|(name, delta)| tensor(name, delta));
    let operands = |place| Some(vec![Operand::Compared(place - 2)]);
    let seen = Seen { inputs: &operands, ..seen(TensorOrder::Printed) };
    assert_eq!(inputs(&of(tensors.to_vec(), seen)), ["a"]);
}

#[test]
fn growth_takes_the_outputs_of_layers() {
    let found = concluded(&[
        ("l_out-0", 0.1),
        ("attn_norm-1", 7.0),
        ("l_out-1", 0.2),
        ("late-1", 9.0),
        ("result_norm", 3.0),
    ]);
    let points: Vec<(u32, &str)> =
        found.growth.iter().map(|point| (point.at, point.name.as_str())).collect();
    assert_eq!(points, [(0, "l_out-0"), (1, "l_out-1")]);
    assert_eq!(found.axis, TensorAxis::Layer);
    let steps = concluded(&[("step0.loss", 0.0), ("step1.a", 0.3), ("step1.b", 0.2)]);
    let points: Vec<(u32, &str)> =
        steps.growth.iter().map(|point| (point.at, point.name.as_str())).collect();
    assert_eq!(points, [(0, "step0.loss"), (1, "step1.a")]);
    assert_eq!(steps.axis, TensorAxis::Step);
}

#[test]
fn steady_growth_is_instability_and_a_jump_is_one_layer() {
    let steady = [("l_out-0", 2e-4), ("l_out-1", 6e-4), ("l_out-2", 18e-4), ("l_out-3", 54e-4)];
    assert_eq!(kinds(&steady), [Kind::Instability]);
    let flat = [("l_out-0", 2e-4), ("l_out-1", 2.2e-4), ("l_out-2", 2.4e-4), ("l_out-3", 2.6e-4)];
    assert!(kinds(&flat).is_empty());
    let slow = [("l_out-0", 2e-4), ("l_out-1", 4e-4), ("l_out-2", 5e-4), ("l_out-3", 4.9e-4)];
    let found = concluded(&slow);
    assert_eq!(found.patterns[0].kind, Kind::SlowGrowth);
    let expected =
        "RMS of Δ is 2e-4 of the RMS in layer 0 and 5e-4 in layer 2; no layer alone stands out";
    assert_eq!(found.patterns[0].evidence, expected);
    // The layer where it begins stands out.
    let late = [("l_out-0", 0.0), ("l_out-1", 0.2), ("l_out-2", 0.3), ("l_out-3", 0.4)];
    let late = [&late[..], &[("l_out-4", 0.5)]].concat();
    assert_eq!(kinds(&late), [Kind::OneLayer]);
    let jump = [("l_out-0", 1e-6), ("l_out-1", 0.2), ("l_out-2", 0.3), ("l_out-3", 0.3)];
    let found = concluded(&jump);
    assert_eq!(found.patterns[0].kind, Kind::OneLayer);
    let expected = "RMS of Δ is 0.2 of the RMS in layer 1, 2e5 times that of layer 0";
    assert_eq!(found.patterns[0].evidence, expected);
}

#[test]
fn what_is_kept_for_a_report_is_near_the_first() {
    let mut found = concluded(&[("a", 0.0), ("b", 0.0), ("c", 0.5), ("d", 0.5), ("e", 0.5)]);
    found.keep_near(1, 1);
    let names: Vec<&str> = found.tensors.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, found.first), (vec!["b", "c", "d"], Some(1)));
    assert_eq!((found.compared, found.first().unwrap().name.as_str()), (5, "c"));
    let mut clean = concluded(&[("a", 0.0), ("b", 0.0), ("c", 0.0)]);
    clean.keep_near(2, 5);
    assert_eq!(clean.tensors.len(), 2);
}

#[test]
fn a_layer_that_is_equal_in_both_is_not_far_worse() {
    let mut tensors = [("l_out-0", 0.0), ("l_out-1", 0.0)].map(|(name, delta)| tensor(name, delta));
    tensors[1].verdict = TensorVerdict::Type;
    let found = of(tensors.to_vec(), seen(TensorOrder::Listed));
    assert_eq!(found.first, Some(1));
    assert!(found.patterns.is_empty(), "{:?}", found.patterns);
}

#[test]
fn a_large_difference_is_a_bug_only_if_it_is_large_for_its_tensor() {
    let said = |base_rms: f64, types: Option<[&str; 2]>| {
        let mut one = tensor("a", 1.5);
        one.base_rms = Some(base_rms);
        one.types = types.map(|types| types.map(str::to_owned));
        let found = of(vec![one], seen(TensorOrder::Listed));
        found.patterns.iter().any(|pattern| pattern.kind == Kind::NotRounding)
    };
    assert!(said(1.5, None));
    assert!(!said(29.0, None));
    assert!(!said(1.5, Some(["f16", "q8_0"])));
}
