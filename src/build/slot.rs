//! Slots: folders to build and run in. Their paths are the same for all commits and hunts, so that
//! compiler caches hit. A slot belongs to the process that holds its lock.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};
use crate::files::{self, SharedFolder};
use crate::process::Sandbox;
use crate::store::BuildKey;

/// A slot that cannot be used; never the commit's fault.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct SlotError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

impl SlotError {
    pub(super) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

/// The folder that holds a repository's slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    folder: PathBuf,
}

/// A slot, locked until drop.
#[derive(Debug)]
pub(crate) struct Slot {
    root: PathBuf,
    /// The lock; `None` if the hunt's driver holds it.
    _lock: Option<File>,
}

/// Describes the finished build in a slot. The stamp is removed before anything in its slot
/// changes, so an existing stamp is always correct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// The build key.
    pub build_key: BuildKey,
    /// The commit.
    pub commit: CommitId,
    /// The purpose of the build.
    pub phase: Phase,
    /// The hunt it was built for, if any.
    pub hunt: Option<String>,
    /// Name of the build's attempt in the store.
    pub attempt: String,
    /// End of the build (RFC 3339, UTC).
    pub finished: String,
    /// The boot of the machine that built it; empty if unknown.
    #[serde(default)]
    pub boot: String,
}

/// The current boot of this machine; empty if the system does not say. The files of a build are not
/// synced, so a build may be incomplete after a power cut. Another machine that shares the folder
/// has another boot too.
pub(super) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
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

    /// Locks a free slot: one whose stamp `wanted` accepts, or else the free one with the lowest
    /// number.
    pub(crate) fn acquire(&self, wanted: impl Fn(&Stamp) -> bool) -> Result<Slot, SlotError> {
        let mut free = Vec::new();
        for number in 0..1000 {
            let root = self.folder.join(number.to_string());
            let is_new = !root.exists();
            let Some(slot) = Slot::try_lock(root)? else { continue };
            if slot.stamp().is_some_and(|stamp| wanted(&stamp)) {
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

    /// The folders of all slots but this one.
    pub(super) fn others(&self, slot: &Slot) -> Result<Vec<PathBuf>, SlotError> {
        let mut roots = self.roots()?;
        roots.retain(|root| root != slot.root());
        Ok(roots)
    }

    /// Bytes that the last finished build and its checkout took; 0 before the first build.
    pub(super) fn last_size(&self) -> u64 {
        let text = std::fs::read_to_string(self.folder.join("last-size"));
        text.ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Writes down how much a finished build and its checkout take.
    pub(super) fn set_last_size(&self, bytes: u64) -> Result<(), SlotError> {
        let path = self.folder.join("last-size");
        std::fs::write(&path, bytes.to_string()).map_err(SlotError::at(&path))
    }

    /// Bytes on the slots' disk that this user may use.
    pub(super) fn free(&self) -> Result<u64, SlotError> {
        let about = rustix::fs::statvfs(&self.folder);
        let about = about.map_err(|error| SlotError::at(&self.folder)(error.into()))?;
        Ok(about.f_bavail.saturating_mul(about.f_frsize))
    }

    /// The folders of all slots.
    fn roots(&self) -> Result<Vec<PathBuf>, SlotError> {
        let mut roots = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(SlotError::at(&self.folder))? {
            let root = entry.map_err(SlotError::at(&self.folder))?.path();
            let name = root.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.parse::<u32>().is_ok()) {
                roots.push(root);
            }
        }
        Ok(roots)
    }

    /// Locks and returns all free slots.
    pub(crate) fn idle(&self) -> Result<Vec<Slot>, SlotError> {
        let mut idle = Vec::new();
        for root in self.roots()? {
            idle.extend(Slot::try_lock(root)?);
        }
        Ok(idle)
    }
}

impl Slot {
    /// A slot whose lock the driver of this hunt holds.
    pub(crate) fn borrowed(root: PathBuf) -> Self {
        Self { root, _lock: None }
    }

    fn try_lock(root: PathBuf) -> Result<Option<Self>, SlotError> {
        std::fs::create_dir_all(&root).map_err(SlotError::at(&root))?;
        let path = root.join("lock");
        let file = files::lock_file(&path).map_err(SlotError::at(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { root, _lock: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(SlotError { path, source }),
        }
    }

    /// The sandbox of a program that belongs into this slot: it may write to the slot's folders,
    /// and not to the files that say what the slot holds.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let own = ["lock", "stamp.json", "prepared.json", "whole"];
        Sandbox {
            writable: vec![self.root.clone()],
            protected: own.map(|name| self.root.join(name)).to_vec(),
        }
    }

    /// The slot's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `{src}`: the worktree.
    pub(crate) fn src(&self) -> PathBuf {
        self.root.join("src")
    }

    /// `{build}`: the build folder.
    pub(crate) fn build(&self) -> PathBuf {
        self.root.join("build")
    }

    /// `{out}`: the output folder, emptied before each run.
    pub(crate) fn out(&self) -> PathBuf {
        self.root.join("out")
    }

    /// `{cache}`: the cache folder, emptied before each evaluation.
    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The output folder of the `[[prepare]]` step with this name.
    pub(crate) fn prepared(&self, name: &str) -> PathBuf {
        self.root.join("prepared").join(name)
    }

    /// Whether this step has finished with this key.
    pub(crate) fn has_prepared(&self, name: &str, key: &BuildKey) -> bool {
        self.prepared_keys().get(name) == Some(key)
    }

    /// Records that this step has finished with this key.
    pub(crate) fn set_prepared(&self, name: &str, key: &BuildKey) -> Result<(), SlotError> {
        let mut keys = self.prepared_keys();
        keys.insert(name.to_owned(), key.clone());
        self.write_prepared(&keys)
    }

    /// Removes the result of this step.
    pub(crate) fn clear_prepared(&self, name: &str) -> Result<(), SlotError> {
        let mut keys = self.prepared_keys();
        keys.remove(name);
        self.write_prepared(&keys)?;
        self.fresh(&self.prepared(name))
    }

    /// Removes the results of all prepare steps.
    pub(crate) fn clear_all_prepared(&self) -> Result<(), SlotError> {
        remove(&self.root.join("prepared.json"))?;
        remove(&self.root.join("prepared"))
    }

    fn prepared_keys(&self) -> BTreeMap<String, BuildKey> {
        let bytes = files::read(&self.root.join("prepared.json")).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write_prepared(&self, keys: &BTreeMap<String, BuildKey>) -> Result<(), SlotError> {
        let path = self.root.join("prepared.json");
        let bytes = serde_json::to_vec(keys).expect("keys are plain data");
        write(&path, &bytes)
    }

    /// Empties a folder of the slot, or creates it.
    pub(crate) fn fresh(&self, folder: &Path) -> Result<(), SlotError> {
        debug_assert!(folder.starts_with(&self.root), "only folders of the slot are emptied");
        remove(folder)?;
        std::fs::create_dir_all(folder).map_err(SlotError::at(folder))
    }

    /// The stamp of the slot's finished build, if there is one. A build before the last boot does
    /// not count.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let bytes = files::read(&self.root.join("stamp.json")).ok()?;
        let stamp: Stamp = serde_json::from_slice(&bytes).ok()?;
        (stamp.boot == boot()).then_some(stamp)
    }

    /// Whether the commands of the last build ended by themselves, so that an incremental build
    /// may go on from its files. A killed compiler or linker leaves half a file, which `make`
    /// takes for a finished one.
    pub(crate) fn is_whole(&self) -> bool {
        std::fs::read_to_string(self.whole_mark()).is_ok_and(|text| text == boot())
    }

    /// Says that the build's commands ended by themselves.
    pub(crate) fn set_whole(&self) -> Result<(), SlotError> {
        let path = self.whole_mark();
        std::fs::write(&path, boot()).map_err(SlotError::at(&path))
    }

    /// Says that a build is under way.
    pub(crate) fn clear_whole(&self) -> Result<(), SlotError> {
        remove(&self.whole_mark())
    }

    fn whole_mark(&self) -> PathBuf {
        self.root.join("whole")
    }

    /// Sets the stamp of a finished build.
    pub(crate) fn set_stamp(&self, stamp: &Stamp) -> Result<(), SlotError> {
        let path = self.root.join("stamp.json");
        let bytes = serde_json::to_vec(stamp).expect("a stamp is plain data");
        write(&path, &bytes)
    }

    /// Removes the stamp: the slot holds no finished build from now on.
    pub(crate) fn clear_stamp(&self) -> Result<(), SlotError> {
        remove(&self.root.join("stamp.json"))?;
        // The prepared folders depend on this build.
        self.clear_all_prepared()
    }

    /// Removes the build, its stamp, and the folders of outputs and caches. The lock and the
    /// worktree stay.
    pub(crate) fn empty(&self) -> Result<(), SlotError> {
        self.clear_stamp()?;
        self.clear_whole()?;
        for folder in [self.build(), self.out(), self.cache()] {
            remove(&folder)?;
        }
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), SlotError> {
    let written = files::create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(SlotError::at(path))
}

/// Removes a file, a link, or a folder with all its content, if it exists.
fn remove(path: &Path) -> Result<(), SlotError> {
    let result = match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(SlotError { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::build) fn stamp(key: &str) -> Stamp {
        Stamp {
            build_key: serde_json::from_str(&format!("\"{key}\"")).unwrap(),
            commit: "1".repeat(40).parse().unwrap(),
            phase: Phase::Search,
            hunt: None,
            attempt: "a".to_owned(),
            finished: String::new(),
            boot: boot(),
        }
    }

    #[test]
    fn a_build_of_another_boot_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        slot.set_stamp(&stamp("k")).unwrap();
        slot.set_whole().unwrap();
        assert!(slot.stamp().is_some() && slot.is_whole());
        slot.set_stamp(&Stamp { boot: "another".to_owned(), ..stamp("k") }).unwrap();
        std::fs::write(slot.whole_mark(), "another").unwrap();
        assert!(slot.stamp().is_none() && !slot.is_whole());
    }

    #[test]
    fn a_held_slot_is_not_given_twice_and_a_freed_one_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let first = slots.acquire(|_| false).unwrap();
        let second = slots.acquire(|_| false).unwrap();
        assert_ne!(first.root(), second.root());
        let root = first.root().to_owned();
        drop(first);
        assert_eq!(slots.acquire(|_| false).unwrap().root(), root);
    }

    #[test]
    fn a_slot_that_holds_the_wanted_build_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        let (first, second) =
            (slots.acquire(|_| false).unwrap(), slots.acquire(|_| false).unwrap());
        second.set_stamp(&stamp("k")).unwrap();
        let wanted = second.root().to_owned();
        drop((first, second));
        let got = slots.acquire(|stamp| stamp.build_key.as_str() == "k").unwrap();
        assert_eq!(got.root(), wanted);
        got.clear_stamp().unwrap();
        assert!(got.stamp().is_none());
    }

    #[test]
    fn what_was_prepared_goes_with_its_build() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        let key = |text: &str| stamp(text).build_key;
        slot.clear_prepared("a").unwrap();
        slot.set_prepared("a", &key("1")).unwrap();
        slot.clear_prepared("b").unwrap();
        slot.set_prepared("b", &key("2")).unwrap();
        assert!(slot.has_prepared("a", &key("1")) && slot.has_prepared("b", &key("2")));
        assert!(!slot.has_prepared("a", &key("2")));
        slot.clear_prepared("b").unwrap();
        assert!(slot.has_prepared("a", &key("1")) && !slot.has_prepared("b", &key("2")));
        slot.clear_stamp().unwrap();
        assert!(!slot.has_prepared("a", &key("1")) && !slot.prepared("a").exists());
    }

    #[test]
    fn a_fresh_folder_is_empty_even_where_a_link_stood() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("keep"), "x").unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), slot.out()).unwrap();
        slot.fresh(&slot.out()).unwrap();
        assert_eq!(std::fs::read_dir(slot.out()).unwrap().count(), 0);
        assert!(elsewhere.path().join("keep").exists());
    }
}
