//! How the tensors of two dumps differ: the first different tensor, its inputs, and known patterns
//! of the differences.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tensor_difference::is_false;
use super::{CommitId, TensorDifference, TensorVerdict};

/// Maximum number of tensors that a sentence names.
const MOST_NAMED: usize = 4;

/// How the tensors of a first bad commit differ from its parent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorChange {
    /// The measure that dumps the tensors.
    pub measure: String,
    /// The parent: A.
    pub parent: CommitId,
    /// The commit: B.
    pub commit: CommitId,
    /// A commit without an effect. Its differences from the parent widen the tolerances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harmless: Option<CommitId>,
    /// The runs that dumped tensors, those of the parent first.
    pub runs: Vec<TensorRun>,
    /// The comparison, with only the tensors near the first different one.
    #[serde(flatten)]
    pub comparison: TensorComparison,
}

/// A run that dumped tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorRun {
    /// The commit.
    pub commit: CommitId,
    /// The run's name in the store.
    pub attempt: String,
}

/// Two sets of tensors, compared in the order of computation. A is the base, B the candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorComparison {
    /// Where the order of A comes from.
    pub order: TensorOrder,
    /// Whether a set has only printed values: the outer ones of each dimension, with four decimals.
    pub printed_only: bool,
    /// How many pairs of tensors were compared.
    pub compared: usize,
    /// How many of these pairs are beyond their tolerance.
    pub beyond: usize,
    /// The compared tensors in A's order; in a report only those near the first different one.
    pub tensors: Vec<TensorDifference>,
    /// The index of the first different tensor in `tensors`.
    pub first: Option<usize>,
    /// The operands of the first different tensor, if the sets have them.
    pub inputs: Vec<TensorInput>,
    /// Names of tensors without a partner, of A and of B.
    pub unmatched: [Vec<String>; 2],
    /// The unmatched tensors between the first different tensor and the compared tensor before it.
    /// The difference may begin in them. Empty if the sets list the inputs of the first different
    /// tensor.
    #[serde(default, skip_serializing_if = "are_empty")]
    pub unmatched_before: [Vec<String>; 2],
    /// Names of tensors that B computes earlier or later than A does, relative to the others.
    pub reordered: Vec<String>,
    /// Tensors of one name that A and B compute with different operations: the name, the operation
    /// in A, the operation in B. Such tensors are not compared. They are in `unmatched` too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_operations: Vec<[String; 3]>,
    /// The last tensor of A and of B, if one set ends earlier than the other.
    #[serde(default)]
    pub ends_early: [Option<String>; 2],
    /// The axis of `growth`.
    pub axis: TensorAxis,
    /// The difference along the layers, or along the steps of a training run.
    pub growth: Vec<TensorGrowth>,
    /// The known patterns of the differences, the most informative first.
    pub patterns: Vec<TensorPattern>,
}

fn are_empty(names: &[Vec<String>; 2]) -> bool {
    names.iter().all(Vec::is_empty)
}

impl TensorComparison {
    /// `blk0.q and blk0.query right before it have no partner, so the difference may begin there`,
    /// if there are such tensors. The names are as the engine wrote them; control characters are
    /// not removed.
    pub(crate) fn doubt(&self) -> Option<String> {
        let names: Vec<&str> = self.unmatched_before.iter().flatten().map(String::as_str).collect();
        let (last, others) = names.split_last()?;
        let (names, have) = match others {
            [] => ((*last).to_owned(), "has"),
            _ if names.len() > MOST_NAMED => (format!("{} tensors", names.len()), "have"),
            others => (format!("{} and {last}", others.join(", ")), "have"),
        };
        Some(format!(
            "{names} right before it {have} no partner, so the difference may begin there"
        ))
    }

    /// The first different tensor.
    pub(crate) fn first(&self) -> Option<&TensorDifference> {
        self.tensors.get(self.first?)
    }

    /// Of `tensors`, keeps only those near the first different one; if none is different, only the
    /// last ones.
    pub(crate) fn keep_near(&mut self, before: usize, after: usize) {
        let at = self.first.unwrap_or(self.tensors.len());
        let begin = at.saturating_sub(before);
        self.tensors.truncate(at.saturating_add(after + 1));
        self.tensors.drain(..begin);
        self.first = self.first.map(|first| first - begin);
    }
}

/// Where the order of a set of tensors comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorOrder {
    /// A list that the program wrote.
    Listed,
    /// The order in which they were printed.
    Printed,
    /// Assumed: by position in the file.
    Offset,
    /// Assumed: by file name.
    FileNames,
}

impl TensorOrder {
    /// Whether the order may differ from the order of computation.
    pub(crate) fn is_assumed(self) -> bool {
        matches!(self, Self::Offset | Self::FileNames)
    }
}

/// An operand of the first different tensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorInput {
    /// The operand's name in A.
    pub name: String,
    /// The largest |Δ|, if it was compared.
    pub max_abs: Option<f64>,
    /// Whether it was compared and is within its tolerance.
    pub is_clean: bool,
    /// The result of its own comparison; `not-compared` also if B lacks it. Absent in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<TensorVerdict>,
    /// Whether only its printed values are known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub printed_only: bool,
}

impl TensorInput {
    /// An operand of A that was compared.
    pub(crate) fn compared(one: &TensorDifference) -> Self {
        let is_known = one.verdict != TensorVerdict::NotCompared;
        Self {
            name: one.name.clone(),
            max_abs: one.max_abs,
            is_clean: is_known && !one.is_different(),
            verdict: Some(one.verdict),
            printed_only: one.printed_only,
        }
    }

    /// An operand of A without a partner in B.
    pub(crate) fn not_compared(name: String) -> Self {
        let verdict = Some(TensorVerdict::NotCompared);
        Self { name, max_abs: None, is_clean: false, verdict, printed_only: false }
    }

    /// The state in words, of one tensor and of several. An operand that was not compared is not
    /// clean.
    pub(crate) fn states(&self) -> [&'static str; 2] {
        match self.verdict {
            Some(TensorVerdict::NotCompared) => ["not known"; 2],
            Some(TensorVerdict::Within) if self.printed_only => {
                ["within its tolerance where printed", "within their tolerances where printed"]
            }
            Some(TensorVerdict::Within) => ["within its tolerance", "within their tolerances"],
            _ if self.is_clean && self.printed_only => ["clean where printed"; 2],
            _ if self.is_clean => ["clean"; 2],
            _ => ["different too"; 2],
        }
    }
}

/// The axis of a growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorAxis {
    /// The layers of a model.
    Layer,
    /// The steps of a training run.
    Step,
}

impl fmt::Display for TensorAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Layer => "layer",
            Self::Step => "step",
        })
    }
}

/// A point of the growth along layers or steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorGrowth {
    /// The layer or the step, from 0.
    pub at: u32,
    /// The tensor: the layer's last one.
    pub name: String,
    /// The largest |Δ|.
    pub max_abs: f64,
    /// RMS of Δ relative to the RMS of A.
    pub relative: f64,
}

/// A known pattern of the differences, and the evidence in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorPattern {
    /// Which pattern.
    pub kind: TensorPatternKind,
    /// The evidence, one sentence.
    pub evidence: String,
}

/// A known pattern of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorPatternKind {
    /// Non-finite values appear.
    NonFinite,
    /// A difference above 1.0.
    NotRounding,
    /// Queries or keys differ only after the rotation.
    Rotation,
    /// The attention differs although queries, keys and values do not.
    Attention,
    /// A projection differs although its input does not.
    Projection,
    /// The feed-forward part differs although its input does not.
    FeedForward,
    /// A norm differs although its input does not.
    Norm,
    /// The embeddings of the tokens differ.
    Embedding,
    /// The sum with the layer's input differs although both terms do not.
    Residual,
    /// Only the logits differ.
    Output,
    /// Prefill and decode differ from the full forward pass.
    Cache,
    /// The difference grows by a factor from layer to layer or from step to step.
    Instability,
    /// The difference grows slowly along the layers or steps, and none of them stands out.
    SlowGrowth,
    /// One layer is far worse than its neighbours.
    OneLayer,
}

impl fmt::Display for TensorPatternKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NonFinite => "values that are not finite",
            Self::NotRounding => "a bug, not rounding",
            Self::Rotation => "rotary embedding",
            Self::Attention => "attention",
            Self::Projection => "projection",
            Self::FeedForward => "feed-forward part",
            Self::Norm => "norm",
            Self::Embedding => "embedding",
            Self::Residual => "residual",
            Self::Output => "output head",
            Self::Cache => "KV cache",
            Self::Instability => "instability",
            Self::SlowGrowth => "slow growth",
            Self::OneLayer => "one layer",
        })
    }
}
