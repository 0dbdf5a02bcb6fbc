//! The slots that this process holds: a finished build stays in its slot for the next request.

use std::path::{Path, PathBuf};

use crate::build::{Slot, SlotError, Slots, Stamp};
use crate::evaluation::CommitId;

/// The slots of one oracle.
pub(crate) struct SlotPool {
    slots: Slots,
    kept: Vec<Slot>,
}

impl SlotPool {
    /// A pool that holds no slot yet.
    pub(crate) fn new(slots: Slots) -> Self {
        Self { slots, kept: Vec::new() }
    }

    /// The folder of all slots.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// A kept slot whose build fits, or else a free slot, whose build may not fit.
    pub(super) fn acquire(&mut self, fits: impl Fn(&Stamp) -> bool) -> Result<Slot, SlotError> {
        let kept = self.kept.iter().position(|slot| slot.stamp().is_some_and(|stamp| fits(&stamp)));
        match kept {
            Some(position) => Ok(self.kept.remove(position)),
            None => self.slots.acquire(fits),
        }
    }

    /// Keeps a slot for the next request.
    pub(super) fn keep(&mut self, slot: Slot) {
        self.kept.push(slot);
    }

    /// Frees the slots with this commit's builds, except the one at `control`.
    pub(super) fn free(&mut self, commit: &CommitId, control: Option<&Path>) {
        self.kept.retain(|slot| {
            Some(slot.root()) == control || slot.stamp().is_none_or(|stamp| stamp.commit != *commit)
        });
    }

    /// Frees all slots but those with this commit's builds.
    pub(crate) fn free_all_but(&mut self, commit: &CommitId) {
        self.kept.retain(|slot| slot.stamp().is_some_and(|stamp| stamp.commit == *commit));
    }

    /// Frees all slots.
    pub(crate) fn free_all(&mut self) {
        self.kept.clear();
    }

    /// The folder and the stamp of the slot that was kept first.
    pub(crate) fn first(&self) -> Option<(PathBuf, Stamp)> {
        self.kept.first().and_then(|slot| Some((slot.root().to_owned(), slot.stamp()?)))
    }
}
