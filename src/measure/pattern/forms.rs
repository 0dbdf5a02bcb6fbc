//! The forms of the lines in which a group matched. If the numbers come from other lines for a
//! while, they may be numbers of another thing.

use std::collections::BTreeMap;

use crate::evaluation::{ValueForms, form_of_parts, without_names};
use crate::measure::form::form_around;

use super::texts::Texts;

/// Maximum number of forms. With more, the lines have names of many things, and the form says
/// nothing.
const MOST: usize = 32;

/// The forms so far.
#[derive(Debug, Default)]
struct Seen {
    texts: BTreeMap<String, Texts>,
    /// Whether there were more than [`MOST`].
    are_too_many: bool,
}

/// The forms so far, and the same without names: if each line has a name of its own (`chunk12`),
/// only the other words count.
#[derive(Debug, Default)]
pub(super) struct Forms {
    with_names: Seen,
    without_names: Seen,
}

impl Forms {
    /// Adds what the group took between two places of a line.
    pub(super) fn add(&mut self, line: &str, place: [usize; 2], taken: &str) {
        if self.without_names.are_too_many {
            return;
        }
        let form = form_around(line, place);
        self.without_names.add(without_names(&form), taken);
        self.with_names.add(form, taken);
    }

    /// The forms of the value. `text`: the text of the one match that counts; then all lines with
    /// this text count, since a program may print a number twice, in any order. `None` if the value
    /// is computed from all matches. Then the forms of all lines make one: which of them has the
    /// largest number may change with any commit.
    pub(super) fn of(self, text: Option<&str>) -> Option<ValueForms> {
        self.with_names.of(text).or_else(|| self.without_names.of(text))
    }
}

impl Seen {
    fn add(&mut self, form: String, taken: &str) {
        if self.are_too_many {
            return;
        }
        if let Some(texts) = self.texts.get_mut(&form) {
            texts.add(taken);
            return;
        }
        self.are_too_many = self.texts.len() == MOST;
        self.texts.insert(form, Texts::new(taken));
    }

    fn of(self, text: Option<&str>) -> Option<ValueForms> {
        if self.are_too_many || self.texts.is_empty() {
            return None;
        }
        let Some(text) = text else {
            return Some(std::iter::once(form_of_parts(self.texts.into_keys())).collect());
        };
        let forms = self.texts.into_iter().filter(|(_, texts)| texts.have(text));
        Some(forms.map(|(form, _)| form).collect())
    }
}
