//! Stored confirmations: the runs that confirmed a first bad commit against its parents. A later
//! hunt with the same commit and parents reuses them.

use serde::{Deserialize, Serialize};

use super::record_files::publish_record;
use super::{Store, StoreError};

/// A stored confirmation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Confirmation {
    /// The hunt that made it.
    pub hunt: String,
    /// When it was stored (RFC 3339, UTC).
    pub date: String,
    /// Names of the attempts behind the confirmation, of the first bad commit and its parents.
    pub attempts: Vec<String>,
}

impl Store {
    /// Stores a confirmation under a key of everything its runs depend on.
    pub(crate) fn put_confirmation(
        &self,
        key: &str,
        made: &Confirmation,
    ) -> Result<(), StoreError> {
        let path = self.root().join("confirmations").join(format!("{key}.json"));
        publish_record(&path, made)
    }

    /// The confirmation under that key; `None` if there is none or it is damaged.
    pub(crate) fn confirmation(&self, key: &str) -> Option<Confirmation> {
        let path = self.root().join("confirmations").join(format!("{key}.json"));
        self.record(&path, "the confirmation")
    }
}
