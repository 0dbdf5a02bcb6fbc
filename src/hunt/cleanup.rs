//! Removes what remains of a hunt: its bisect session, and the worktrees that git still lists.
//! Builds that stay for later hunts are put away, so that git does not list their worktrees.

use crate::build::{Slot, Slots};
use crate::git::{BisectSession, GitError, Repository, Worktree};
use crate::oracle::OracleError;
use crate::store::HuntDir;

use super::HuntError;

/// Removes the hunt's bisect session and every slot that no process holds, except builds that stay.
pub(crate) fn clean(
    repository: &Repository,
    hunt: &HuntDir,
    slots: &Slots,
) -> Result<(), HuntError> {
    BisectSession::remove(&hunt.bisect_repository())?;
    BisectSession::remove(&hunt.ahead_repository())?;
    clean_slots(repository, slots)
}

/// Removes every slot that no process holds, except builds that stay for later hunts.
pub(crate) fn clean_slots(repository: &Repository, slots: &Slots) -> Result<(), HuntError> {
    for slot in slots.idle().map_err(OracleError::from)? {
        if !put_away(repository, &slot)? {
            remove(repository, &slot)?;
        }
    }
    forget_lost(repository, slots)
}

/// Removes every slot that no process holds, with all builds.
pub(crate) fn empty_slots(repository: &Repository, slots: &Slots) -> Result<(), HuntError> {
    for slot in slots.idle().map_err(OracleError::from)? {
        remove(repository, &slot)?;
    }
    forget_lost(repository, slots)
}

/// Puts a build that stays away; false if the build does not stay.
fn put_away(repository: &Repository, slot: &Slot) -> Result<bool, HuntError> {
    let src = slot.folder().join("src");
    if slot.stamp().is_none_or(|stamp| stamp.kept.is_none()) {
        return Ok(false);
    }
    if Worktree::is_put_away(repository, &src) {
        return Ok(true);
    }
    slot.remove_folders_of_runs().map_err(OracleError::from)?;
    let worktree = Worktree::existing(repository, &src)?;
    // If git's entry cannot be moved, the build is removed like others.
    Ok(worktree.is_some_and(|worktree| worktree.put_away().is_ok()))
}

fn remove(repository: &Repository, slot: &Slot) -> Result<(), HuntError> {
    slot.empty().map_err(OracleError::from)?;
    remove_worktree(repository, &slot.folder().join("src"))?;
    slot.remove_parked().map_err(OracleError::from)?;
    Ok(())
}

fn forget_lost(repository: &Repository, slots: &Slots) -> Result<(), HuntError> {
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
