//! The slot of this process, and the finished builds in it that the next request may use.

use std::path::{Path, PathBuf};

use crate::build::{HeldSlot, Slot, SlotError, Slots, Stamp};
use crate::evaluation::CommitId;

use super::allowed_builds::AllowedBuilds;

/// The builds of one oracle.
pub(crate) struct SlotPool {
    slots: Slots,
    /// The slot that the hunt's driver lends, and the commit whose builds the driver keeps.
    lent: Option<(PathBuf, CommitId)>,
    held: Option<HeldSlot>,
    kept: Vec<Slot>,
    /// Whether hunts share builds: this one may take builds of earlier hunts, and its own builds
    /// stay for later ones.
    is_shared: bool,
    /// Whether builds of this hunt in other slots are used, while no other process uses the slot.
    uses_other_slots: bool,
    /// The builds of earlier hunts that the ends of this hunt may take, once that is decided.
    pub(super) for_ends: Option<AllowedBuilds>,
}

impl SlotPool {
    /// A pool that holds no slot yet.
    pub(crate) fn new(slots: Slots) -> Self {
        Self {
            slots,
            lent: None,
            held: None,
            kept: Vec::new(),
            is_shared: false,
            uses_other_slots: false,
            for_ends: None,
        }
    }

    /// Takes builds of earlier hunts too, and lets builds stay for later ones. With several slots,
    /// different processes build the ends, so that one might be old and the other new: then they
    /// take no earlier builds.
    pub(crate) fn share(&mut self, has_several_slots: bool) {
        self.is_shared = true;
        self.for_ends = has_several_slots.then_some(AllowedBuilds::None);
    }

    /// Whether hunts share builds.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Also uses builds of this hunt that workers left in other slots, until
    /// [`Self::use_own_slot`].
    pub(crate) fn use_other_slots(&mut self) {
        self.uses_other_slots = true;
    }

    /// Uses only builds in the slot of this process from now on.
    pub(crate) fn use_own_slot(&mut self) {
        self.uses_other_slots = false;
    }

    /// Uses the slot that the hunt's driver lends. The driver's builds of the commit `kept` stay.
    pub(crate) fn borrow(&mut self, slot: PathBuf, kept: CommitId) {
        self.lent = Some((slot, kept));
    }

    /// Leaves this process's slot, own or lent, for a free one with a `wanted` build, unless its
    /// slot has such a build. Returns whether it did.
    pub(super) fn move_to(&mut self, wanted: impl Fn(&Stamp) -> bool) -> Result<bool, SlotError> {
        if self.find(&wanted)?.is_some() {
            return Ok(false);
        }
        let found = self.slots.lock_with(wanted)?;
        Ok(self.change_to(found))
    }

    /// Uses the slot at this path from now on, if no process uses it. Returns whether it does.
    pub(super) fn go_to(&mut self, root: &Path) -> Result<bool, SlotError> {
        let free = self.slots.lock_at(root)?;
        Ok(self.change_to(free))
    }

    /// Uses this slot from now on; without one, stays where it is. Returns whether it has changed.
    fn change_to(&mut self, slot: Option<HeldSlot>) -> bool {
        let is_there = slot.is_some();
        if is_there {
            self.held = slot;
        }
        is_there
    }

    /// The folder of all slots.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// A finished build that fits, or else a place for a new one in the slot of this process. The
    /// slot's path shows this build from now on. `fits_elsewhere`: whether a build in another slot
    /// fits.
    pub(super) fn acquire(
        &mut self,
        fits: impl Fn(&Stamp) -> bool,
        fits_elsewhere: impl Fn(&Stamp) -> bool,
    ) -> Result<Slot, SlotError> {
        let kept = self.kept.iter().position(|slot| slot.stamp().is_some_and(|stamp| fits(&stamp)));
        let slot = if let Some(position) = kept {
            self.kept.remove(position)
        } else {
            let held = self.hold(&fits)?;
            let found = match held.find(fits)? {
                None => self.find_elsewhere(fits_elsewhere)?,
                found => found,
            };
            match found {
                Some(found) => found,
                None => held.spare()?,
            }
        };
        slot.take_turn()?;
        Ok(slot)
    }

    /// A finished build in a slot that no process uses. Its slot is locked until the build is freed.
    fn find_elsewhere(&self, fits: impl Fn(&Stamp) -> bool) -> Result<Option<Slot>, SlotError> {
        // A guest has the driver's slot only: the workers of the search need the others.
        if self.uses_other_slots && self.lent.is_none() {
            self.slots.find_free(fits)
        } else {
            Ok(None)
        }
    }

    /// The build with this stamp: one that is kept for the next request, or another in the slot.
    pub(super) fn with_stamp(&mut self, stamp: &Stamp) -> Result<Option<Slot>, SlotError> {
        self.find(|found| found == stamp)
    }

    /// A finished build whose stamp is `wanted`: one that is kept for the next request, or another
    /// in the slot. The slot's path does not change to it.
    pub(crate) fn find(
        &mut self,
        wanted: impl Fn(&Stamp) -> bool,
    ) -> Result<Option<Slot>, SlotError> {
        let is_wanted = |slot: &&Slot| slot.stamp().is_some_and(|stamp| wanted(&stamp));
        if let Some(kept) = self.kept.iter().find(is_wanted) {
            return Ok(Some(kept.clone()));
        }
        self.hold(&wanted)?.find(&wanted)
    }

    /// The stamps of the builds in the slot of this process that it does not use.
    pub(super) fn stamps(&mut self) -> Result<Vec<Stamp>, SlotError> {
        self.hold(|_| false)?.stamps()
    }

    /// The slot of this process, locked or borrowed at first use.
    fn hold(&mut self, wanted: impl Fn(&Stamp) -> bool) -> Result<HeldSlot, SlotError> {
        let held = match (&self.held, &self.lent) {
            (Some(held), _) => held.clone(),
            (None, Some((slot, kept))) => HeldSlot::borrow(slot.clone(), kept.clone())?,
            (None, None) => self.slots.lock(wanted)?,
        };
        self.held = Some(held.clone());
        Ok(held)
    }

    /// Locks the slot of this process, unless it holds one; returns its path.
    pub(crate) fn reserve(&mut self) -> Result<PathBuf, SlotError> {
        Ok(self.hold(|_| false)?.root().to_owned())
    }

    /// Keeps a build for the next request.
    pub(super) fn keep(&mut self, slot: Slot) {
        self.kept.push(slot);
    }

    /// Frees this commit's builds, except the one with the stamp `control`.
    pub(super) fn free(&mut self, commit: &CommitId, control: Option<&Stamp>) {
        self.kept.retain(|slot| {
            let stamp = slot.stamp();
            (control.is_some() && stamp.as_ref() == control)
                || stamp.is_none_or(|stamp| stamp.commit != *commit)
        });
    }

    /// Frees all builds but this commit's.
    pub(crate) fn free_all_but(&mut self, commit: &CommitId) {
        self.kept.retain(|slot| slot.stamp().is_some_and(|stamp| stamp.commit == *commit));
    }

    /// Frees all builds. The slot stays with this process.
    pub(crate) fn free_all(&mut self) {
        self.kept.clear();
    }

    /// Frees all builds and unlocks the slot, for other processes and for the clean-up.
    pub(crate) fn leave(&mut self) {
        self.free_all();
        self.held = None;
    }

    /// The stamp of the build that was kept first.
    pub(crate) fn first(&self) -> Option<Stamp> {
        self.kept.first().and_then(Slot::stamp)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::files;

    /// Leaves a finished build in a slot.
    fn build(held: &HeldSlot) {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let stamp = serde_json::json!({
            "build_key": "k",
            "commit": "1".repeat(40),
            "phase": "search",
            "hunt": "a",
            "attempt": "1",
            "finished": "",
            "boot": boot.trim(),
        });
        let slot = held.spare().unwrap();
        slot.take_turn().unwrap();
        slot.set_stamp(&serde_json::from_value(stamp).unwrap()).unwrap();
    }

    #[test]
    fn a_process_goes_to_a_free_slot_that_has_the_build() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let (own, other) = (slots.lock(|_| false).unwrap(), slots.lock(|_| false).unwrap());
        build(&other);
        let (here, there) = (own.root().to_owned(), other.root().to_owned());
        drop(own);
        let mut pool = SlotPool::new(slots);
        assert_eq!(pool.reserve().unwrap(), here);
        assert!(!pool.move_to(|_| true).unwrap(), "another process uses the slot");
        drop(other);
        assert!(!pool.move_to(|_| false).unwrap(), "no build is wanted");
        assert!(pool.move_to(|_| true).unwrap());
        assert_eq!(pool.reserve().unwrap(), there);
        assert!(!pool.move_to(|_| true).unwrap(), "it is there already");
    }

    #[test]
    fn a_process_goes_to_the_slot_of_an_interrupted_build_if_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let (own, other) = (slots.lock(|_| false).unwrap(), slots.lock(|_| false).unwrap());
        let (here, there) = (own.root().to_owned(), other.root().to_owned());
        drop(own);
        let mut pool = SlotPool::new(slots);
        assert!(!pool.go_to(&there).unwrap(), "another process uses the slot");
        drop(other);
        assert!(!pool.go_to(folder.path()).unwrap(), "it is no slot of this repository");
        assert!(pool.go_to(&there).unwrap());
        assert_eq!(pool.reserve().unwrap(), there);
        assert_ne!(here, there);
    }

    #[test]
    fn processes_choose_their_slots_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let other = files::try_lock_file(&slots.folder().join("choice.lock")).unwrap().unwrap();
        let until = Instant::now() + Duration::from_millis(300);
        let other = std::thread::spawn(move || {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            drop(other);
        });
        slots.lock(|_| false).unwrap();
        assert!(Instant::now() >= until);
        other.join().unwrap();
    }
}
