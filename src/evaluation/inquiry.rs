//! What was asked about the inside of the main first bad commit, beside its files and shapes.

use serde::{Deserialize, Serialize};

use super::{FactChange, LevelResult, LogitsChange, TensorChange, TextPair};

/// What the main first bad commit and its worst parent show in runs that were made to compare them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inquiry {
    /// What each level of the engine shows, the lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelResult>,
    /// The facts that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactChange>,
    /// The texts that both generate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextPair>,
    /// How the logits differ, by measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logits: Vec<LogitsChange>,
    /// How the tensors differ, by measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tensors: Vec<TensorChange>,
}
