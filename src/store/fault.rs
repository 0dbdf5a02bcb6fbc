//! An error that one process of a hunt records for another, which reports it.

use serde::{Deserialize, Serialize};

/// Why a process of a hunt stopped. No commit is at fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedFault {
    /// The reason, in a sentence.
    pub reason: String,
    /// What the user can do about it, without the command that goes on after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the fault may pass by itself, so that another try may work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_pass: bool,
    /// Whether this hunt cannot go on, and only a new one helps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_new_hunt: bool,
}
