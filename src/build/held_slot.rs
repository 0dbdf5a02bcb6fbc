//! A slot that this process may use, and the locks that say so: the slot belongs to the process that
//! holds its lock. The hunt's driver lends its slot to the oracle process that git calls meanwhile,
//! so that both build at the same path.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::evaluation::CommitId;
use crate::files;
use crate::process::SlotMark;

use super::slot::{Slot, Stamp};
use super::slot_error::SlotError;
use super::turns::Turns;

/// How long a slot's new owner waits for the oracle process of a killed driver to end.
const GUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// A slot that this process may use, with all builds that take turns at its path.
#[derive(Clone, Debug)]
pub(crate) struct HeldSlot(Arc<Turns>);

impl HeldSlot {
    /// Locks the slot at `root`; `None` if another process uses it.
    pub(super) fn try_lock(root: PathBuf) -> Result<Option<Self>, SlotError> {
        let Some(lock) = try_file(&root.with_extension("lock"))? else { return Ok(None) };
        // The oracle process of a killed driver may still be here. It ends soon.
        let Some(_) = wait_for(&guest_lock(&root))? else { return Ok(None) };
        // The job that built for a killed process, too.
        let Some(_) = wait_for(&job_lock(&root))? else { return Ok(None) };
        end_left_programs(&root);
        Ok(Some(Self(Arc::new(Turns::new(root, None, Some(lock))))))
    }

    /// The slot at `root`, which its owner lends while it waits for this process. The owner's
    /// builds of `kept` stay.
    pub(crate) fn borrow(root: PathBuf, kept: CommitId) -> Result<Self, SlotError> {
        let path = guest_lock(&root);
        let lock = wait_for(&path)?.ok_or_else(|| SlotError {
            path,
            source: std::io::Error::other("another process uses the slot of this hunt's driver"),
        })?;
        if wait_for(&job_lock(&root))?.is_none() {
            let source = std::io::Error::other("a job that was given up still builds there");
            return Err(SlotError { path: root, source });
        }
        end_left_programs(&root);
        Ok(Self(Arc::new(Turns::new(root, Some(kept), Some(lock)))))
    }

    /// The slot's builds.
    pub(super) fn builds(&self) -> Result<Vec<Slot>, SlotError> {
        Slot::idle(&self.0)
    }

    /// The slot's path.
    pub(crate) fn root(&self) -> &Path {
        self.0.root()
    }

    /// The stamps of the builds that this process does not use.
    pub(crate) fn stamps(&self) -> Result<Vec<Stamp>, SlotError> {
        Ok(Slot::unused(&self.0)?.iter().filter_map(Slot::stamp).collect())
    }

    /// The newest build that this process does not use and whose stamp is `wanted`.
    pub(crate) fn find(&self, wanted: impl Fn(&Stamp) -> bool) -> Result<Option<Slot>, SlotError> {
        let dated = |slot: Slot| {
            let stamp = slot.stamp().filter(|stamp| wanted(stamp))?;
            Some((stamp.finished, slot))
        };
        let found = Slot::unused(&self.0)?.into_iter().filter_map(dated);
        Ok(found.max_by(|(one, _), (other, _)| one.cmp(other)).map(|(_, slot)| slot))
    }

    /// The place of the first build that nobody needs, now or in a later hunt, or a new one.
    pub(crate) fn spare(&self) -> Result<Slot, SlotError> {
        let is_needed = |stamp: Stamp| stamp.kept.is_some() || self.0.keeps(&stamp.commit);
        match Slot::unused(&self.0)?.into_iter().find(|slot| !slot.stamp().is_some_and(is_needed)) {
            Some(first) => Ok(first),
            None => Ok(Slot::new(&self.0, self.0.new_number()?)),
        }
    }
}

/// Ends the programs that killed processes left in a slot, before its new owner uses it. Its
/// previous owner is dead, or waits for the process that borrows the slot.
fn end_left_programs(root: &Path) {
    if let Some(mark) = SlotMark::of_lock(&root.with_extension("lock")) {
        // A process that hangs in the kernel cannot be ended.
        mark.end_processes();
    }
}

/// The lock of the process that borrows a slot from its owner.
fn guest_lock(root: &Path) -> PathBuf {
    root.with_extension("guest")
}

/// The lock of the job that builds in a slot while the slot's owner or guest waits.
fn job_lock(root: &Path) -> PathBuf {
    root.with_extension("job")
}

/// Takes the lock of a job that builds in the slot at `root`; `None` if an earlier job does not end.
pub(crate) fn lock_for_job(root: &Path) -> Result<Option<File>, SlotError> {
    wait_for(&job_lock(root))
}

fn try_file(path: &Path) -> Result<Option<File>, SlotError> {
    files::try_lock_file(path).map_err(SlotError::at(path))
}

/// Takes a lock, and waits for it if necessary. `None` if it is still taken after
/// [`GUEST_TIMEOUT`].
pub(super) fn wait_for(path: &Path) -> Result<Option<File>, SlotError> {
    let begun = Instant::now();
    loop {
        if let Some(file) = try_file(path)? {
            return Ok(Some(file));
        }
        if begun.elapsed() > GUEST_TIMEOUT {
            return Ok(None);
        }
        sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::build::Slots;
    use crate::build::slot::tests::stamp;

    pub(in crate::build) fn commit(digit: &str) -> CommitId {
        digit.repeat(40).parse().unwrap()
    }

    /// A finished build of this commit.
    pub(in crate::build) fn built(held: &HeldSlot, digit: &str) -> Slot {
        let slot = held.spare().unwrap();
        slot.take_turn().unwrap();
        slot.set_stamp(&Stamp { commit: commit(digit), ..stamp(digit) }).unwrap();
        slot
    }

    fn builds(held: &HeldSlot) -> Vec<String> {
        let slots = Slot::unused(&held.0).unwrap();
        let stamps = slots.iter().filter_map(Slot::stamp);
        stamps.map(|stamp| stamp.commit.as_str()[..1].to_owned()).collect()
    }

    #[test]
    fn two_builds_of_one_process_have_one_path() {
        let folder = tempfile::tempdir().unwrap();
        let held = Slots::new(&folder.path().join("slots")).unwrap().lock(|_| false).unwrap();
        let (first, second) = (built(&held, "1"), built(&held, "2"));
        assert_eq!(first.root(), second.root());
        assert_eq!(first.stamp().unwrap().commit, commit("1"));
        assert_eq!(second.stamp().unwrap().commit, commit("2"));
        first.take_turn().unwrap();
        let text = std::fs::read_to_string(held.root().join("stamp.json")).unwrap();
        assert!(text.contains(commit("1").as_str()), "{text}");
    }

    #[test]
    fn a_guest_leaves_the_builds_that_the_owner_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let held = slots.lock(|_| false).unwrap();
        drop([built(&held, "1"), built(&held, "2")]);
        let guest = HeldSlot::borrow(held.root().to_owned(), commit("1")).unwrap();
        for digit in ["3", "4"] {
            drop(built(&guest, digit));
        }
        assert_eq!(builds(&guest), ["1", "4"], "the owner's build, and the last one");
        assert!(guest.find(|stamp| stamp.commit == commit("1")).unwrap().is_some());
        assert_eq!(guest.spare().unwrap().stamp().unwrap().commit, commit("4"));
    }

    #[test]
    fn a_build_that_stays_for_later_hunts_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let held = Slots::new(&folder.path().join("slots")).unwrap().lock(|_| false).unwrap();
        let first = built(&held, "1");
        std::fs::create_dir(first.build()).unwrap();
        let stamp = first.keep_for_later(first.stamp().unwrap());
        assert!(stamp.kept.is_some());
        drop(first);
        drop(built(&held, "2"));
        drop(built(&held, "3"));
        assert_eq!(builds(&held), ["1", "3"], "only the second one was replaced");
    }

    #[test]
    fn of_two_builds_of_a_commit_the_newer_one_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let held = Slots::new(&folder.path().join("slots")).unwrap().lock(|_| false).unwrap();
        let both = [built(&held, "1"), built(&held, "1")];
        for (slot, finished) in both.iter().zip(["2026-02", "2026-01"]) {
            let stamp = slot.stamp().unwrap();
            slot.set_stamp(&Stamp { finished: finished.to_owned(), ..stamp }).unwrap();
        }
        drop(both);
        let found = held.find(|_| true).unwrap().and_then(|slot| slot.stamp()).unwrap();
        assert_eq!(found.finished, "2026-02");
    }
}
