//! The lock of the whole store: many processes may measure at once, and nobody removes data
//! meanwhile.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::files;

use super::StoreError;

/// The lock, held while this value lives; the system frees it when the process dies.
#[derive(Debug)]
pub(super) struct InUse(#[expect(dead_code, reason = "held, never read")] File);

impl InUse {
    /// Takes the shared lock for measuring. Waits for a removal to end, which takes little time.
    pub(super) fn shared(root: &Path) -> Result<Self, StoreError> {
        let path = root.join("in-use");
        let file = open(&path)?;
        match file.lock_shared() {
            // On a disk without locks `exclusive` fails, so nothing is removed there.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            result => result.map_err(StoreError::at(&path))?,
        }
        Ok(Self(file))
    }

    /// Takes the exclusive lock for removal; `None` if another process holds the lock.
    pub(super) fn exclusive(root: &Path) -> Result<Option<Self>, StoreError> {
        let path = root.join("in-use");
        let lock = files::try_lock_file(&path).map_err(StoreError::at(&path))?;
        Ok(lock.map(Self))
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    files::lock_file(path).map_err(StoreError::at(path))
}
