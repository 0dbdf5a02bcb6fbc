//! The output of the engine at a first bad commit and at its parent: facts about itself, and
//! generated text.

use serde::{Deserialize, Serialize};

use super::Metric;

/// A fact that differs between parent and commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactChange {
    /// The metric.
    pub metric: Metric,
    /// The fact at the parent; `None` if its output has no such fact.
    pub parent: Option<String>,
    /// The fact at the commit; `None` if its output has no such fact.
    pub commit: Option<String>,
    /// The runs of parent and commit.
    pub attempts: Vec<String>,
}

/// The texts that one prompt gives at parent and commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TextPair {
    /// The measure.
    pub measure: String,
    /// The kind of prompt, such as code or prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Whether the texts differ.
    pub differs: bool,
    /// Whether runs of one commit differ, as with sampled answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// The first word that differs, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_other_word: Option<usize>,
    /// The parent's text.
    pub parent: GeneratedText,
    /// The commit's text.
    pub commit: GeneratedText,
}

/// A generated text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GeneratedText {
    /// Its beginning.
    pub text: String,
    /// How many words the whole text has.
    pub words: f64,
    /// Distinct words as a share of all, 0 … 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_1: Option<f64>,
    /// Distinct pairs of words as a share of all, 0 … 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_2: Option<f64>,
    /// The share of four-word sequences that occurred before, 0 … 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_4: Option<f64>,
    /// The run.
    pub attempt: String,
}

/// Share of repeated sequences above which a text looks like a loop.
const LOOP: f64 = 0.3;

/// Minimum difference between the commit's share and the parent's.
const MORE: f64 = 0.1;

impl TextPair {
    /// Whether the commit's text repeats itself far more than the parent's: a sign that the model
    /// fell into a loop (mode collapse).
    pub(crate) fn repeats_itself(&self) -> bool {
        let [parent, commit] =
            [&self.parent, &self.commit].map(|one| one.repeated_4.unwrap_or(0.0));
        commit >= LOOP && commit >= parent + MORE && commit >= 2.0 * parent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(repeated_4: f64) -> GeneratedText {
        GeneratedText {
            text: String::new(),
            words: 9.0,
            distinct_1: None,
            distinct_2: None,
            repeated_4: Some(repeated_4),
            attempt: String::new(),
        }
    }

    #[test]
    fn a_loop_is_told_only_if_the_parent_has_none() {
        let pair = |before, after| TextPair {
            measure: "t".to_owned(),
            category: None,
            differs: true,
            varies: false,
            first_other_word: None,
            parent: text(before),
            commit: text(after),
        };
        let repeats = |before, after| pair(before, after).repeats_itself();
        assert!(repeats(0.0, 0.9) && repeats(0.1, 0.3));
        assert!(!repeats(0.0, 0.2) && !repeats(0.6, 0.9) && !repeats(0.9, 0.9));
    }
}
