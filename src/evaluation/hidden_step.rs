//! A step that an improvement hid until the improvement was taken back.

use serde::{Deserialize, Serialize};

use super::CommitId;

/// The improvement that hid a step for a while. Neither endpoint has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) struct HiddenStep {
    /// The first commit of the improvement.
    pub by: CommitId,
    /// The commit that took the improvement back.
    pub until: CommitId,
}
