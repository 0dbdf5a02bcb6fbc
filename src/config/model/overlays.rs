//! What is applied to a commit's files before the build: patches and files of another commit, and
//! at which commits.

/// One `[[patch]]`: a change that is applied to commits before they are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The file or revision that the patch comes from.
    pub source: PatchSource,
    /// Which commits; `None`: all commits.
    pub when: Option<Condition>,
}

/// Where a patch comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatchSource {
    /// A unified diff; the path starts from the folder of oracle.toml.
    File(String),
    /// The change of this revision against its first parent.
    Commit(String),
}

impl PatchSource {
    /// The file name or revision as the configuration has it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Commit(name) => name,
        }
    }
}

/// One `[[overlay]]`: files of one revision that replace those of every commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileOverlay {
    /// The revision, as written.
    pub from: String,
    /// Git pathspecs (`:(top,glob)` is added): matching files become exactly as at that revision.
    pub paths: Vec<String>,
    /// Which commits; `None`: all commits.
    pub when: Option<Condition>,
}

/// `when`: every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// This path is not in the commit's tree.
    pub missing: Option<String>,
    /// This path is in the commit's tree.
    pub exists: Option<String>,
    /// This file is in the tree and contains the text.
    pub contains: Option<(String, String)>,
    /// The commit descends from (or is) this revision.
    pub has_ancestor: Option<String>,
    /// The commit does not descend from this revision, and is not this revision.
    pub lacks_ancestor: Option<String>,
}
