//! The state of reading a configuration: the problems so far, and the declared names.

use std::collections::BTreeSet;

use super::Names;
use super::problem::{Location, Problem};

/// The state of the reader: problems and declared names.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) problems: Vec<Problem>,
    /// The names from `[inputs]` and `[[prepare]]` that templates may use, as far as readable.
    pub(super) names: Names,
    /// Names that stand for another path in each cell, though templates use them as inputs.
    pub(super) cell_inputs: Vec<String>,
    /// The axes of `[matrix]` that measures name.
    pub(super) named_axes: BTreeSet<String>,
    /// Whether `{chunks}` will have a value.
    pub(super) chunks: bool,
    /// Every table that was read, with its allowed keys, and every key that takes one of a few
    /// words, with its allowed words. Tests compare the schema with this list.
    #[cfg(test)]
    pub(super) allowed: Vec<(String, Vec<String>)>,
}

impl Reader {
    pub(super) fn report_problem(&mut self, place: &Location, key: &str, what: impl Into<String>) {
        let (place, key, what) = (place.clone(), key.to_owned(), what.into());
        self.problems.push(Problem { place, key, what, is_missing: false });
    }

    /// Reports a needed key that does not exist. `rest`: the end of the message, such as an example.
    pub(super) fn report_missing(&mut self, place: &Location, key: &str, rest: &str) {
        let (place, key) = (place.clone(), key.to_owned());
        let what = format!("is missing{rest}");
        self.problems.push(Problem { place, key, what, is_missing: true });
    }
}
