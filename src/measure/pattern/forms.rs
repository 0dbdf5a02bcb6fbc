//! The forms of the lines in which a group matched. If the numbers come from other lines for a
//! while, they may be numbers of another thing.

use std::ops::Deref;

use crate::evaluation::{ValueForms, form_of_parts, without_names};
use crate::measure::form::WordsAround;

use super::texts::TextsBy;

/// The forms so far, and the same without names: if each line has a name of its own (`chunk12`),
/// only the other words count.
#[derive(Debug, Default)]
pub(super) struct Forms {
    with_names: TextsBy<String>,
    without_names: TextsBy<String>,
}

impl Forms {
    /// Adds what the group took between these words. They are read from the line only if they are
    /// needed.
    pub(super) fn add(&mut self, words: &impl Deref<Target = WordsAround>, taken: &str) {
        if self.without_names.are_too_many() {
            return;
        }
        let form = words.form();
        self.without_names.add(without_names(&form), taken);
        self.with_names.add(form, taken);
    }

    /// The forms of the value. `text`: the text of the one match that counts; then all lines with
    /// this text count, since a program may print a number twice, in any order. `None` if the value
    /// is computed from all matches. Then the forms of all lines make one: which of them has the
    /// largest number may change with any commit.
    pub(super) fn of(self, text: Option<&str>) -> Option<ValueForms> {
        forms_of(self.with_names, text).or_else(|| forms_of(self.without_names, text))
    }
}

fn forms_of(seen: TextsBy<String>, text: Option<&str>) -> Option<ValueForms> {
    let all = seen.all().filter(|all| !all.is_empty())?;
    let Some(text) = text else {
        return Some(std::iter::once(form_of_parts(all.into_keys())).collect());
    };
    let forms = all.into_iter().filter(|(_, texts)| texts.have(text));
    Some(forms.map(|(form, _)| form).collect())
}
