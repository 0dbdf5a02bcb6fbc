//! Which commits the store knows something about.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::evaluation::CommitId;

use super::record_files::{read_json, record_files};
use super::{Store, StoreError};

/// The part of a build's or run's record that names its commit.
#[derive(Deserialize)]
struct OfCommit {
    commit: CommitId,
}

impl Store {
    /// The commits with a record of a build or a run, also of one that does not count.
    pub(crate) fn recorded_commits(&self) -> Result<BTreeSet<CommitId>, StoreError> {
        let mut commits = BTreeSet::new();
        for kind in ["builds", "runs"] {
            let paths = self.attempts(kind)?.into_iter().filter_map(|attempt| attempt.record);
            let records = paths.filter_map(|path| read_json::<OfCommit>(&path));
            commits.extend(records.map(|record| record.commit));
        }
        Ok(commits)
    }

    /// Whether a hunt has confirmed a first bad commit.
    pub(crate) fn has_confirmations(&self) -> Result<bool, StoreError> {
        Ok(!record_files(&self.root().join("confirmations"))?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Confirmation;
    use crate::store::record_files::publish_record;

    #[test]
    fn a_record_of_a_build_or_a_run_names_its_commit() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        assert_eq!(store.recorded_commits().unwrap(), BTreeSet::new());
        let commits = ["1", "2"].map(|digit| digit.repeat(40));
        for (kind, commit) in ["builds", "runs"].into_iter().zip(&commits) {
            let path = store.root().join(kind).join("ab/abcd/1-2-3.json");
            let record = serde_json::json!({ "attempt": "1-2-3", "commit": commit });
            publish_record(&path, &record).unwrap();
        }
        let expected: BTreeSet<CommitId> =
            commits.iter().map(|commit| commit.parse().unwrap()).collect();
        assert_eq!(store.recorded_commits().unwrap(), expected);
    }

    #[test]
    fn a_confirmation_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        assert!(!store.has_confirmations().unwrap());
        let (hunt, date) = ("h".to_owned(), String::new());
        store.put_confirmation("key", &Confirmation { hunt, date, attempts: Vec::new() }).unwrap();
        assert!(store.has_confirmations().unwrap());
    }
}
