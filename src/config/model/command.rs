//! A command of a build or a measure.

use crate::config::Template;

/// A command, split as a shell would; placeholders are filled in after the split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As written.
    pub text: String,
    /// The words; never empty.
    pub(crate) words: Vec<Template>,
}
