//! Follow-up hunts inside a dependency that a first bad commit changed.

use serde::{Deserialize, Serialize};

use crate::evaluation::CommitId;

use super::record_files::read_if_there;
use super::{HuntDir, StoreError, publish};

const FILE: &str = "inside.json";

/// One attempt to begin a hunt inside a dependency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FollowUpAttempt {
    /// The first bad commit.
    pub commit: CommitId,
    /// Path of the dependency.
    pub path: String,
    /// The result of the attempt.
    pub went: FollowUpResult,
}

/// Whether a follow-up hunt began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FollowUpResult {
    /// It began, with this name.
    On(String),
    /// It did not begin, for this reason.
    Nowhere(String),
}

impl FollowUpResult {
    /// The follow-up hunt's name, if there is one.
    pub(crate) fn on(&self) -> Option<&str> {
        match self {
            Self::On(id) => Some(id),
            Self::Nowhere(_) => None,
        }
    }
}

impl HuntDir {
    /// All attempts so far, in order; empty if the file is missing or does not parse. The attempts
    /// are then repeated.
    pub(crate) fn inside(&self) -> Result<Vec<FollowUpAttempt>, StoreError> {
        let bytes = read_if_there(&self.path().join(FILE))?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Stores the attempts.
    pub(crate) fn keep_inside(&self, tried: &[FollowUpAttempt]) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(tried).expect("names and sentences are plain data");
        publish(&self.path().join(FILE), &bytes)
    }
}
