//! Layers over a commit's tree, and the modified tree or the refusal that results.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, TreeEntry};

/// One change of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// A submodule at another commit.
    Pin {
        /// The submodule's path.
        path: String,
        /// The new commit, in the submodule's repository.
        to: CommitId,
    },
    /// A submodule as plain files, which other layers can change.
    Inline {
        /// The submodule's path.
        path: String,
        /// The commit with the files, in the submodule's repository.
        from: CommitId,
    },
    /// Files of a vendored folder (a copy of another project), taken from a commit of that
    /// project.
    Vendored {
        /// The vendored folder.
        folder: String,
        /// The project's commit.
        from: CommitId,
        /// The files' paths in the project. A file that the project's commit lacks is removed.
        files: Vec<String>,
    },
    /// Files put over the commit, or removed, exactly.
    Entries(Arc<Vec<TreeEntry>>),
    /// A unified diff; skipped if the tree already contains this change.
    Patch {
        /// The patch's name for people.
        name: String,
        /// Digest of the patch.
        digest: String,
        /// Path of the patch.
        file: PathBuf,
    },
    /// Files of another commit. Matching files that the other commit lacks are removed.
    Files {
        /// The commit to take the files from.
        from: CommitId,
        /// Pathspecs; `:(top,glob)` is put before them.
        paths: Vec<String>,
    },
}

/// Result of [`super::OverlayBuilder::apply_layers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OverlayResult {
    /// The tree.
    Tree(LaidTree),
    /// The layers do not fit the commit.
    Refused(OverlayFailure),
}

/// Why the layers do not fit the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OverlayFailure {
    /// What failed.
    pub what: OverlayFailureCause,
    /// Git's message.
    pub said: String,
    /// The tree before the failed layer, and the patch's digest. For
    /// [`OverlayFailureCause::Commit`]: the commit.
    pub(super) state: (String, String),
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OverlayFailureCause {
    /// This patch does not apply.
    Patch(String),
    /// Git does not accept names in the commit's own tree.
    Commit,
}

impl OverlayFailure {
    /// Identifies the attempt: it differs for another tree or another patch.
    pub(crate) fn id(&self) -> String {
        format!("{} refuses {}", self.state.0, self.state.1)
    }
}

impl OverlayResult {
    /// Identifies the tree, or the refusal, in a build key.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Tree(tree) => tree.id.clone(),
            Self::Refused(refusal) => refusal.id(),
        }
    }
}

/// A modified tree and the folder of its objects. It can be checked out while the
/// [`super::OverlayBuilder`] that made it lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LaidTree {
    pub(super) id: String,
    pub(super) objects: PathBuf,
}

impl LaidTree {
    /// The tree's object name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

/// Turns a pattern of the configuration into a git pathspec.
pub(crate) fn pathspec(path: &str) -> String {
    format!(":(top,glob){path}")
}
