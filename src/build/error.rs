//! Why a build gave no answer about its commit.

use crate::evaluation::ReachedLimit;
use crate::git::GitError;
use crate::process::ProcessError;
use crate::store::StoreError;

use super::{SlotError, WroteLinked};

/// The build could not be tried, or it failed and the commit is not at fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// The checkout failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A program could not be supervised.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The slot could not be used.
    #[error("slot {0}")]
    Slot(#[from] SlotError),
    /// The record could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The build wrote into a linked folder, which all commits share.
    #[error(transparent)]
    Linked(#[from] WroteLinked),
    /// The machine failed, not the commit.
    #[error("the build of {commit} failed, but the commit is not at fault: {reason}")]
    MachineFault {
        /// The commit, abbreviated.
        commit: String,
        /// What happened.
        reason: String,
    },
    /// A program that a build command starts exists neither in the tree nor in PATH.
    #[error("[build] needs the program `{0}`, which was not found")]
    Missing(String),
    /// The user stopped the hunt.
    #[error("stopped while building")]
    Stopped,
    /// A limit of the hunt ended the build.
    #[error("stopped while building, because a limit of the hunt is reached")]
    Limit(ReachedLimit),
}
