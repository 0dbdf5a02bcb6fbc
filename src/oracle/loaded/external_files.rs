//! Checks that all runs of a hunt load the same programs and shared objects from outside the
//! slot. A build that installs into a fixed prefix overwrites such files, and then the next commit
//! runs with the previous commit's files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use crate::evaluation::{Loaded, RunRecord};
use crate::store::journal::Event;
use crate::store::{HuntDir, Store, StoreError};

use super::file_kind::is_binary;
use super::is_older;

/// The files from outside the slot that the hunt's runs loaded so far.
#[derive(Debug, Default)]
pub(in crate::oracle) struct ExternalFiles {
    /// Path → digest, and the commit whose run loaded the file first.
    seen: BTreeMap<String, (String, String)>,
    /// The attempts already read.
    read: BTreeSet<String>,
}

/// A file whose content differs from what an earlier run of the hunt loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::oracle) struct Changed {
    pub(in crate::oracle) path: String,
    /// The commit of the earlier run, abbreviated.
    pub(in crate::oracle) before: String,
}

impl ExternalFiles {
    /// Reads the hunt's new runs from its journal, whichever process made the runs.
    pub(in crate::oracle) fn follow(
        &mut self,
        hunt: &HuntDir,
        store: &Store,
    ) -> Result<(), StoreError> {
        for entry in &hunt.entries()? {
            let Event::Run(run) = &entry.event else { continue };
            if run.reused || self.read.contains(&run.attempt) {
                continue;
            }
            self.read.insert(run.attempt.clone());
            if let Some(run) = store.run(&run.run_key, &run.attempt)? {
                self.take(&run.record);
            }
        }
        Ok(())
    }

    fn take(&mut self, record: &RunRecord) {
        let Some(loaded) = &record.loaded else { return };
        for (path, sha) in &loaded.elsewhere {
            let first = || (sha.clone(), record.commit.short().to_owned());
            self.seen.entry(path.clone()).or_insert_with(first);
        }
    }

    /// The first of a run's files that differs from what an earlier run loaded. `is_given`: whether
    /// the file existed before the run, so that the run did not make it itself.
    pub(in crate::oracle) fn changed(
        &self,
        loaded: &Loaded,
        is_given: impl Fn(&Path) -> bool,
    ) -> Option<Changed> {
        loaded.elsewhere.iter().find_map(|(path, sha)| {
            let (known, before) = self.seen.get(path)?;
            let is_changed = known != sha && is_given(Path::new(path));
            is_changed.then(|| Changed { path: path.clone(), before: before.clone() })
        })
    }
}

/// Whether this program or shared object existed before a run that began at `started`. False for
/// a file that the run compiled itself, and for bisect-ppl's own binary.
pub(in crate::oracle) fn is_given(path: &Path, started: &str) -> bool {
    let Ok(began) = started.parse::<Timestamp>() else { return false };
    let is_own = std::env::current_exe().is_ok_and(|own| own == path);
    is_older(path, began) && !is_own && is_binary(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(files: &[(&str, &str)]) -> Loaded {
        let elsewhere =
            files.iter().map(|(path, sha)| ((*path).to_owned(), (*sha).to_owned())).collect();
        Loaded { elsewhere, ..Loaded::default() }
    }

    #[test]
    fn only_a_given_file_with_other_bytes_is_told() {
        let mut known = ExternalFiles::default();
        known.seen.insert("/opt/x/lib.so".to_owned(), ("1".to_owned(), "abc".to_owned()));
        let changed = |files: &[(&str, &str)]| known.changed(&loaded(files), |_| true);
        assert_eq!(changed(&[("/opt/x/lib.so", "1"), ("/opt/x/new.so", "2")]), None);
        let told = Changed { path: "/opt/x/lib.so".to_owned(), before: "abc".to_owned() };
        assert_eq!(changed(&[("/opt/x/lib.so", "2")]), Some(told));
        assert_eq!(known.changed(&loaded(&[("/opt/x/lib.so", "2")]), |_| false), None);
    }

    #[test]
    fn what_a_run_made_itself_and_what_is_no_program_was_not_given() {
        let folder = tempfile::tempdir().unwrap();
        let (library, cache) = (folder.path().join("a.so"), folder.path().join("kernels"));
        std::fs::write(&library, b"\x7fELF...").unwrap();
        std::fs::write(&cache, b"kernels").unwrap();
        let (before, after) = ("2020-01-01T00:00:00Z", "2200-01-01T00:00:00Z");
        assert!(is_given(&library, after));
        assert!(!is_given(&library, before), "compiled by the run");
        assert!(!is_given(&cache, after));
        assert!(!is_given(&folder.path().join("none.so"), after));
        assert!(!is_given(&std::env::current_exe().unwrap(), after));
    }
}
