//! Room on the disk for the next build. Finished builds that nobody uses are removed, oldest first,
//! if they exceed `[limits]` or if the disk has less space than the last build took. Builds that
//! stay for later hunts also take at most a quarter of what would be free without them.

use std::path::{Path, PathBuf};

use crate::config::DiskLimits;

use super::slot::Slot;
use super::slot::kept::kept_bytes;
use super::slot_error::SlotError;
use super::slots::{BuildSize, Slots};

/// The disk has too little space for the next build, although every idle build is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// The folder of the slots.
    pub folder: PathBuf,
    /// Bytes that are free for the next build.
    pub free: u64,
    /// Bytes that the last build took.
    pub needed: u64,
}

/// Makes room for a build in this slot. `Some` if there is too little.
pub(crate) fn make_room(
    slots: &Slots,
    slot: &Slot,
    limits: &DiskLimits,
) -> Result<Option<Shortage>, SlotError> {
    let BuildSize { whole: needed, build } = slots.last_size();
    let mut others = slots.folders()?;
    others.retain(|folder| *folder != slot.folder());
    // Folders are walked only where a limit is set or space is short.
    let exceeds = |limit: Option<u64>, part: &str, more: u64| {
        let used = || others.iter().map(|root| taken(&root.join(part))).sum::<u64>();
        limit.is_some_and(|most| used().saturating_add(more) > most)
    };
    let keeps_too_much = |free: u64| {
        let kept = others.iter().map(|folder| kept_bytes(folder)).sum::<u64>();
        kept.saturating_mul(3) > free.saturating_sub(needed)
    };
    let mut idle: Option<std::vec::IntoIter<Slot>> = None;
    loop {
        let mut free = slots.free()?;
        let keeps_too_much = keeps_too_much(free);
        if free < needed {
            // The build replaces what the slot has now.
            free = free.saturating_add(taken(&slot.folder()));
        }
        let is_short = free < needed
            || exceeds(limits.slots, "", needed)
            || exceeds(limits.builds, "build", build);
        if !is_short && !keeps_too_much {
            return Ok(None);
        }
        let oldest = match &mut idle {
            Some(idle) => idle.next(),
            // Slots are locked only if room is needed.
            None => idle.insert(idle_builds(slots, slot)?.into_iter()).next(),
        };
        let Some(oldest) = oldest else {
            let folder = slots.folder().to_owned();
            return Ok((free < needed).then_some(Shortage { folder, free, needed }));
        };
        if is_short || kept_bytes(&oldest.folder()) > 0 {
            oldest.empty()?;
        }
    }
}

/// The builds that nobody uses, oldest first: those in free slots, and those in the slot of `slot`.
fn idle_builds(slots: &Slots, slot: &Slot) -> Result<Vec<Slot>, SlotError> {
    let mut idle = slots.idle()?;
    idle.extend(slot.idle_beside()?);
    idle.sort_by_key(|slot| slot.stamp().map(|stamp| stamp.finished));
    Ok(idle)
}

/// How much the build at a slot's path takes.
pub(super) fn size_of(slot: &Slot) -> BuildSize {
    BuildSize { whole: taken(slot.root()), build: taken(&slot.build()) }
}

/// Bytes that a file or folder takes on the disk. Links are not followed; what cannot be read, or
/// is removed meanwhile, counts as nothing.
fn taken(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(meta) = std::fs::symlink_metadata(path) else { return 0 };
    let own = meta.blocks() * 512;
    if !meta.is_dir() {
        return own;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten();
    own + entries.filter_map(|entry| Some(taken(&entry.ok()?.path()))).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::slot::tests::stamp;

    const MIB: usize = 1 << 20;

    fn exists(slots: &Slots, number: u32) -> bool {
        slots.folder().join(number.to_string()).join("build/engine").exists()
    }

    /// Slots 0 to 3 with builds of 1 MiB, and a fifth slot that is held. Slot 3 is the oldest;
    /// slot 1 is in use.
    fn slots(folder: &Path) -> (Slots, Vec<Slot>) {
        let slots = Slots::new(&folder.join("slots")).unwrap();
        let held: Vec<_> = (0..5).map(|_| slots.acquire(|_| false).unwrap()).collect();
        for (slot, finished) in held.iter().zip(["2026-03", "2026-02", "2026-04", "2026-01"]) {
            slot.fresh(&slot.build()).unwrap();
            std::fs::write(slot.build().join("engine"), vec![1; MIB]).unwrap();
            let finished = finished.to_owned();
            slot.set_stamp(&crate::build::Stamp { finished, ..stamp("k") }).unwrap();
        }
        // The next build has a checkout of 8 MiB, which is no built file.
        slots.set_last_size(BuildSize { whole: 9 * MIB as u64, build: MIB as u64 }).unwrap();
        let held = held.into_iter().enumerate().filter(|(number, _)| [1, 4].contains(number));
        (slots, held.map(|(_, slot)| slot).collect())
    }

    #[test]
    fn the_oldest_builds_that_nobody_uses_go_first() {
        let folder = tempfile::tempdir().unwrap();
        let (slots, held) = slots(folder.path());
        let limit = |builds: usize| DiskLimits {
            builds: Some((builds * MIB + MIB / 2) as u64),
            ..DiskLimits::default()
        };
        let left = |most: usize| {
            assert_eq!(make_room(&slots, &held[1], &limit(most)).unwrap(), None);
            (0..4).filter(|number| exists(&slots, *number)).collect::<Vec<u32>>()
        };
        // The next build takes its own MiB, and on some disks each folder takes a block.
        assert_eq!(left(5), [0, 1, 2, 3]);
        assert_eq!(left(4), [0, 1, 2], "slot 3 is the oldest");
        assert_eq!(left(3), [1, 2], "slot 0 is the next one");
        assert_eq!(left(2), [1]);
        assert_eq!(left(0), [1], "a build in use stays");
    }

    #[test]
    fn builds_that_stay_for_later_hunts_leave_most_of_the_disk_free() {
        let folder = tempfile::tempdir().unwrap();
        let (slots, held) = slots(folder.path());
        let keep = |number: u32, bytes: u64| {
            let path = slots.folder().join(number.to_string()).join("stamp.json");
            let text = std::fs::read_to_string(&path).unwrap();
            let mut stamp: serde_json::Value = serde_json::from_str(&text).unwrap();
            stamp["kept"] = serde_json::json!({ "files": "", "system": "", "bytes": bytes });
            std::fs::write(&path, stamp.to_string()).unwrap();
        };
        let left = || {
            assert_eq!(make_room(&slots, &held[1], &DiskLimits::default()).unwrap(), None);
            (0..4).filter(|number| exists(&slots, *number)).collect::<Vec<u32>>()
        };
        keep(0, 1);
        keep(2, 1);
        assert_eq!(left(), [0, 1, 2, 3]);
        keep(2, u64::MAX / 8);
        assert_eq!(left(), [1, 3], "slot 0 is the oldest that stays; slot 3 takes no such room");
    }

    #[test]
    fn a_size_is_that_of_the_slot_and_that_of_its_build_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (slots, held) = slots(folder.path());
        std::fs::create_dir(held[0].src()).unwrap();
        std::fs::write(held[0].src().join("model.bin"), vec![1; 2 * MIB]).unwrap();
        let size = size_of(&held[0]);
        let mib = |bytes: u64| bytes / MIB as u64;
        assert_eq!((mib(size.whole), mib(size.build)), (3, 1));
        slots.set_last_size(size).unwrap();
        assert_eq!(slots.last_size(), size);
    }

    #[test]
    fn too_little_space_is_told_after_every_idle_build_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (slots, held) = slots(folder.path());
        slots.set_last_size(BuildSize { whole: u64::MAX, build: 0 }).unwrap();
        let limits = DiskLimits { slots: None, builds: None, ..DiskLimits::default() };
        let shortage = make_room(&slots, &held[1], &limits).unwrap().expect("a shortage");
        assert_eq!(shortage.needed, u64::MAX);
        assert!(shortage.free > 0 && shortage.free < u64::MAX);
        assert!((0..4).filter(|number| exists(&slots, *number)).eq([1]));
    }
}
