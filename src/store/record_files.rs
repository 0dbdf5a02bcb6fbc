//! The files of records: their names, and their content as JSON.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::files;

use super::StoreError;

/// A unique name for an attempt: time in microseconds, process, and a counter.
pub(crate) fn attempt_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let now = jiff::Timestamp::now();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:x}-{count}", now.as_microsecond(), std::process::id())
}

/// Reads a file; `None` if it is missing or is no regular file. Such a file is as good as missing:
/// no file of the store is a link or a FIFO.
pub(super) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    const ABSENT: [ErrorKind; 3] =
        [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidData];
    match files::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if ABSENT.contains(&error.kind()) => Ok(None),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

/// Reads a JSON record.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let bytes = files::read(path).map_err(StoreError::at(path))?;
    serde_json::from_slice(&bytes)
        .map_err(|e| StoreError::Corrupt { path: path.to_owned(), reason: e.to_string() })
}

/// The paths of all `*.json` files in a folder, sorted by name, so oldest first. A missing folder
/// is empty.
pub(super) fn record_files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(Vec::new());
        }
        Err(source) => return Err(StoreError::Io { path: folder.to_owned(), source }),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::at(folder))?.path();
        if path.extension().is_some_and(|e| e == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
