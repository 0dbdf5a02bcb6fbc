//! Build setups (how a build was configured), stored by content: most builds of a hunt share one.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::evaluation::Setup;

use super::record_files::read_if_there;
use super::{Damage, Store, StoreError, key::hex, publish};

impl Store {
    /// Stores a setup; returns the SHA-256 of its content, or `None` for an empty setup.
    pub(crate) fn keep_setup(&self, setup: &Setup) -> Result<Option<String>, StoreError> {
        if setup.is_empty() {
            return Ok(None);
        }
        let content = serde_json::to_vec(setup).expect("a setup is plain data");
        let digest = hex(&Sha256::digest(&content));
        let path = self.setup_path(&digest);
        if !path.exists() {
            publish(&path, &content)?;
        }
        Ok(Some(digest))
    }

    /// A stored setup; `None` if it was removed or is damaged.
    pub(crate) fn setup(&self, digest: &str) -> Result<Option<Setup>, StoreError> {
        let path = self.setup_path(digest);
        let is_changed = |bytes: &[u8]| hex(&Sha256::digest(bytes)) != digest;
        if read_if_there(&path)?.is_some_and(|bytes| is_changed(&bytes)) {
            self.set_aside(&path, format!("a build's setup {digest}"), Damage::Changed);
            return Ok(None);
        }
        Ok(self.record(&path, "a build's setup"))
    }

    pub(super) fn setups_folder(&self) -> PathBuf {
        self.root().join("setups")
    }

    fn setup_path(&self, digest: &str) -> PathBuf {
        self.setups_folder().join(format!("{digest}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_several_builds_share_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let mut setup = Setup::default();
        assert_eq!(store.keep_setup(&setup).unwrap(), None);
        setup.files.add("a.c", vec!["cc".to_owned()]);
        let digest = store.keep_setup(&setup).unwrap().unwrap();
        assert_eq!(store.keep_setup(&setup).unwrap().as_ref(), Some(&digest));
        assert_eq!(store.setup(&digest).unwrap(), Some(setup));
        assert_eq!(std::fs::read_dir(store.setups_folder()).unwrap().count(), 1);
        assert_eq!(store.setup("none").unwrap(), None);
    }
}
