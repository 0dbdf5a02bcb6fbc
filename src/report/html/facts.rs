//! Labelled facts of the page, cleaned for one line: engines and machines may print anything.

use crate::report::facts::{Fact, Part};
use crate::ui::text;

/// A fact as the page shows it.
pub(super) struct FactView {
    pub(super) label: &'static str,
    pub(super) words: String,
    /// Whether it is a name to be set like code.
    pub(super) is_code: bool,
    pub(super) href: Option<String>,
}

impl FactView {
    pub(super) fn new(label: &'static str, words: &str) -> Self {
        Self { label, words: text::line(words), is_code: false, href: None }
    }

    pub(super) fn of(fact: &Fact) -> Self {
        let is_code = fact.part == Part::Name;
        let href = fact.link.clone();
        Self { is_code, href, ..Self::new(fact.label.unwrap_or("Note"), &fact.words) }
    }
}
