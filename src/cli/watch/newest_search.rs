//! What the newest search of a hunt looks for.

use crate::evaluation::Target;

/// What the newest search looks for.
#[derive(Default)]
pub(super) struct NewestSearch {
    /// The levels of these targets may differ from those of the hunt's targets.
    pub(super) targets: Vec<Target>,
    /// Whether the search reads only the beginning of the text.
    pub(super) reads_beginning: bool,
    /// Whether the search has its answer.
    pub(super) is_over: bool,
}
