//! The document behind a configuration, kept to merge overrides into it, and to name the places of
//! values.

use super::document::Node;

/// The text and tree that a configuration comes from. Overrides are merged into this tree.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The file as named on the command line.
    pub(super) name: String,
    pub(super) text: String,
    /// The tree without `[[override]]`.
    pub(super) document: Node,
    /// The bodies of `[[override]]`, in the order of `Config::overrides`.
    pub(super) bodies: Vec<Node>,
}
