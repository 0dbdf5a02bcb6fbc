//! The reference runs of a hunt: their commit, and the runs found so far.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::evaluation::CommitId;
use crate::store::{RunKey, StoredRun};

/// The commit whose oldest usable run of a measure is the reference, and the references found.
#[derive(Debug, Default)]
pub(crate) struct References {
    commit: Option<CommitId>,
    /// By run key.
    found: RefCell<BTreeMap<String, StoredRun>>,
}

impl References {
    /// References are runs of this commit.
    pub(crate) fn at(commit: Option<CommitId>) -> Self {
        Self { commit, ..Self::default() }
    }

    /// The commit of the references.
    pub(super) fn commit(&self) -> Option<&CommitId> {
        self.commit.as_ref()
    }

    /// The known reference of a run key.
    pub(super) fn found(&self, key: &RunKey) -> Option<StoredRun> {
        self.found.borrow().get(key.as_str()).cloned()
    }

    /// Remembers a reference.
    pub(super) fn keep(&self, key: &RunKey, run: &StoredRun) {
        self.found.borrow_mut().insert(key.to_string(), run.clone());
    }

    /// Whether the references are runs of this commit.
    pub(super) fn is_at(&self, commit: &CommitId) -> bool {
        self.commit.as_ref() == Some(commit)
    }
}
