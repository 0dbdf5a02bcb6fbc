//! The files of records: their names, and their content as JSON.

use std::path::{Path, PathBuf};

use super::StoreError;

/// A unique name for an attempt: time in microseconds, process, and a counter.
pub(crate) fn attempt_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let now = jiff::Timestamp::now();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:x}-{count}", now.as_microsecond(), std::process::id())
}

/// Reads a JSON record.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let bytes = std::fs::read(path).map_err(StoreError::at(path))?;
    serde_json::from_slice(&bytes)
        .map_err(|e| StoreError::Corrupt { path: path.to_owned(), reason: e.to_string() })
}

/// The paths of all `*.json` files in a folder, sorted by name, so oldest first. A missing folder
/// is empty.
pub(super) fn record_files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
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
