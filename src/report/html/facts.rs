//! Labelled facts of the page.

use crate::ui::text;

/// Facts cleaned for one line: engines and machines may print anything.
pub(super) fn facts(facts: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    facts.into_iter().map(|(label, words)| (label, text::line(&words))).collect()
}
