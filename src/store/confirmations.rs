//! Stored confirmations: the runs that confirmed a first bad commit against its parents. A later
//! hunt with the same commit and parents reuses them.

use serde::{Deserialize, Serialize};

use super::{Store, StoreError, publish};

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
        publish(&path, &serde_json::to_vec_pretty(made).expect("a record is plain data"))
    }

    /// The confirmation under that key; `None` if there is none or it does not parse.
    pub(crate) fn confirmation(&self, key: &str) -> Result<Option<Confirmation>, StoreError> {
        let path = self.root().join("confirmations").join(format!("{key}.json"));
        self.record(&path, "the confirmation")
    }
}
