//! The slots of a repository: which of them are free, and how much they take on the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::files::{self, SharedFolder};

use super::held_slot::{HeldSlot, wait_for};
use super::slot::{Slot, Stamp};
use super::slot_error::SlotError;
use super::turns::Turns;

/// The folder that holds a repository's slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    folder: PathBuf,
}

/// How much a finished build takes on the disk, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BuildSize {
    /// The build with its checkout and all else in its slot.
    pub(super) whole: u64,
    /// The build folder alone.
    pub(super) build: u64,
}

impl Slots {
    /// The slots below `folder`, which is created if needed.
    pub(crate) fn new(folder: &Path) -> Result<Self, SlotError> {
        let shared = |error| SlotError::at(folder)(std::io::Error::other(error));
        Self::check_own(folder).map_err(shared)?;
        files::make_own(folder).map_err(SlotError::at(folder))?;
        let folder = folder.canonicalize().map_err(SlotError::at(folder))?;
        Ok(Self { folder })
    }

    /// Checks that no other user can change the slots below `folder`, whose programs are run.
    pub(crate) fn check_own(folder: &Path) -> Result<(), SharedFolder> {
        // The folder of the repository, and that of its slots.
        folder.ancestors().take(2).try_for_each(|folder| files::check_own(folder, None))
    }

    /// The slots below `folder`, if it exists. Creates nothing.
    pub(crate) fn existing(folder: &Path) -> Option<Self> {
        folder.canonicalize().ok().map(|folder| Self { folder })
    }

    /// The folder that holds the slots.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Locks a free slot: one with a build that `wanted` accepts, or else the free one with the
    /// lowest number.
    pub(crate) fn lock(&self, wanted: impl Fn(&Stamp) -> bool) -> Result<HeldSlot, SlotError> {
        let _choice = self.begin_choice()?;
        let mut free = Vec::new();
        for number in 0..1000 {
            let root = self.folder.join(number.to_string());
            let is_new = !root.exists();
            // Do not try a new slot: its lock file would stay.
            if is_new && !free.is_empty() {
                break;
            }
            let Some(slot) = HeldSlot::try_lock(root)? else { continue };
            if slot.find(&wanted)?.is_some() {
                return Ok(slot);
            }
            free.push(slot);
            if is_new {
                break;
            }
        }
        free.into_iter().next().ok_or_else(|| SlotError {
            path: self.folder.clone(),
            source: std::io::Error::other("a thousand slots are in use"),
        })
    }

    /// Locks a free slot with a build that `wanted` accepts, if there is one.
    pub(crate) fn lock_with(
        &self,
        wanted: impl Fn(&Stamp) -> bool,
    ) -> Result<Option<HeldSlot>, SlotError> {
        let _choice = self.begin_choice()?;
        for root in self.roots()? {
            if let Some(slot) = HeldSlot::try_lock(root)?
                && slot.find(&wanted)?.is_some()
            {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Locks the slot at this path; `None` if a process uses it, or if it is in another folder.
    pub(crate) fn lock_at(&self, root: &Path) -> Result<Option<HeldSlot>, SlotError> {
        if root.parent() != Some(self.folder.as_path()) {
            return Ok(None);
        }
        let _choice = self.begin_choice()?;
        HeldSlot::try_lock(root.to_owned())
    }

    /// A build that `wanted` accepts, in a slot that no process uses; `None` without one. The slot
    /// is locked as long as the build is used.
    pub(crate) fn find_free(
        &self,
        wanted: impl Fn(&Stamp) -> bool,
    ) -> Result<Option<Slot>, SlotError> {
        match self.lock_with(&wanted)? {
            Some(held) => held.find(wanted),
            None => Ok(None),
        }
    }

    /// Waits until no other process chooses a slot. A choice locks free slots for a moment; others
    /// would take them for used, and miss the builds there.
    fn begin_choice(&self) -> Result<Option<File>, SlotError> {
        wait_for(&self.folder.join("choice.lock"))
    }

    /// The first build that fits, or a place for one, in a locked slot.
    #[cfg(test)]
    pub(crate) fn acquire(&self, wanted: impl Fn(&Stamp) -> bool) -> Result<Slot, SlotError> {
        let held = self.lock(&wanted)?;
        let found = held.find(wanted)?;
        let slot = found.map_or_else(|| held.spare(), Ok)?;
        slot.take_turn()?;
        Ok(slot)
    }

    /// How much the last finished build took; 0 before the first build.
    pub(super) fn last_size(&self) -> BuildSize {
        let text = std::fs::read_to_string(self.folder.join("last-size")).unwrap_or_default();
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        BuildSize { whole: next(), build: next() }
    }

    /// Writes down how much a finished build takes.
    pub(super) fn set_last_size(&self, size: BuildSize) -> Result<(), SlotError> {
        let path = self.folder.join("last-size");
        let BuildSize { whole, build } = size;
        std::fs::write(&path, format!("{whole} {build}")).map_err(SlotError::at(&path))
    }

    /// Bytes on the slots' disk that this user may use.
    pub(super) fn free(&self) -> Result<u64, SlotError> {
        let about = rustix::fs::statvfs(&self.folder);
        let about = about.map_err(|error| SlotError::at(&self.folder)(error.into()))?;
        Ok(about.f_bavail.saturating_mul(about.f_frsize))
    }

    /// The folders of all builds in all slots.
    pub(super) fn folders(&self) -> Result<Vec<PathBuf>, SlotError> {
        let mut folders = Vec::new();
        for root in self.roots()? {
            let turns = Turns::new(root, None, None);
            folders.extend(turns.numbers()?.into_iter().map(|number| turns.folder(number)));
        }
        Ok(folders)
    }

    /// The paths of all slots, also of those whose builds are all parked.
    fn roots(&self) -> Result<BTreeSet<PathBuf>, SlotError> {
        let mut roots = BTreeSet::new();
        for entry in std::fs::read_dir(&self.folder).map_err(SlotError::at(&self.folder))? {
            let path = entry.map_err(SlotError::at(&self.folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.split('.').next().unwrap_or_default();
            if number.parse::<u32>().is_ok() {
                roots.insert(self.folder.join(number));
            }
        }
        Ok(roots)
    }

    /// Locks all free slots, and returns their builds.
    pub(crate) fn idle(&self) -> Result<Vec<Slot>, SlotError> {
        let mut idle = Vec::new();
        for root in self.roots()? {
            if let Some(slot) = HeldSlot::try_lock(root)? {
                idle.extend(slot.builds()?);
            }
        }
        Ok(idle)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::build::held_slot::tests::{built, commit};

    #[test]
    fn a_slot_whose_guest_outlives_its_owner_is_free_when_the_guest_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let held = slots.lock(|_| false).unwrap();
        let root = held.root().to_owned();
        let guest = HeldSlot::borrow(root.clone(), commit("1")).unwrap();
        assert_ne!(slots.lock(|_| false).unwrap().root(), root, "its owner still holds it");
        drop(held);
        let until = Instant::now() + Duration::from_millis(300);
        let guest = std::thread::spawn(move || {
            sleep(until.saturating_duration_since(Instant::now()));
            drop(guest);
        });
        assert_eq!(slots.lock(|_| false).unwrap().root(), root);
        assert!(Instant::now() >= until, "while the guest was there");
        guest.join().unwrap();
    }

    #[test]
    fn a_build_in_another_slot_is_found_if_nobody_uses_the_slot() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let (own, other) = (slots.lock(|_| false).unwrap(), slots.lock(|_| false).unwrap());
        drop([built(&own, "1"), built(&other, "2")]);
        let of = |digit| slots.find_free(|stamp| stamp.commit == commit(digit)).unwrap();
        assert!(of("2").is_none(), "its slot is in use");
        let root = other.root().to_owned();
        drop(other);
        assert!(of("1").is_none() && of("3").is_none());
        let found = of("2").unwrap();
        assert_eq!(found.root(), root);
        assert_ne!(slots.lock(|_| false).unwrap().root(), root, "it is locked now");
        drop(found);
        assert_eq!(slots.lock(|_| false).unwrap().root(), root);
    }

    #[test]
    fn idle_builds_are_those_of_unlocked_slots() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let (first, second) = (slots.lock(|_| false).unwrap(), slots.lock(|_| false).unwrap());
        drop([built(&first, "1"), built(&first, "2"), built(&second, "3")]);
        assert_eq!(slots.idle().unwrap().len(), 0);
        drop(first);
        assert_eq!(slots.idle().unwrap().len(), 2);
        assert_eq!(slots.folders().unwrap().len(), 3);
        drop(second);
        assert_eq!(slots.idle().unwrap().len(), 3);
    }
}
