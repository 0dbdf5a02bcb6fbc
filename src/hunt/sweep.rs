//! What killed hunts leave outside the store: worktrees that git still knows, and builds in
//! slots. A hunt that ends by itself leaves neither.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::build::Slots;
use crate::git::Repository;
use crate::oracle::OracleError;
use crate::store::{HuntDir, Store};

use super::HuntError;
use super::begin::default_slots;
use super::clean::{clean_slots, remove_worktree};
use super::open::begun;

/// What is left, and how much of the disk it takes.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Slots with something in them.
    pub slots: usize,
    /// Bisect worktrees of hunts that nobody drives.
    pub worktrees: usize,
    /// Bytes in the slots.
    pub bytes: u64,
}

/// What there is to sweep.
pub fn left(repository: &Repository, store: &Store) -> Result<Left, HuntError> {
    let mut left = Left::default();
    for hunt in store.hunts()? {
        left.worktrees += usize::from(is_abandoned(&hunt)?);
    }
    for slots in slots_of(repository, store)? {
        for slot in slots.idle().map_err(OracleError::from)? {
            let folders = [slot.build(), slot.out(), slot.cache(), slot.src()];
            let bytes: u64 = folders.iter().map(|folder| size(folder)).sum();
            left.slots += usize::from(folders.iter().any(|folder| folder.exists()));
            left.bytes += bytes;
        }
    }
    Ok(left)
}

/// Removes it. What somebody holds stays.
pub fn sweep(repository: &Repository, store: &Store) -> Result<(), HuntError> {
    for hunt in store.hunts()? {
        if is_abandoned(&hunt)? {
            remove_worktree(repository, &hunt.bisect_worktree())?;
        }
    }
    for slots in slots_of(repository, store)? {
        clean_slots(repository, &slots)?;
    }
    Ok(())
}

fn is_abandoned(hunt: &HuntDir) -> Result<bool, HuntError> {
    Ok(hunt.bisect_worktree().exists() && !hunt.is_driven()?)
}

/// Every place where a hunt of this repository may have built.
fn slots_of(repository: &Repository, store: &Store) -> Result<Vec<Slots>, HuntError> {
    let mut folders = BTreeSet::from([default_slots(repository)]);
    for hunt in store.hunts()? {
        // One whose journal cannot be read has nothing to say of slots.
        folders.extend(begun(&hunt).ok().map(|begun| PathBuf::from(begun.slots)));
    }
    Ok(folders.iter().filter_map(|folder| Slots::existing(folder)).collect())
}

/// Bytes that a folder takes on the disk; what cannot be looked at counts as nothing.
fn size(path: &Path) -> u64 {
    let Ok(meta) = path.symlink_metadata() else { return 0 };
    let below = std::fs::read_dir(path).ok().filter(|_| meta.is_dir());
    let below = below.into_iter().flatten().flatten().map(|entry| size(&entry.path()));
    meta.blocks().saturating_mul(512) + below.sum::<u64>()
}
