//! The diff of a first bad commit or of a candidate.

use crate::evaluation::{CommitInfo, TouchedFile};
use crate::git::FileDiff;

/// The stored diff of a commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// The diff of each file, the most relevant first.
    pub files: Vec<FileDiff>,
    /// The files whose diff is not stored, because the whole diff is too long.
    pub left_out: Vec<TouchedFile>,
}

/// A commit that may be the first bad one, and its change.
#[derive(Clone, Debug)]
pub(crate) struct CandidateLine {
    /// The commit.
    pub info: CommitInfo,
    /// Its change against its first parent.
    pub change: Change,
}
