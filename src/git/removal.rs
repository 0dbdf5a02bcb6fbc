//! Removes leftovers of killed processes and builds from our own folders.

use std::fs;
use std::io;
use std::path::Path;

use crate::files;

use super::GitError;
use super::error::io_error;

/// Removes the locks of a killed git from a git folder and those of its submodules.
pub(super) fn remove_locks(git_dir: &Path) -> Result<(), GitError> {
    let Ok(entries) = fs::read_dir(git_dir) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name() != "objects" {
                remove_locks(&path)?;
            }
        } else if path.extension().is_some_and(|end| end == "lock") {
            fs::remove_file(&path).or_else(absent_is_fine).map_err(io_error("remove", &path))?;
        }
    }
    Ok(())
}

/// Removes a file, a link (not its target), or a folder with all its content, if it exists.
pub(super) fn remove_all(path: &Path) -> Result<(), GitError> {
    files::remove_all(path).map_err(io_error("remove", path))
}

pub(super) fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
