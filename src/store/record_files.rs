//! The files of records: their names, and their content as JSON with a digest of itself.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files;

use super::json_digest::{is_unchanged, with_digest};
use super::{StoreError, publish};

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
    if_there(path, files::read(path))
}

/// The result of opening or reading the file at `path`; `None` if there is no such file.
pub(super) fn if_there<T>(path: &Path, got: std::io::Result<T>) -> Result<Option<T>, StoreError> {
    const ABSENT: [ErrorKind; 3] =
        [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidData];
    match got {
        Ok(got) => Ok(Some(got)),
        Err(error) if ABSENT.contains(&error.kind()) => Ok(None),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

/// Writes a record with a digest of itself, durably.
pub(super) fn publish_record(path: &Path, record: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_vec_pretty(record).expect("a record is plain data");
    publish(path, &with_digest(&text))
}

/// Why the content of a record does not count.
pub(super) enum Unusable {
    /// It is no record.
    Unreadable(String),
    /// Its digest differs.
    Changed,
}

/// Parses a record and checks its digest.
pub(super) fn parse_record<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Unusable> {
    if !is_unchanged(bytes) {
        return Err(Unusable::Changed);
    }
    serde_json::from_slice(bytes).map_err(|error| Unusable::Unreadable(error.to_string()))
}

/// Reads a record; `None` if it is missing or damaged. Damage is not reported.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
    parse_record(&files::read(path).ok()?).ok()
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
