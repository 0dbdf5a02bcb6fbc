//! The result of a hunt inside a dependency.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, CommitInfo, Outcome};

/// The result of a hunt inside a dependency that a first bad commit moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InsideLine {
    /// Path of the dependency.
    pub path: String,
    /// Name of the hunt, if there is one. Its folder is beside this hunt's.
    pub hunt: Option<String>,
    /// How that hunt ended, if its journal exists; [`Outcome::Interrupted`] if it has not ended.
    pub outcome: Option<Outcome>,
    /// The first bad commit of the dependency.
    pub culprit: Option<CommitInfo>,
    /// The engine commit that the hunt's builds use.
    pub engine: Option<CommitId>,
    /// Why there is no hunt, or the hunt's summary.
    pub summary: String,
}
