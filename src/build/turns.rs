//! Builds take turns at a slot's path. Engines may give other results at another path (a hash of a
//! path, the order of files, the place of the stack behind long environment variables), and
//! compilers write the path into what they build. So the builds of one slot are all made and run at
//! the same path: one is there, and the others are parked beside it.
//!
//! `slots/0` is the path, and `slots/0.1` the parked build with the number 1. The file `turn` in a
//! folder holds its number.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::evaluation::CommitId;
use crate::git;

use super::slot_error::{SlotError, remove};

/// The builds of one slot.
#[derive(Debug)]
pub(crate) struct Turns {
    root: PathBuf,
    /// The builds that this process uses.
    in_use: Mutex<BTreeSet<u32>>,
    /// In a borrowed slot: the commit whose builds its owner keeps.
    kept: Option<CommitId>,
    _lock: Option<File>,
}

impl Turns {
    /// `kept`: in a borrowed slot, the commit whose builds its owner keeps. `lock`: held as long as
    /// this value lives.
    pub(super) fn new(root: PathBuf, kept: Option<CommitId>, lock: Option<File>) -> Self {
        Self { root, in_use: Mutex::default(), kept, _lock: lock }
    }

    /// Whether the slot's owner keeps this commit's builds.
    pub(super) fn keeps(&self, commit: &CommitId) -> bool {
        self.kept.as_ref() == Some(commit)
    }

    /// The numbers of the builds that this process does not use.
    pub(super) fn unused(&self) -> Result<Vec<u32>, SlotError> {
        let mut numbers = self.numbers()?;
        let in_use = self.in_use();
        numbers.retain(|number| !in_use.contains(number));
        Ok(numbers)
    }

    /// The lowest number that no build has.
    pub(super) fn new_number(&self) -> Result<u32, SlotError> {
        let known = self.numbers()?;
        let in_use = self.in_use();
        Ok(lowest(|number| !known.contains(&number) && !in_use.contains(&number)))
    }

    /// Says that this process uses a build.
    pub(super) fn begin_use(&self, number: u32) {
        self.in_use().insert(number);
    }

    /// Says that this process no longer uses a build.
    pub(super) fn give_back(&self, number: u32) {
        self.in_use().remove(&number);
    }

    fn in_use(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path at which builds take turns.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The numbers of all builds, in order.
    pub(super) fn numbers(&self) -> Result<Vec<u32>, SlotError> {
        let mut numbers = self.parked_numbers()?;
        numbers.extend(self.present()?);
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Where this build's files are now. A new build has none, and its folder does not exist.
    pub(super) fn folder(&self, number: u32) -> PathBuf {
        let is_present = self.present().is_ok_and(|present| present == Some(number));
        if is_present { self.root.clone() } else { self.parked(number) }
    }

    /// Moves this build to the slot's path, or creates an empty folder there if the build is new.
    /// The build that was there before is parked.
    pub(super) fn take(&self, number: u32) -> Result<(), SlotError> {
        let present = self.present()?;
        if present != Some(number) {
            if let Some(present) = present {
                self.park(present)?;
            }
            let parked = self.parked(number);
            if parked.exists() {
                std::fs::rename(&parked, &self.root).map_err(SlotError::at(&parked))?;
            } else {
                std::fs::create_dir(&self.root).map_err(SlotError::at(&self.root))?;
            }
        }
        let mark = self.root.join("turn");
        if std::fs::read_to_string(&mark).ok() != Some(number.to_string()) {
            std::fs::write(&mark, number.to_string()).map_err(SlotError::at(&mark))?;
        }
        // Also if no folder was moved now: an earlier process may have been killed after its move,
        // before it mended the worktree.
        git::mend_moved(&self.root.join("src")).map_err(SlotError::at(&self.root))
    }

    /// Moves the build at the slot's path to a folder beside the path. If the file system cannot
    /// move the folder (a lower layer of an overlay), the build is removed, and made again later.
    fn park(&self, number: u32) -> Result<(), SlotError> {
        let parked = self.parked(number);
        match std::fs::rename(&self.root, &parked) {
            Ok(()) => git::mend_moved(&parked.join("src")).map_err(SlotError::at(&parked)),
            Err(error) if error.kind() == ErrorKind::CrossesDevices => remove(&self.root),
            Err(error) => Err(SlotError::at(&self.root)(error)),
        }
    }

    /// The number of the build at the path. A folder without its number has the lowest free one.
    fn present(&self) -> Result<Option<u32>, SlotError> {
        if !self.root.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(self.root.join("turn")).unwrap_or_default();
        let parked = self.parked_numbers()?;
        let written = text.parse().ok().filter(|number| !parked.contains(number));
        Ok(written.or_else(|| Some(lowest(|number| !parked.contains(&number)))))
    }

    fn parked(&self, number: u32) -> PathBuf {
        self.root.with_extension(number.to_string())
    }

    fn parked_numbers(&self) -> Result<Vec<u32>, SlotError> {
        let folder = self.root.parent().unwrap_or(Path::new("/"));
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(SlotError::at(folder))? {
            let path = entry.map_err(SlotError::at(folder))?.path();
            let number = path.extension().and_then(|end| end.to_str()?.parse::<u32>().ok());
            if path.with_extension("") == self.root {
                numbers.extend(number);
            }
        }
        Ok(numbers)
    }
}

/// The lowest number that is free.
fn lowest(is_free: impl Fn(u32) -> bool) -> u32 {
    (0..u32::MAX).find(|number| is_free(*number)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a build's own file at the path.
    fn make(turns: &Turns, number: u32) {
        turns.take(number).unwrap();
        std::fs::write(turns.root().join("what"), number.to_string()).unwrap();
    }

    fn at_the_path(turns: &Turns) -> String {
        std::fs::read_to_string(turns.root().join("what")).unwrap_or_default()
    }

    fn turns(folder: &tempfile::TempDir) -> Turns {
        Turns::new(folder.path().join("0"), None, None)
    }

    #[test]
    fn every_build_is_at_the_same_path_in_its_turn() {
        let folder = tempfile::tempdir().unwrap();
        let turns = turns(&folder);
        assert_eq!(turns.numbers().unwrap(), [0; 0]);
        for number in 0..3 {
            make(&turns, number);
        }
        for number in [1, 1, 0, 2, 1] {
            turns.take(number).unwrap();
            assert_eq!(at_the_path(&turns), number.to_string());
            assert_eq!(turns.folder(number), turns.root());
            assert_eq!(turns.numbers().unwrap(), [0, 1, 2]);
        }
        assert_eq!(turns.folder(2), folder.path().join("0.2"));
    }

    #[test]
    fn builds_of_another_slot_and_locks_are_no_builds_of_this_one() {
        let folder = tempfile::tempdir().unwrap();
        for other in ["1", "00.1", "10.3"] {
            std::fs::create_dir(folder.path().join(other)).unwrap();
        }
        std::fs::write(folder.path().join("0.lock"), "").unwrap();
        assert_eq!(turns(&folder).numbers().unwrap(), [0; 0]);
    }

    #[test]
    fn a_lost_or_wrong_number_takes_no_other_builds_place() {
        let folder = tempfile::tempdir().unwrap();
        let turns = turns(&folder);
        for number in 0..3 {
            make(&turns, number);
        }
        for damage in ["", "0", "x"] {
            std::fs::write(turns.root().join("turn"), damage).unwrap();
            assert_eq!(turns.numbers().unwrap(), [0, 1, 2], "{damage:?}");
            turns.take(0).unwrap();
            assert_eq!(at_the_path(&turns), "0", "{damage:?}");
            turns.take(2).unwrap();
            assert_eq!(at_the_path(&turns), "2", "{damage:?}");
        }
    }

    #[test]
    fn a_move_that_a_kill_cut_short_loses_no_build() {
        let folder = tempfile::tempdir().unwrap();
        let turns = turns(&folder);
        make(&turns, 0);
        make(&turns, 1);
        // One is parked, and the other was not moved yet.
        std::fs::rename(turns.root(), folder.path().join("0.1")).unwrap();
        assert_eq!(turns.numbers().unwrap(), [0, 1]);
        turns.take(0).unwrap();
        assert_eq!(at_the_path(&turns), "0");
        turns.take(1).unwrap();
        assert_eq!(at_the_path(&turns), "1");
    }

    #[test]
    fn a_new_number_is_nobodys() {
        let folder = tempfile::tempdir().unwrap();
        let turns = turns(&folder);
        make(&turns, 0);
        make(&turns, 2);
        assert_eq!(turns.new_number().unwrap(), 1);
        turns.begin_use(1);
        assert_eq!(turns.new_number().unwrap(), 3);
        turns.give_back(1);
        assert_eq!(turns.new_number().unwrap(), 1);
        turns.begin_use(2);
        assert_eq!(turns.unused().unwrap(), [0]);
    }
}
