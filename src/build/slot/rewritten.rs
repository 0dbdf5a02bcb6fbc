//! Whether builds or runs of this repository write files that git tracks, such as a committed
//! generated file.
//!
//! A checkout in a slot writes only the files that differ from those of the commit that the slot
//! held before. `make` compares the times of files. So whether it makes such a file depends on that
//! commit, unless each checkout begins with an empty folder.

use std::path::PathBuf;

use crate::build::slot_error::SlotError;

use super::Slot;

impl Slot {
    /// Whether a build or run in any slot of this repository wrote a tracked file.
    pub(crate) fn rewrites_tracked_files(&self) -> bool {
        self.rewrites_mark().exists()
    }

    /// Says that a build or run wrote a tracked file.
    pub(crate) fn set_rewrites_tracked_files(&self) -> Result<(), SlotError> {
        let path = self.rewrites_mark();
        std::fs::write(&path, "").map_err(SlotError::at(&path))
    }

    /// Beside the slots: what one slot saw holds for all of them.
    fn rewrites_mark(&self) -> PathBuf {
        self.root().with_file_name("rewrites-tracked-files")
    }
}

#[cfg(test)]
mod tests {
    use crate::build::Slots;

    #[test]
    fn what_one_slot_saw_holds_for_all_slots_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let (first, second) =
            (slots.acquire(|_| false).unwrap(), slots.acquire(|_| false).unwrap());
        assert!(!first.rewrites_tracked_files() && !second.rewrites_tracked_files());
        first.set_rewrites_tracked_files().unwrap();
        first.empty().unwrap();
        assert!(first.rewrites_tracked_files() && second.rewrites_tracked_files());
    }
}
