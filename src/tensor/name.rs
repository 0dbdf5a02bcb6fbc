//! What the name of a tensor says: the layer or the training step, and its part in a transformer.
//! The tolerance follows from them.
//!
//! The names are those of llama.cpp's graphs (`Qcur-0`), of Hugging Face's modules
//! (`model.layers.0.self_attn.q_proj`), of GPT-2's modules (`transformer.h.0.attn.c_attn`) and of
//! the bundled engine (`blk0.q`).

use std::sync::LazyLock;

use regex::Regex;

use crate::evaluation::{TensorLevel, TensorPart};

use TensorPart as Part;

/// The known names, without the layer. A longer name may end with one, after a dot:
/// `self_attn.q_proj` ends with `q_proj`. If several fit, the longest counts.
const PARTS: &[(&str, Part)] = &[
    ("embd", Part::Embedding),
    ("inp_embd", Part::Embedding),
    ("embed_tokens", Part::Embedding),
    ("wte", Part::Embedding),
    ("attn_norm", Part::AttentionNorm),
    ("input_layernorm", Part::AttentionNorm),
    ("ln_1", Part::AttentionNorm),
    ("q", Part::Query),
    ("Qcur", Part::Query),
    ("q_proj", Part::Query),
    ("k", Part::Key),
    ("Kcur", Part::Key),
    ("k_proj", Part::Key),
    ("v", Part::Value),
    ("Vcur", Part::Value),
    ("v_proj", Part::Value),
    ("wqkv", Part::QueryKeyValue),
    ("qkv_proj", Part::QueryKeyValue),
    ("attn.c_attn", Part::QueryKeyValue),
    ("rotary_emb", Part::RotationTable),
    ("q_rope", Part::RotatedQuery),
    ("k_rope", Part::RotatedKey),
    ("kq", Part::Scores),
    ("kq_soft_max", Part::AttentionWeights),
    ("kq_soft_max_ext", Part::AttentionWeights),
    ("attn", Part::Attention),
    ("kqv", Part::Attention),
    ("kqv_out", Part::Attention),
    ("kqv_merged", Part::Attention),
    ("kqv_merged_cont", Part::Attention),
    ("__fattn__", Part::Attention),
    ("attn_out", Part::AttentionOutput),
    ("o_proj", Part::AttentionOutput),
    ("self_attn", Part::AttentionOutput),
    ("attn.c_proj", Part::AttentionOutput),
    ("ffn_inp", Part::AttentionResidual),
    ("attn_residual", Part::AttentionResidual),
    ("ffn_norm", Part::FeedForwardNorm),
    ("post_attention_layernorm", Part::FeedForwardNorm),
    ("ln_2", Part::FeedForwardNorm),
    ("ffn_gate", Part::Gate),
    ("gate_proj", Part::Gate),
    ("ffn_up", Part::Up),
    ("up_proj", Part::Up),
    ("mlp.c_fc", Part::Up),
    ("ffn_act", Part::Activation),
    ("ffn_silu", Part::Activation),
    ("ffn_gelu", Part::Activation),
    ("ffn_relu", Part::Activation),
    ("ffn_swiglu", Part::Activation),
    ("ffn_geglu", Part::Activation),
    ("ffn_gate_par", Part::Activation),
    ("act_fn", Part::Activation),
    ("mlp.act", Part::Activation),
    ("ffn_out", Part::FeedForwardOutput),
    ("ffn_down", Part::FeedForwardOutput),
    ("down_proj", Part::FeedForwardOutput),
    ("mlp.c_proj", Part::FeedForwardOutput),
    ("mlp", Part::FeedForwardOutput),
    ("mlp_out", Part::FeedForwardOutput),
    ("ffn_residual", Part::LayerOutput),
    ("l_out", Part::LayerOutput),
    ("result_norm", Part::OutputNorm),
    ("model.norm", Part::OutputNorm),
    ("ln_f", Part::OutputNorm),
    ("result_output", Part::Logits),
    ("lm_head", Part::Logits),
    ("logits", Part::Logits),
];

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NameParts {
    /// The training step, from 0: `step3.loss`.
    pub(super) step: Option<u32>,
    /// The layer, from 0.
    pub(super) layer: Option<u32>,
    /// The part.
    pub(super) part: Option<TensorPart>,
    /// The level, which has the tolerance.
    pub(super) level: TensorLevel,
}

impl NameParts {
    /// Reads a name. The operation, if known, tells a rotated query from a query.
    pub(super) fn of(name: &str, operation: Option<&str>) -> Self {
        static STEP: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"^step[-_.]?(?<step>\d+)[-_./:](?<rest>.+)$"));
        static MODULE: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"^(?:.*[./])?(?:blk|layers?|blocks?|h)[._]?(?<layer>\d+)(?:\.(?<rest>.+))?$")
        });
        static GRAPH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?<rest>.+?)-(?<layer>\d+)$"));

        let number = |text: &str| text.parse().ok();
        let (step, name) = match STEP.captures(name) {
            Some(found) => (number(&found["step"]), found.name("rest").map_or("", |m| m.as_str())),
            None => (None, name),
        };
        // `Qcur-0 (reshaped)` has the same values as `Qcur-0`.
        let plain = name.split_once(" (").map_or(name, |(plain, _)| plain);
        let (bare, kind) = without_kind(plain);
        let found = MODULE.captures(bare).or_else(|| GRAPH.captures(bare));
        let layer = found.as_ref().and_then(|found| number(&found["layer"]));
        let part = match &found {
            Some(found) => match found.name("rest") {
                Some(rest) => part_of(rest.as_str()),
                None => Some(Part::LayerOutput),
            },
            None => part_of(bare),
        };
        let level = match (kind, part) {
            (Kind::Gradient, part) if part == Some(Part::Embedding) || has_embedding(bare) => {
                TensorLevel::EmbeddingGradient
            }
            (Kind::Gradient, _) => TensorLevel::Gradient,
            (Kind::Weight, _) => TensorLevel::Weights,
            (Kind::Kernel, _) => TensorLevel::Kernel,
            (Kind::Value, Some(Part::Logits)) => TensorLevel::Logits,
            (Kind::Value, _) => TensorLevel::Layer,
        };
        let part = part.filter(|_| kind == Kind::Value).map(|part| made_by(part, bare, operation));
        Self { step, layer, part, level }
    }
}

/// The kind of tensor that a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Value,
    Gradient,
    Weight,
    Kernel,
}

/// The name without the parts that tell its kind, and the kind.
fn without_kind(name: &str) -> (&str, Kind) {
    let weight = name.strip_suffix(".weight").or_else(|| name.strip_suffix(".bias"));
    let gradient = name
        .strip_suffix(".grad")
        .or_else(|| ["grad.", "grad/"].iter().find_map(|prefix| name.strip_prefix(prefix)));
    if let Some(rest) = gradient {
        let parameter = rest.strip_suffix(".weight").or_else(|| rest.strip_suffix(".bias"));
        (parameter.unwrap_or(rest), Kind::Gradient)
    } else if let Some(parameter) = weight {
        (parameter, Kind::Weight)
    } else if let Some(rest) = name.strip_prefix("kernel.") {
        (rest, Kind::Kernel)
    } else {
        (name, Kind::Value)
    }
}

fn has_embedding(name: &str) -> bool {
    ["embed", "embd", "tok_emb", "wte", "wpe"].iter().any(|word| name.contains(word))
}

fn part_of(name: &str) -> Option<TensorPart> {
    let fits = |known: &str| {
        name.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let known = PARTS.iter().filter(|(known, _)| fits(known));
    known.max_by_key(|(known, _)| known.len()).map(|(_, part)| *part)
}

/// Corrects the part where several tensors have the same name: llama.cpp also calls the rotated
/// query `Qcur`, and called the output projection `kqv_out` until that tensor had a name of its
/// own.
fn made_by(part: TensorPart, name: &str, operation: Option<&str>) -> TensorPart {
    match (part, operation) {
        (Part::Query, Some("ROPE")) => Part::RotatedQuery,
        (Part::Key, Some("ROPE")) => Part::RotatedKey,
        (Part::Attention, Some("MUL_MAT" | "ADD")) if name.starts_with("kqv_out") => {
            Part::AttentionOutput
        }
        (part, _) => part,
    }
}

/// The parts that a part is computed from. A part may have several lists, since a set may lack the
/// nearest parts. The first list counts whose first part is in the set.
pub(super) fn inputs_of(part: TensorPart) -> &'static [&'static [TensorPart]] {
    match part {
        Part::Embedding | Part::RotationTable => &[],
        Part::AttentionNorm => &[&[Part::LayerOutput], &[Part::Embedding]],
        Part::Query | Part::Key | Part::Value | Part::QueryKeyValue => &[&[Part::AttentionNorm]],
        Part::RotatedQuery => &[&[Part::Query], &[Part::QueryKeyValue]],
        Part::RotatedKey => &[&[Part::Key], &[Part::QueryKeyValue]],
        Part::Scores => &[
            &[Part::RotatedQuery, Part::RotatedKey],
            &[Part::Query, Part::Key],
            &[Part::QueryKeyValue],
        ],
        Part::AttentionWeights => &[&[Part::Scores]],
        Part::Attention => &[
            &[Part::AttentionWeights, Part::Value],
            &[Part::RotatedQuery, Part::RotatedKey, Part::Value],
            &[Part::Query, Part::Key, Part::Value],
            &[Part::QueryKeyValue],
        ],
        Part::AttentionOutput => {
            &[&[Part::Attention], &[Part::Query, Part::Key, Part::Value], &[Part::QueryKeyValue]]
        }
        Part::AttentionResidual => &[
            &[Part::AttentionOutput, Part::LayerOutput, Part::Embedding],
            &[Part::Attention, Part::LayerOutput, Part::Embedding],
        ],
        Part::FeedForwardNorm => &[&[Part::AttentionResidual], &[Part::AttentionOutput]],
        Part::Gate | Part::Up => &[&[Part::FeedForwardNorm]],
        Part::Activation => &[&[Part::Gate, Part::Up], &[Part::Up]],
        Part::FeedForwardOutput => {
            &[&[Part::Activation], &[Part::Gate, Part::Up], &[Part::FeedForwardNorm]]
        }
        Part::LayerOutput => &[
            &[Part::FeedForwardOutput, Part::AttentionResidual],
            &[Part::Activation, Part::AttentionResidual],
        ],
        Part::OutputNorm => &[&[Part::LayerOutput]],
        Part::Logits => &[&[Part::OutputNorm], &[Part::LayerOutput]],
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> (Option<u32>, Option<TensorPart>) {
        let parts = NameParts::of(name, None);
        (parts.layer, parts.part)
    }

    #[test]
    fn three_families_of_names_mean_the_same_parts() {
        let same = [
            (None, Part::Embedding, ["embd", "model.embed_tokens", "inp_embd"]),
            (
                Some(0),
                Part::AttentionNorm,
                ["blk0.attn_norm", "model.layers.0.input_layernorm", "attn_norm-0"],
            ),
            (Some(1), Part::Query, ["blk1.q", "model.layers.1.self_attn.q_proj", "Qcur-1"]),
            (Some(12), Part::Key, ["blk12.k", "model.layers.12.self_attn.k_proj", "Kcur-12"]),
            (Some(3), Part::Value, ["blk3.v", "model.layers.3.self_attn.v_proj", "Vcur-3"]),
            (Some(1), Part::Attention, ["blk1.attn", "kqv_out-1", "kqv_merged_cont-1"]),
            (
                Some(1),
                Part::AttentionOutput,
                ["blk1.attn_out", "model.layers.1.self_attn.o_proj", "attn_out-1"],
            ),
            (Some(1), Part::AttentionResidual, ["blk1.attn_residual", "ffn_inp-1", "ffn_inp-1"]),
            (
                Some(1),
                Part::FeedForwardNorm,
                ["blk1.ffn_norm", "model.layers.1.post_attention_layernorm", "ffn_norm-1"],
            ),
            (Some(1), Part::Gate, ["blk1.ffn_gate", "model.layers.1.mlp.gate_proj", "ffn_gate-1"]),
            (Some(1), Part::Up, ["blk1.ffn_up", "model.layers.1.mlp.up_proj", "ffn_up-1"]),
            (
                Some(1),
                Part::Activation,
                ["blk1.ffn_act", "model.layers.1.mlp.act_fn", "ffn_silu-1"],
            ),
            (
                Some(1),
                Part::FeedForwardOutput,
                ["blk1.ffn_down", "model.layers.1.mlp", "ffn_out-1"],
            ),
            (Some(1), Part::LayerOutput, ["blk1.ffn_residual", "model.layers.1", "l_out-1"]),
            (None, Part::OutputNorm, ["result_norm", "model.norm", "transformer.ln_f"]),
            (None, Part::Logits, ["result_output", "lm_head", "logits"]),
        ];
        for (layer, part, names) in same {
            for name in names {
                assert_eq!(of(name), (layer, Some(part)), "{name}");
            }
        }
        assert_eq!(of("transformer.h.4.attn.c_proj"), (Some(4), Some(Part::AttentionOutput)));
        assert_eq!(of("transformer.h.4.mlp.c_proj"), (Some(4), Some(Part::FeedForwardOutput)));
        assert_eq!(of("kq-0"), (Some(0), Some(Part::Scores)));
        assert_eq!(of("kq_soft_max-0"), (Some(0), Some(Part::AttentionWeights)));
        assert_eq!(of("Qcur-0 (reshaped)"), (Some(0), Some(Part::Query)));
        assert_eq!(of("cache_k_l0 (view)"), (None, None));
        assert_eq!(of("sigmoid"), (None, None));
    }

    #[test]
    fn the_operation_tells_tensors_of_one_name_apart() {
        let part = |name, operation| NameParts::of(name, Some(operation)).part;
        assert_eq!(part("Qcur-0", "ROPE"), Some(Part::RotatedQuery));
        assert_eq!(part("Qcur-0", "MUL_MAT"), Some(Part::Query));
        assert_eq!(part("Kcur-0", "ROPE"), Some(Part::RotatedKey));
        assert_eq!(part("kqv_out-0", "MUL_MAT"), Some(Part::AttentionOutput));
        assert_eq!(part("kqv_out-0", "CONT"), Some(Part::Attention));
        // The weighted values are a product too.
        assert_eq!(part("kqv-0", "MUL_MAT"), Some(Part::Attention));
    }

    #[test]
    fn names_choose_the_tolerance() {
        for (name, tolerance) in [
            ("kernel.rope", 1e-5),
            ("blk0.q", 1e-4),
            ("anything", 1e-4),
            ("lm_head", 1e-3),
            ("model.layers.0.mlp.up_proj.weight.grad", 1e-5),
            ("grad.lm_head.weight", 1e-5),
            ("model.embed_tokens.weight.grad", 1e-2),
            ("step3.model.layers.0.mlp.up_proj.weight", 1e-3),
        ] {
            assert_eq!(
                NameParts::of(name, None).level.tolerance().to_bits(),
                f64::to_bits(tolerance),
                "{name}"
            );
        }
        let step = NameParts::of("step3.model.layers.2.mlp", None);
        assert_eq!((step.step, step.layer), (Some(3), Some(2)));
    }
}
