//! The output of a failed build or run.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Failure};

/// A failed build or run, with the output lines that explain the failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FailedLine {
    /// The commit.
    pub commit: CommitId,
    /// The measure or the prepare step; `None` for a build.
    pub measure: Option<String>,
    /// The lines that explain the failure, or else the last lines; at most ten.
    pub lines: Vec<String>,
    /// The log, relative to the hunt.
    pub log: String,
    /// The command of a run or a prepare step, quoted for a shell. Not in `report.json`.
    #[serde(skip)]
    pub command: Option<String>,
    /// The place where the build put the missing program. Not in `report.json`.
    #[serde(skip)]
    pub elsewhere: Option<String>,
    /// The failure. Not in `report.json`.
    #[serde(skip)]
    pub failed: Option<Failure>,
    /// When the build or run was made, if its result comes from the store (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
}
