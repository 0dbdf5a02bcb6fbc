//! Finished builds that stay in their slots after the hunt that made them, for later hunts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::build::kept_build::{KeptBuild, OF_RUNS, name_in};
use crate::build::slot_error::{SlotError, remove};

use super::{Slot, Stamp};

/// The file with the names of all files that the build left.
const NAMES: &str = "kept-files";

impl Slot {
    /// Lets the finished build stay for later hunts; returns its new stamp. If its files cannot be
    /// read, it does not stay.
    pub(crate) fn keep_for_later(&self, stamp: Stamp) -> Stamp {
        let folder = self.folder();
        let Ok((kept, names)) = KeptBuild::with_names(&folder) else { return stamp };
        if fs::write(folder.join(NAMES), names.join("\n")).is_err() {
            return stamp;
        }
        let new = Stamp { kept: Some(kept), ..stamp.clone() };
        if self.set_stamp(&new).is_ok() { new } else { stamp }
    }

    /// Whether a build that stayed has the files that it was left with, and the system is the same.
    pub(crate) fn is_as_left(&self, stamp: &Stamp) -> bool {
        let now = || KeptBuild::of(&self.folder());
        stamp.kept.as_ref().is_some_and(|kept| now().is_ok_and(|now| now.is_same(kept)))
    }

    /// Removes what runs left beside a build that stays, and in its checkout.
    pub(crate) fn remove_folders_of_runs(&self) -> Result<(), SlotError> {
        self.clear_all_prepared()?;
        let folder = self.folder();
        OF_RUNS.iter().try_for_each(|name| remove(&folder.join(name)))?;
        let Ok(names) = fs::read_to_string(folder.join(NAMES)) else { return Ok(()) };
        let names: BTreeSet<&str> = names.lines().collect();
        remove_others(&folder, &folder.join("src"), &names)
    }
}

/// Removes the files below `folder` whose names are not among those that the build left.
fn remove_others(top: &Path, folder: &Path, names: &BTreeSet<&str>) -> Result<(), SlotError> {
    for entry in fs::read_dir(folder).map_err(SlotError::at(folder))? {
        let entry = entry.map_err(SlotError::at(folder))?;
        let path = entry.path();
        if entry.file_type().map_err(SlotError::at(&path))?.is_dir() {
            remove_others(top, &path, names)?;
        } else if entry.file_name() != ".git" && !names.contains(name_in(top, &path).as_str()) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// How much the build in this folder takes, if it stays for later hunts, also one from before the
/// last boot.
pub(in crate::build) fn kept_bytes(folder: &Path) -> u64 {
    Stamp::read(folder).and_then(|stamp| stamp.kept).map_or(0, |kept| kept.bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::stamp;
    use super::*;
    use crate::build::Slots;

    #[test]
    fn only_an_unchanged_build_is_as_it_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        for place in [slot.src(), slot.build(), slot.out()] {
            std::fs::create_dir(place).unwrap();
        }
        let engine = slot.build().join("engine");
        std::fs::write(&engine, "1").unwrap();
        let first = stamp("k");
        slot.set_stamp(&first).unwrap();
        assert!(!slot.is_as_left(&first), "it does not stay");
        assert_eq!(kept_bytes(slot.root()), 0);
        let kept = slot.keep_for_later(first);
        assert_eq!(slot.stamp(), Some(kept.clone()));
        // What belongs to runs does not count, nor does the link of the worktree.
        std::fs::write(slot.out().join("log"), "x").unwrap();
        std::fs::write(slot.src().join(".git"), "gitdir: elsewhere").unwrap();
        assert!(slot.is_as_left(&kept));
        slot.remove_folders_of_runs().unwrap();
        assert!(slot.is_as_left(&kept) && !slot.out().exists());
        std::fs::write(slot.src().join("tuned.txt"), "").unwrap();
        assert!(!slot.is_as_left(&kept), "a run added a file");
        slot.remove_folders_of_runs().unwrap();
        assert!(slot.is_as_left(&kept), "files that runs left in the checkout are removed");
        std::fs::write(&engine, "22").unwrap();
        assert!(!slot.is_as_left(&kept), "a file has another size");
    }
}
