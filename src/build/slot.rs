//! The folders of one build: checked out, built and run at the path of a slot, which is the same
//! for all commits and hunts. So compiler caches hit, and no engine sees another path.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};
use crate::files;
use crate::process::{Sandbox, SlotMark};
use crate::store::BuildKey;

use super::kept_build::{KeptBuild, OF_RUNS};
use super::slot_error::{SlotError, remove, remove_unfinished, write};
use super::turns::Turns;

pub(super) mod kept;
mod lent;
mod rewritten;

/// The folders of one build in a slot. The builds of a slot take turns at the slot's path
/// ([`Slot::take_turn`]); the paths of this type are those during this build's turn. As long as a
/// value lives, no other build gets these folders.
#[derive(Clone, Debug)]
pub(crate) struct Slot(Arc<Use>);

/// The use of a build by this process.
#[derive(Debug)]
struct Use {
    turns: Arc<Turns>,
    number: u32,
}

impl Drop for Use {
    fn drop(&mut self) {
        self.turns.give_back(self.number);
    }
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
    /// Set if the build stays in its slot for later hunts.
    #[serde(default)]
    pub kept: Option<KeptBuild>,
    /// The last other hunt that took the build.
    #[serde(default)]
    pub taken_by: Option<String>,
}

impl Stamp {
    /// The stamp in a build's folder, also one from before the last boot.
    fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&files::read(&folder.join("stamp.json")).ok()?).ok()
    }
}

/// The current boot of this machine; empty if the system does not say. The files of a build are not
/// synced, so a build may be incomplete after a power cut. Another machine that shares the folder
/// has another boot too.
pub(super) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

impl Slot {
    /// Begins to use the build with this number.
    pub(super) fn new(turns: &Arc<Turns>, number: u32) -> Self {
        turns.begin_use(number);
        Self(Arc::new(Use { turns: Arc::clone(turns), number }))
    }

    /// A build at this path, without a lock.
    #[cfg(test)]
    pub(super) fn unlocked(root: PathBuf) -> Self {
        Self::new(&Arc::new(Turns::new(root, None, None)), 0)
    }

    /// The builds of a slot that this process does not use.
    pub(super) fn unused(turns: &Arc<Turns>) -> Result<Vec<Self>, SlotError> {
        let unused = turns.unused()?.into_iter();
        Ok(unused.map(|number| Self::new(turns, number)).collect())
    }

    /// The builds of a slot that nobody needs.
    pub(super) fn idle(turns: &Arc<Turns>) -> Result<Vec<Self>, SlotError> {
        let mut slots = Self::unused(turns)?;
        slots.retain(|slot| slot.stamp().is_none_or(|stamp| !turns.keeps(&stamp.commit)));
        Ok(slots)
    }

    /// The builds of the same slot that nobody needs.
    pub(super) fn idle_beside(&self) -> Result<Vec<Self>, SlotError> {
        Self::idle(&self.0.turns)
    }

    /// Moves the build to the slot's path, before anything uses its files.
    pub(crate) fn take_turn(&self) -> Result<(), SlotError> {
        self.0.turns.take(self.0.number)
    }

    /// The folder where the build's files are now.
    pub(crate) fn folder(&self) -> PathBuf {
        self.0.turns.folder(self.0.number)
    }

    /// The sandbox of a program that belongs to this slot: it may write to the slot's folders,
    /// and not to the files that say what the slot holds.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let own = ["turn", "stamp.json", "prepared.json", "whole"];
        Sandbox {
            writable: vec![self.root().to_owned()],
            protected: own.map(|name| self.root().join(name)).to_vec(),
        }
    }

    /// The mark of programs that belong to this slot.
    pub(crate) fn mark(&self) -> Option<SlotMark> {
        SlotMark::of_lock(&self.root().with_extension("lock"))
    }

    /// The slot's path.
    pub(crate) fn root(&self) -> &Path {
        self.0.turns.root()
    }

    /// `{src}`: the worktree.
    pub(crate) fn src(&self) -> PathBuf {
        self.root().join("src")
    }

    /// `{build}`: the build folder.
    pub(crate) fn build(&self) -> PathBuf {
        self.root().join("build")
    }

    /// `{out}`: the output folder, emptied before each run.
    pub(crate) fn out(&self) -> PathBuf {
        self.root().join("out")
    }

    /// `{cache}`: the cache folder, emptied before each evaluation.
    pub(crate) fn cache(&self) -> PathBuf {
        self.root().join("cache")
    }

    /// The output folder of the `[[prepare]]` step with this name.
    pub(crate) fn prepared(&self, name: &str) -> PathBuf {
        self.root().join("prepared").join(name)
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
        remove(&self.folder().join("prepared.json"))?;
        remove(&self.folder().join("prepared"))
    }

    fn prepared_keys(&self) -> BTreeMap<String, BuildKey> {
        let bytes = files::read(&self.folder().join("prepared.json")).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write_prepared(&self, keys: &BTreeMap<String, BuildKey>) -> Result<(), SlotError> {
        let path = self.folder().join("prepared.json");
        let bytes = serde_json::to_vec(keys).expect("keys are plain data");
        write(&path, &bytes)
    }

    /// Empties a folder of the slot, or creates it.
    pub(crate) fn fresh(&self, folder: &Path) -> Result<(), SlotError> {
        debug_assert!(folder.starts_with(self.root()), "only folders of the slot are emptied");
        remove(folder)?;
        std::fs::create_dir_all(folder).map_err(SlotError::at(folder))
    }

    /// The stamp of the slot's finished build, if there is one. A build before the last boot does
    /// not count.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        Stamp::read(&self.folder()).filter(|stamp| stamp.boot == boot())
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
        self.folder().join("whole")
    }

    /// Sets the stamp of a finished build.
    pub(crate) fn set_stamp(&self, stamp: &Stamp) -> Result<(), SlotError> {
        let path = self.folder().join("stamp.json");
        let bytes = serde_json::to_vec(stamp).expect("a stamp is plain data");
        write(&path, &bytes)
    }

    /// Removes the stamp: the slot holds no finished build from now on.
    pub(crate) fn clear_stamp(&self) -> Result<(), SlotError> {
        remove(&self.folder().join("stamp.json"))?;
        // The prepared folders depend on this build.
        self.clear_all_prepared()
    }

    /// Removes the build, its stamp, and all folders but the worktree.
    pub(crate) fn empty(&self) -> Result<(), SlotError> {
        self.clear_stamp()?;
        self.clear_whole()?;
        self.remove_all_but_checkout()
    }

    /// Removes everything beside the checkout that a build or run left: the build folder, and also
    /// what was installed beside it.
    pub(crate) fn remove_all_but_checkout(&self) -> Result<(), SlotError> {
        let folder = self.folder();
        let own = ["src", "src.bisect-ppl", "turn", "digests.json"].map(|name| folder.join(name));
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(()) };
        for entry in entries {
            let path = entry.map_err(SlotError::at(&folder))?.path();
            if !own.contains(&path) {
                remove(&path)?;
            }
        }
        remove_unfinished(&self.folder())
    }

    /// Whether builds or runs made folders beside the build folder, such as `../install`.
    pub(crate) fn has_folders_beside(&self) -> bool {
        let is_own = |name: &OsStr| ["src", "build"].iter().chain(&OF_RUNS).any(|own| name == *own);
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.any(|entry| !is_own(&entry.file_name()))
    }

    /// Removes the folder of an empty build that is not at the slot's path.
    pub(crate) fn remove_parked(&self) -> Result<(), SlotError> {
        let folder = self.folder();
        if folder == self.root() { Ok(()) } else { remove(&folder) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::build::Slots;

    pub(in crate::build) fn stamp(key: &str) -> Stamp {
        Stamp {
            build_key: serde_json::from_str(&format!("\"{key}\"")).unwrap(),
            commit: "1".repeat(40).parse().unwrap(),
            phase: Phase::Search,
            hunt: None,
            attempt: "a".to_owned(),
            finished: String::new(),
            boot: boot(),
            kept: None,
            taken_by: None,
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
    fn an_emptied_slot_has_no_file_of_a_killed_process() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        let unfinished = slot.root().join(".tmp-a");
        std::fs::write(&unfinished, "{").unwrap();
        slot.empty().unwrap();
        assert!(!unfinished.exists());
    }

    #[test]
    fn a_free_slot_without_the_wanted_build_makes_no_other_slot() {
        let folder = tempfile::tempdir().unwrap();
        let slots = Slots::new(&folder.path().join("slots")).unwrap();
        for _ in 0..2 {
            let root = slots.acquire(|_| false).unwrap().root().to_owned();
            assert_eq!(root, slots.folder().join("0"));
        }
        assert!(!slots.folder().join("1.lock").exists());
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
