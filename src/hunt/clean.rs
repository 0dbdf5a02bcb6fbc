//! Leaves the user's repository as it was: no worktree of ours stays registered.

use crate::build::Slots;
use crate::git::{GitError, Repository, Worktree};
use crate::oracle::OracleError;
use crate::store::HuntDir;

use super::HuntError;

/// Removes the hunt's bisect worktree and every slot that nobody holds.
pub(super) fn clean(
    repository: &Repository,
    hunt: &HuntDir,
    slots: &Slots,
) -> Result<(), HuntError> {
    remove_worktree(repository, &hunt.bisect_worktree())?;
    clean_slots(repository, slots)
}

/// Removes every slot that nobody holds.
pub(super) fn clean_slots(repository: &Repository, slots: &Slots) -> Result<(), HuntError> {
    for slot in slots.idle().map_err(OracleError::from)? {
        slot.empty().map_err(OracleError::from)?;
        remove_worktree(repository, &slot.src())?;
    }
    Ok(())
}

/// Removes a worktree of ours, if there is one.
pub(super) fn remove_worktree(
    repository: &Repository,
    path: &std::path::Path,
) -> Result<(), GitError> {
    match Worktree::existing(repository, path)? {
        Some(worktree) => worktree.remove(),
        None => Ok(()),
    }
}
