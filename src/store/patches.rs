//! Patches that hunts apply to commits, stored by content: the original file may change or vanish
//! during the hunt.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::record_files::read_if_there;
use super::{HuntDir, Store, StoreError, key::hex, publish};

impl Store {
    /// Stores a patch; returns the SHA-256 of its content.
    pub(crate) fn keep_patch(&self, content: &[u8]) -> Result<String, StoreError> {
        let digest = patch_digest(content);
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

/// The name under which the store keeps a patch: the SHA-256 of its content.
pub(crate) fn patch_digest(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

impl HuntDir {
    /// The content of a patch in the store of this hunt; `None` if it is missing, or is not what
    /// its name says.
    pub(crate) fn patch(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(root) = self.path().ancestors().nth(2) else { return Ok(None) };
        let path = root.join("patches").join(format!("{digest}.diff"));
        Ok(read_if_there(&path)?.filter(|bytes| patch_digest(bytes) == digest))
    }
}
