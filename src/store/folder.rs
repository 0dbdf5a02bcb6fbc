//! The folder of the store, as one process has opened it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evidence::IntegrityCache;
use super::in_use::InUse;
use super::{FORMAT, StoreError, publish};

/// The store of one repository.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(super) root: PathBuf,
    /// The lock of a measuring process, so that nobody removes data meanwhile; `None` in a store
    /// that was opened for reading.
    pub(super) in_use: Option<Arc<InUse>>,
    /// What this process found out about the records.
    pub(super) evidence: Arc<IntegrityCache>,
}

impl Store {
    /// Opens the store in a repository's common git directory for reading. Creates nothing; a
    /// missing store is empty.
    pub(crate) fn open(common_dir: &Path) -> Result<Self, StoreError> {
        let root = common_dir.join("bisect-ppl");
        let format = root.join("format");
        match std::fs::read_to_string(&format) {
            Ok(text) if text.trim() == FORMAT.to_string() => {}
            Ok(text) => {
                return Err(StoreError::Newer { path: root, found: text.trim().to_owned() });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::Io { path: format, source }),
        }
        Ok(Self { root, in_use: None, evidence: Arc::default() })
    }

    /// Opens the store for measuring and creates it if needed. Nobody removes anything from it
    /// while this value or a clone of it lives.
    pub(crate) fn open_to_measure(common_dir: &Path) -> Result<Self, StoreError> {
        let mut store = Self::open(common_dir)?;
        std::fs::create_dir_all(&store.root).map_err(StoreError::at(&store.root))?;
        let format = store.root.join("format");
        if !format.exists() {
            publish(&format, format!("{FORMAT}\n").as_bytes())?;
        }
        store.in_use = Some(Arc::new(InUse::shared(&store.root)?));
        Ok(store)
    }

    /// The store's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of one key: `kind/ab/abcdef…`.
    pub(super) fn keyed(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(&key[..2]).join(key)
    }
}
