//! A confirmed step that a later commit undid, so that its commit is not named.

use serde::{Deserialize, Serialize};

use super::CommitId;

/// A step that the newer end does not have any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UndoneStep {
    /// The commit that made the step.
    pub commit: CommitId,
    /// What the commit changed: `ppl 7 → 7.5`, or how it fails.
    pub change: String,
    /// The first known commit without the step.
    pub undone_by: CommitId,
    /// A later confirmed commit that makes the same step again, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_again_by: Option<CommitId>,
}
