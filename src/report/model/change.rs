//! The diff of a first bad commit.

use crate::evaluation::TouchedFile;
use crate::git::FileDiff;

/// The stored diff of a first bad commit.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The diff of each file, the most relevant first.
    pub files: Vec<FileDiff>,
    /// The files whose diff is not stored, because the whole diff is too long.
    pub left_out: Vec<TouchedFile>,
}
