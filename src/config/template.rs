//! Placeholders in commands, environments, and paths.

/// A word with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {}
