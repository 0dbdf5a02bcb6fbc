//! What a group took from its lines, by what the lines say around it.

use std::collections::BTreeMap;

/// Maximum number of keys. With more, the lines have names of many things or show the progress of
/// a run, and their words do not tell what the value is.
const MOST: usize = 32;

/// The texts from lines with the same key: the form of a line, or its place.
#[derive(Debug, Default)]
pub(super) struct TextsBy<K> {
    texts: BTreeMap<K, Texts>,
    /// Whether there were more keys than [`MOST`].
    are_too_many: bool,
}

/// The first and the last text from lines with one key.
#[derive(Debug)]
pub(super) struct Texts {
    first: String,
    last: String,
}

impl<K: Ord> TextsBy<K> {
    /// Whether there were too many keys. More lines change nothing then.
    pub(super) fn are_too_many(&self) -> bool {
        self.are_too_many
    }

    pub(super) fn add(&mut self, key: K, taken: &str) {
        if self.are_too_many {
            return;
        }
        if let Some(texts) = self.texts.get_mut(&key) {
            taken.clone_into(&mut texts.last);
            return;
        }
        self.are_too_many = self.texts.len() == MOST;
        self.texts.insert(key, Texts { first: taken.to_owned(), last: taken.to_owned() });
    }

    /// All texts; `None` if there were too many keys.
    pub(super) fn all(self) -> Option<BTreeMap<K, Texts>> {
        (!self.are_too_many).then_some(self.texts)
    }
}

impl Texts {
    /// Whether the first or the last text is this one.
    pub(super) fn have(&self, text: &str) -> bool {
        self.first == text || self.last == text
    }
}
