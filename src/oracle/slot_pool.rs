//! The slot of this process, and the finished builds in it that the next request may use.

use std::path::PathBuf;

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
    /// The builds of earlier hunts that the ends of this hunt may take, once that is decided.
    pub(super) for_ends: Option<AllowedBuilds>,
}

impl SlotPool {
    /// A pool that holds no slot yet.
    pub(crate) fn new(slots: Slots) -> Self {
        Self { slots, lent: None, held: None, kept: Vec::new(), is_shared: false, for_ends: None }
    }

    /// Takes builds of earlier hunts too, and lets builds stay for later ones. With several slots,
    /// the ends are built in different ones, so that one might be old and the other new: then they
    /// take no earlier builds.
    pub(crate) fn share(&mut self, has_several_slots: bool) {
        self.is_shared = true;
        self.for_ends = has_several_slots.then_some(AllowedBuilds::None);
    }

    /// Whether hunts share builds.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Uses the slot that the hunt's driver lends. The driver's builds of the commit `kept` stay.
    pub(crate) fn borrow(&mut self, slot: PathBuf, kept: CommitId) {
        self.lent = Some((slot, kept));
    }

    /// The folder of all slots.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// A finished build that fits, or else an empty place for one. Its turn at the slot's path
    /// begins.
    pub(super) fn acquire(&mut self, fits: impl Fn(&Stamp) -> bool) -> Result<Slot, SlotError> {
        let kept = self.kept.iter().position(|slot| slot.stamp().is_some_and(|stamp| fits(&stamp)));
        let slot = if let Some(position) = kept {
            self.kept.remove(position)
        } else {
            let held = self.hold(&fits)?;
            match held.find(fits)? {
                Some(found) => found,
                None => held.spare()?,
            }
        };
        slot.take_turn()?;
        Ok(slot)
    }

    /// The build with this stamp: one that is kept for the next request, or another in the slot.
    pub(super) fn with_stamp(&mut self, stamp: &Stamp) -> Result<Option<Slot>, SlotError> {
        self.find(|found| found == stamp)
    }

    /// A finished build whose stamp is `wanted`: one that is kept for the next request, or another
    /// in the slot. Its turn at the slot's path does not begin.
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
