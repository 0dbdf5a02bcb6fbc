//! Files and folders of slots that cannot be written or removed.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::files;

/// A slot that cannot be used; never the commit's fault.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(crate) struct SlotError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

impl SlotError {
    pub(super) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { path, source }
    }
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), SlotError> {
    let written = files::create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(SlotError::at(path))
}

/// Removes the files in a folder that a killed process had not finished.
pub(super) fn remove_unfinished(folder: &Path) -> Result<(), SlotError> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".tmp-") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file, a link, or a folder with all its content, if it exists.
pub(super) fn remove(path: &Path) -> Result<(), SlotError> {
    files::remove_all(path).map_err(SlotError::at(path))
}
