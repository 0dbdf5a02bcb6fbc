//! What a failed build or run printed.

use serde::{Deserialize, Serialize};

use crate::evaluation::CommitId;

/// A failed build or run, with the lines of its output that say why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedLine {
    /// The commit.
    pub commit: CommitId,
    /// The measure or the prepare step; `None` for a build.
    pub measure: Option<String>,
    /// The lines that say why it failed, else the last lines; at most ten.
    pub lines: Vec<String>,
    /// The log, relative to the hunt.
    pub log: String,
}
