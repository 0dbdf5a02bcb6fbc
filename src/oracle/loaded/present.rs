//! Checks stored runs against the current programs and shared objects from outside the slot. If
//! such a file changed since, the stored run is not reused.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::evaluation::Loaded;
use crate::store::{Digests, Store, StoreError};

use super::file_kind::is_binary;

/// The current digests of files from outside the slot.
#[derive(Debug, Default)]
pub(crate) struct Present {
    /// Digests by path; `None` for a file that is gone or is not a program.
    known: RefCell<BTreeMap<String, Option<String>>>,
    /// Changed files that are not reported yet.
    changed: RefCell<BTreeSet<String>>,
    told: RefCell<BTreeSet<String>>,
}

impl Present {
    /// Whether a stored run loaded a file from outside the slot that has changed since. A file that
    /// is gone was a temporary file of the run, and does not count.
    pub(in crate::oracle) fn differs(
        &self,
        loaded: &Loaded,
        store: &Store,
    ) -> Result<bool, StoreError> {
        self.learn(loaded, store)?;
        let known = self.known.borrow();
        let is_other = |(path, sha): &(&String, &String)| {
            known.get(*path).and_then(Option::as_ref).is_some_and(|now| now != *sha)
        };
        let other = loaded.elsewhere.iter().find(is_other);
        self.changed.borrow_mut().extend(other.map(|(path, _)| path.clone()));
        Ok(other.is_some())
    }

    /// The changed files that are not reported yet.
    pub(in crate::oracle) fn take_changed(&self) -> Vec<String> {
        let changed = std::mem::take(&mut *self.changed.borrow_mut());
        let mut told = self.told.borrow_mut();
        changed.into_iter().filter(|path| told.insert(path.clone())).collect()
    }

    /// Computes the missing digests of a run's files. The cache of digests is opened once for
    /// all.
    fn learn(&self, loaded: &Loaded, store: &Store) -> Result<(), StoreError> {
        let mut known = self.known.borrow_mut();
        let new: Vec<&String> =
            loaded.elsewhere.keys().filter(|path| !known.contains_key(*path)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let own = std::env::current_exe().ok();
        let is_program = |file: &PathBuf| own.as_ref() != Some(file) && is_binary(file);
        let programs: Vec<PathBuf> =
            new.iter().map(|path| PathBuf::from(path.as_str())).filter(is_program).collect();
        let mut digests = Digests::open(store).of_each(&programs)?;
        for path in new {
            known.insert(path.clone(), digests.remove(Path::new(path)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_library_is_told_once_and_what_is_gone_or_no_program_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let library = folder.path().join("libgomp.so");
        std::fs::write(&library, b"\x7fELF new").unwrap();
        let text = folder.path().join("cache.txt");
        std::fs::write(&text, b"text").unwrap();
        let loaded = |path: &Path, sha: &str| Loaded {
            elsewhere: BTreeMap::from([(path.to_string_lossy().into_owned(), sha.to_owned())]),
            ..Loaded::default()
        };
        let present = Present::default();
        let differs = |loaded: &Loaded| present.differs(loaded, &store).unwrap();
        assert!(differs(&loaded(&library, "old")) && differs(&loaded(&library, "old")));
        let now = Digests::open(&store).of(std::slice::from_ref(&library)).unwrap();
        assert!(!differs(&loaded(&library, &now)));
        assert!(!differs(&loaded(&text, "old")));
        assert!(!differs(&loaded(&folder.path().join("gone.so"), "old")));
        assert_eq!(present.take_changed(), [library.to_string_lossy()]);
        assert!(differs(&loaded(&library, "old")) && present.take_changed().is_empty());
    }
}
