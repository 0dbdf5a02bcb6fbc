//! Confirmations: which runs confirmed a first bad commit against its parents, so that a later
//! hunt that ends at the same pair need not measure it again.

use serde::{Deserialize, Serialize};

use super::{Store, StoreError, publish};

/// A confirmation that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// The hunt that made it.
    pub hunt: String,
    /// When (RFC 3339, UTC).
    pub date: String,
    /// The attempts that count, of the first bad commit and of its parents.
    pub attempts: Vec<String>,
}

impl Store {
    /// Keeps a confirmation under a key that names everything its runs depended on.
    pub fn put_confirmation(&self, key: &str, made: &Confirmation) -> Result<(), StoreError> {
        let path = self.root().join("confirmations").join(format!("{key}.json"));
        publish(&path, &serde_json::to_vec_pretty(made).expect("a record is plain data"))
    }

    /// The confirmation under that key, if one was made that can be read.
    pub fn confirmation(&self, key: &str) -> Result<Option<Confirmation>, StoreError> {
        let path = self.root().join("confirmations").join(format!("{key}.json"));
        self.record(&path, "the confirmation")
    }
}
