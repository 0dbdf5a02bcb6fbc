//! The document behind a configuration, kept to merge overrides into it.

use super::document::Node;

/// The text and tree that a [`Config`](super::Config) comes from. Overrides are
/// merged into this tree.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
    /// The tree without `[[override]]`.
    pub(super) document: Node,
    /// The bodies of `[[override]]`, in the order of `Config::overrides`.
    pub(super) bodies: Vec<Node>,
}
