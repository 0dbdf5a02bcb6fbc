//! What the lines say in which a group matched, with all their names, numbers and paths.

use std::ops::Deref;

use crate::evaluation::{OutputPlace, ValuePlaces};
use crate::measure::form::WordsAround;

use super::texts::TextsBy;

/// The places so far.
#[derive(Debug, Default)]
pub(super) struct Places {
    seen: TextsBy<OutputPlace>,
    first: Option<OutputPlace>,
    last: Option<OutputPlace>,
}

impl Places {
    /// Adds what the group took between these words. They are read from the line only if they are
    /// needed.
    pub(super) fn add(&mut self, words: &impl Deref<Target = WordsAround>, taken: &str) {
        if self.seen.are_too_many() {
            return;
        }
        let place = words.place();
        if self.first.is_none() {
            self.first = Some(place.clone());
        }
        self.last = Some(place.clone());
        self.seen.add(place, taken);
    }

    /// The places of a value. `text`: the text of the one match that counts, the first or the last
    /// one. `None` if all matches count: which of them has the largest number may change with any
    /// commit.
    pub(super) fn of(self, text: Option<&str>, is_first: bool) -> Option<ValuePlaces> {
        let (text, mut all) = (text?, self.seen.all()?);
        let own = if is_first { self.first } else { self.last }?;
        if !all.remove(&own)?.have(text) {
            return None;
        }
        ValuePlaces::new(own, all.into_iter().map(|(place, texts)| (place, texts.have(text))))
    }
}
