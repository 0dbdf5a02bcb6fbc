//! Patches that hunts apply to commits, by their content: the file they came from may change or
//! go while the hunt goes on.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::{Store, StoreError, key::hex, publish};

impl Store {
    /// Keeps a patch, and returns the digest of its content.
    pub fn keep_patch(&self, content: &[u8]) -> Result<String, StoreError> {
        let digest = hex(&Sha256::digest(content));
        let path = self.patch(&digest);
        if !path.exists() {
            publish(&path, content)?;
        }
        Ok(digest)
    }

    /// Where a patch lies that was kept.
    pub fn patch(&self, digest: &str) -> PathBuf {
        self.root().join("patches").join(format!("{digest}.diff"))
    }
}
