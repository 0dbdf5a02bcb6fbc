//! How one tensor of a dump differs from its partner in another dump.

use serde::{Deserialize, Serialize};

/// A tensor of A and its partner in B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TensorDifference {
    /// The name in A.
    pub name: String,
    /// The name in B, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_name: Option<String>,
    /// Its part in a transformer, if its name shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<TensorPart>,
    /// The layer, from 0, if its name has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<u32>,
    /// The training step, if its name has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The operation that computes it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The types of its values in A and in B, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<[String; 2]>,
    /// The lengths of the axes in A. The values of the last axis are adjacent.
    pub shape: Vec<u64>,
    /// The result of the comparison.
    pub verdict: TensorVerdict,
    /// The tolerance that its name selects.
    pub level: TensorLevel,
    /// The largest |Δ| that does not count as a difference.
    pub tolerance: f64,
    /// The largest |Δ| between repeated dumps and dumps of harmless commits, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Whether only its outer values were compared: the others were not printed, and no equal sums
    /// cover them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub printed_only: bool,
    /// The sums of all values in A and in B, if the engine printed sums but not all values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<[f64; 2]>,
    /// The largest |Δ|. This and the following are `None` if there are no finite values to compare.
    pub max_abs: Option<f64>,
    /// The mean |Δ|.
    pub mean_abs: Option<f64>,
    /// The root of the mean Δ².
    pub rms: Option<f64>,
    /// The root of the mean of A's squared values.
    pub base_rms: Option<f64>,
    /// The cosine of the angle between the two, as vectors of all values.
    pub cosine: Option<f64>,
    /// The first position beyond the tolerance: indices on all axes but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_position: Option<Vec<u64>>,
    /// The position of the largest |Δ|.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_position: Option<Vec<u64>>,
    /// The two values with the largest |Δ|.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_values: Option<[f64; 2]>,
    /// How many values of A, and of B, are not finite, at places where the two differ.
    pub non_finite: [u64; 2],
    /// Why it cannot be compared, or what else differs, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl TensorDifference {
    /// Whether it differs by more than its tolerance, in shape or type, or in non-finite values.
    pub(crate) fn is_different(&self) -> bool {
        match self.verdict {
            TensorVerdict::Equal | TensorVerdict::Within | TensorVerdict::NotCompared => false,
            TensorVerdict::Beyond
            | TensorVerdict::NonFinite
            | TensorVerdict::Shape
            | TensorVerdict::Type
            | TensorVerdict::Sum => true,
        }
    }

    /// RMS of Δ relative to the RMS of A; `None` if A is zero.
    pub(crate) fn relative(&self) -> Option<f64> {
        let (rms, base) = (self.rms?, self.base_rms?);
        (base > 0.0).then(|| rms / base)
    }
}

/// The result of comparing two tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorVerdict {
    /// All values are equal.
    Equal,
    /// No difference is beyond the tolerance.
    Within,
    /// A difference is beyond the tolerance.
    Beyond,
    /// A value is NaN or infinite in one set, and different in the other.
    NonFinite,
    /// The shapes do not fit.
    Shape,
    /// Its values have another type, and no difference is known to be beyond the tolerance.
    Type,
    /// No printed value is beyond the tolerance, but the tolerance does not explain the difference
    /// of the sums.
    Sum,
    /// A tensor cannot be read.
    NotCompared,
}

/// A tolerance for tensors of one kind, for values in f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorLevel {
    /// The result of one kernel alone.
    Kernel,
    /// A tensor inside a model.
    Layer,
    /// The last result of a model.
    Logits,
    /// A gradient.
    Gradient,
    /// A weight after several training steps.
    Weights,
    /// The gradient of an embedding.
    EmbeddingGradient,
}

impl TensorLevel {
    /// The largest |Δ|.
    pub(crate) fn tolerance(self) -> f64 {
        match self {
            Self::Kernel | Self::Gradient => 1e-5,
            Self::Layer => 1e-4,
            Self::Logits | Self::Weights => 1e-3,
            Self::EmbeddingGradient => 1e-2,
        }
    }
}

/// What a tensor is in a transformer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorPart {
    /// The embeddings of the tokens.
    Embedding,
    /// The normalised input of the attention.
    AttentionNorm,
    /// The queries.
    Query,
    /// The keys.
    Key,
    /// The values.
    Value,
    /// Queries, keys and values in one tensor.
    QueryKeyValue,
    /// The rotation angles.
    RotationTable,
    /// The queries after the rotation.
    RotatedQuery,
    /// The keys after the rotation.
    RotatedKey,
    /// The scores of the attention, before softmax.
    Scores,
    /// The weights of the attention, after softmax.
    AttentionWeights,
    /// The weighted values, before the output projection.
    Attention,
    /// The attention's output projection.
    AttentionOutput,
    /// The sum of the layer's input and the attention's output.
    AttentionResidual,
    /// The normalised input of the feed-forward part.
    FeedForwardNorm,
    /// The gate projection.
    Gate,
    /// The up projection.
    Up,
    /// The activation: of SwiGLU, silu(gate) × up.
    Activation,
    /// The down projection: the feed-forward part's output.
    FeedForwardOutput,
    /// The layer's output.
    LayerOutput,
    /// The normalised last hidden state.
    OutputNorm,
    /// The logits.
    Logits,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}
