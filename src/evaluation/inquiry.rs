//! Extra measurements of the main first bad commit, besides its cause and its sweep.

use serde::{Deserialize, Serialize};

use super::{FactChange, LevelResult, LogitsChange, TensorChange, TextPair};

/// Results of runs that compare the main first bad commit with its worst parent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Inquiry {
    /// What each level of the engine shows, the lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelResult>,
    /// The facts that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactChange>,
    /// The texts that the two commits generate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextPair>,
    /// How the logits differ, by measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logits: Vec<LogitsChange>,
    /// How the tensors differ, by measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tensors: Vec<TensorChange>,
}
