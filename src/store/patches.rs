//! Patches that hunts apply to commits, stored by content: the original file may change or vanish
//! during the hunt.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::{Store, StoreError, key::hex, publish};

impl Store {
    /// Stores a patch; returns the SHA-256 of its content.
    pub(crate) fn keep_patch(&self, content: &[u8]) -> Result<String, StoreError> {
        let digest = hex(&Sha256::digest(content));
        let path = self.patch(&digest);
        if !path.exists() {
            publish(&path, content)?;
        }
        Ok(digest)
    }

    /// Path of a stored patch.
    pub(crate) fn patch(&self, digest: &str) -> PathBuf {
        self.root().join("patches").join(format!("{digest}.diff"))
    }
}
