//! Finds and removes what killed hunts leave behind: bisect sessions, worktrees that git still
//! lists, and builds in slots, with those that stay for later hunts. Other hunts clean up when they
//! end, and leave such builds.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::build::Slots;
use crate::git::{BisectSession, Repository};
use crate::hunt::begin::open::beginnings;
use crate::oracle::OracleError;
use crate::store::{HuntDir, Store};

use super::HuntError;
use super::begin::slots_folder::default_slots;
use super::cleanup::empty_slots;

/// The remains of killed hunts, and their size on disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftovers {
    /// Slots with a build that is not empty.
    pub slots: usize,
    /// Bisect sessions of hunts without a running driver.
    pub sessions: usize,
    /// Bytes on disk in the slots.
    pub bytes: u64,
}

/// Counts what [`remove_leftovers`] would remove.
pub(crate) fn leftovers(repository: &Repository, store: &Store) -> Result<Leftovers, HuntError> {
    let mut leftovers = Leftovers::default();
    for hunt in store.hunts()? {
        leftovers.sessions += usize::from(is_abandoned(&hunt)?);
    }
    let folders = folders_of_slots(repository, store)?;
    let mut used = BTreeSet::new();
    for slots in folders.iter().filter_map(|folder| Slots::existing(folder)) {
        // One entry a build; several builds take turns in a slot.
        for slot in slots.idle().map_err(OracleError::from)? {
            let folders = ["build", "out", "cache", "src"].map(|part| slot.folder().join(part));
            leftovers.bytes += folders.iter().map(|folder| size(folder)).sum::<u64>();
            if folders.iter().any(|folder| folder.exists()) {
                used.insert(slot.root().to_owned());
            }
        }
    }
    leftovers.slots = used.len();
    Ok(leftovers)
}

/// Removes the remains of killed hunts and all builds, but no locked slots and no running hunts.
pub(crate) fn remove_leftovers(repository: &Repository, store: &Store) -> Result<(), HuntError> {
    for hunt in store.hunts()? {
        if is_abandoned(&hunt)? {
            BisectSession::remove(&hunt.bisect_repository())?;
            BisectSession::remove(&hunt.ahead_repository())?;
        }
    }
    for folder in folders_of_slots(repository, store)? {
        match Slots::existing(&folder) {
            Some(slots) => empty_slots(repository, &slots)?,
            None => repository.forget_lost_slots(&folder)?,
        }
    }
    Ok(())
}

fn is_abandoned(hunt: &HuntDir) -> Result<bool, HuntError> {
    let repositories = [hunt.bisect_repository(), hunt.ahead_repository()];
    Ok(repositories.iter().any(|path| path.exists()) && !hunt.is_driven()?)
}

/// All folders of slots that hunts of this repository used, even if they no longer exist.
fn folders_of_slots(
    repository: &Repository,
    store: &Store,
) -> Result<BTreeSet<PathBuf>, HuntError> {
    let mut folders = BTreeSet::from([default_slots(repository)]);
    for hunt in store.hunts()? {
        // A hunt with an unreadable journal names no folder.
        let begun = beginnings(&hunt).unwrap_or_default();
        folders.extend(begun.into_iter().map(|begun| PathBuf::from(begun.slots)));
    }
    Ok(folders)
}

/// Bytes that a folder takes on disk. Unreadable entries count as 0.
fn size(path: &Path) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    let below = std::fs::read_dir(path).ok().filter(|_| meta.is_dir());
    let below = below.into_iter().flatten().flatten().map(|entry| size(&entry.path()));
    meta.blocks().saturating_mul(512) + below.sum::<u64>()
}
