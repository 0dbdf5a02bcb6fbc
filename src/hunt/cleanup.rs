//! Removes what remains of a hunt: its bisect session, and the worktrees that git still lists.

use crate::build::Slots;
use crate::git::{BisectSession, GitError, Repository, Worktree};
use crate::oracle::OracleError;
use crate::store::HuntDir;

use super::HuntError;

/// Removes the hunt's bisect session and every slot that no process holds.
pub(crate) fn clean(
    repository: &Repository,
    hunt: &HuntDir,
    slots: &Slots,
) -> Result<(), HuntError> {
    BisectSession::remove(&hunt.bisect_repository())?;
    BisectSession::remove(&hunt.ahead_repository())?;
    clean_slots(repository, slots)
}

/// Removes every slot that no process holds.
pub(crate) fn clean_slots(repository: &Repository, slots: &Slots) -> Result<(), HuntError> {
    for slot in slots.idle().map_err(OracleError::from)? {
        slot.empty().map_err(OracleError::from)?;
        remove_worktree(repository, &slot.folder().join("src"))?;
        slot.remove_parked().map_err(OracleError::from)?;
    }
    // A git that was killed during the hunt may have left an unfinished entry of a worktree.
    repository.repair()?;
    Ok(repository.forget_lost_slots(slots.folder())?)
}

fn remove_worktree(repository: &Repository, path: &std::path::Path) -> Result<(), GitError> {
    match Worktree::existing(repository, path)? {
        Some(worktree) => worktree.remove(),
        None => Ok(()),
    }
}
