//! What the lines say in which a group matched, with all their names, numbers and paths.

use std::collections::BTreeMap;

use crate::evaluation::{OutputPlace, ValuePlaces};
use crate::measure::form::place_around;

use super::texts::Texts;

/// Maximum number of places. With more, the lines show the progress of a run.
const MOST: usize = 32;

/// The places so far.
#[derive(Debug, Default)]
pub(super) struct Places {
    texts: BTreeMap<OutputPlace, Texts>,
    first: Option<OutputPlace>,
    last: Option<OutputPlace>,
    /// Whether there were more than [`MOST`].
    are_too_many: bool,
}

impl Places {
    /// Adds what the group took between two places of a line.
    pub(super) fn add(&mut self, line: &str, at: [usize; 2], taken: &str) {
        if self.are_too_many {
            return;
        }
        let place = place_around(line, at);
        if let Some(texts) = self.texts.get_mut(&place) {
            texts.add(taken);
        } else {
            self.are_too_many = self.texts.len() == MOST;
            self.texts.insert(place.clone(), Texts::new(taken));
        }
        if self.first.is_none() {
            self.first = Some(place.clone());
        }
        self.last = Some(place);
    }

    /// The places of a value. `text`: the text of the one match that counts, the first or the last
    /// one. `None` if all matches count: which of them has the largest number may change with any
    /// commit.
    pub(super) fn of(self, text: Option<&str>, is_first: bool) -> Option<ValuePlaces> {
        let text = text.filter(|_| !self.are_too_many)?;
        let own = if is_first { self.first } else { self.last }?;
        if !self.texts.get(&own)?.have(text) {
            return None;
        }
        let others = self.texts.into_iter().filter(|(place, _)| *place != own);
        let others: Vec<_> = others.map(|(place, texts)| (place, texts.have(text))).collect();
        ValuePlaces::new(own, others)
    }
}
