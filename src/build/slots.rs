//! The slots of a repository, and who may use them: a slot belongs to the process that holds its
//! lock. The hunt's driver lends its slot to the oracle process that git calls meanwhile, so that
//! both build at the same path.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::evaluation::CommitId;
use crate::files::{self, SharedFolder};
use crate::process::SlotMark;

use super::slot::{Slot, Stamp};
use super::slot_error::SlotError;
use super::turns::Turns;

/// How long a slot's new owner waits for the oracle process of a killed driver to end.
const GUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// The folder that holds a repository's slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    folder: PathBuf,
}

/// A slot that this process may use, with all builds that take turns at its path.
#[derive(Clone, Debug)]
pub(crate) struct HeldSlot(Arc<Turns>);

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
                idle.extend(Slot::idle(&slot.0)?);
            }
        }
        Ok(idle)
    }
}

impl HeldSlot {
    fn try_lock(root: PathBuf) -> Result<Option<Self>, SlotError> {
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
fn wait_for(path: &Path) -> Result<Option<File>, SlotError> {
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
mod tests {
    use super::*;
    use crate::build::slot::tests::stamp;

    fn commit(digit: &str) -> CommitId {
        digit.repeat(40).parse().unwrap()
    }

    /// A finished build of this commit.
    fn built(held: &HeldSlot, digit: &str) -> Slot {
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
