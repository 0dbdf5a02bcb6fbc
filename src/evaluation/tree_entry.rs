//! A file that replaces a file in a commit's tree, for example in localisation.

/// A path of a tree and its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TreeEntry {
    /// The path from the top of the tree, as raw bytes.
    pub path: Vec<u8>,
    /// The file; `None` removes the path.
    pub file: Option<EntryFile>,
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryFile {
    /// The mode as git writes it, such as `100644`.
    pub mode: String,
    /// The content of the file.
    pub content: EntryContent,
}

/// The content of a file of a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryContent {
    /// An object of the repository: a blob, or the commit of a submodule.
    Object(String),
    /// These bytes.
    Bytes(Vec<u8>),
}
