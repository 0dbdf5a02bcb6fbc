//! One lock for the whole store: many may measure at once, and nobody removes anything then.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use super::StoreError;

/// Held for as long as it lives; the system frees it when its process dies, however that is.
#[derive(Debug)]
pub(super) struct InUse(#[expect(dead_code, reason = "held, never read")] File);

impl InUse {
    /// For whoever measures: others may too. Waits for whoever tidies up, which is short.
    pub(super) fn shared(root: &Path) -> Result<Self, StoreError> {
        let path = root.join("in-use");
        let file = open(&path)?;
        match file.lock_shared() {
            // A disk without locks: nothing is tidied up there (see below).
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            result => result.map_err(StoreError::at(&path))?,
        }
        Ok(Self(file))
    }

    /// For whoever tidies up: alone, or not at all.
    pub(super) fn alone(root: &Path) -> Result<Option<Self>, StoreError> {
        let path = root.join("in-use");
        let file = open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path, source }),
        }
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    options.open(path).map_err(StoreError::at(path))
}
