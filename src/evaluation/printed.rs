//! What the engine prints at a first bad commit and at its parent: facts about itself, and text
//! that it generates.

use serde::{Deserialize, Serialize};

use super::Metric;

/// A fact that differs between parent and commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactChange {
    /// The metric.
    pub metric: Metric,
    /// At the parent; `None` if its output has no such fact.
    pub parent: Option<String>,
    /// At the commit; `None` if its output has no such fact.
    pub commit: Option<String>,
    /// The runs of parent and commit.
    pub attempts: Vec<String>,
}

/// What one prompt gives at parent and commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextPair {
    /// The measure.
    pub measure: String,
    /// The kind of prompt, such as code or prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// At the parent.
    pub parent: GeneratedText,
    /// At the commit.
    pub commit: GeneratedText,
}

/// A generated text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratedText {
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
    /// The share of sequences of four words that occurred before, 0 … 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_4: Option<f64>,
    /// The run.
    pub attempt: String,
}

/// Above this share of repeated sequences a text looks like a loop.
const LOOP: f64 = 0.3;

/// The commit's share must be so much above the parent's.
const MORE: f64 = 0.1;

impl TextPair {
    /// Whether the texts differ.
    pub fn differs(&self) -> bool {
        self.parent.text != self.commit.text
    }

    /// Whether the commit's text repeats itself far more than the parent's: a sign that the model
    /// fell into a loop (mode collapse).
    pub fn repeats_itself(&self) -> bool {
        let [parent, commit] =
            [&self.parent, &self.commit].map(|one| one.repeated_4.unwrap_or(0.0));
        commit >= LOOP && commit >= parent + MORE && commit >= 2.0 * parent
    }

    /// The first word that differs, counted from 1; `None` if the texts are equal as far as they
    /// are kept.
    pub fn first_other_word(&self) -> Option<usize> {
        if !self.differs() {
            return None;
        }
        let [mut parent, mut commit] =
            [&self.parent, &self.commit].map(|one| one.text.split_whitespace());
        let mut place = 1;
        loop {
            match (parent.next(), commit.next()) {
                (None, None) => return None,
                (a, b) if a != b => return Some(place),
                _ => place += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, repeated_4: f64) -> GeneratedText {
        GeneratedText {
            text: text.to_owned(),
            words: 9.0,
            distinct_1: None,
            distinct_2: None,
            repeated_4: Some(repeated_4),
            attempt: String::new(),
        }
    }

    fn pair(parent: GeneratedText, commit: GeneratedText) -> TextPair {
        TextPair { measure: "t".to_owned(), category: None, parent, commit }
    }

    #[test]
    fn a_loop_is_told_only_if_the_parent_has_none() {
        let repeats = |before, after| pair(text("", before), text("", after)).repeats_itself();
        assert!(repeats(0.0, 0.9) && repeats(0.1, 0.3));
        assert!(!repeats(0.0, 0.2) && !repeats(0.6, 0.9) && !repeats(0.9, 0.9));
    }

    #[test]
    fn the_first_other_word_is_counted_from_one() {
        let other = |a, b| pair(text(a, 0.0), text(b, 0.0)).first_other_word();
        assert_eq!(other("a b c", "a b d"), Some(3));
        assert_eq!(other("a b", "a b c"), Some(3));
        assert_eq!(other("a b", "a  b"), None);
        assert_eq!(other("a b", "a b"), None);
    }
}
