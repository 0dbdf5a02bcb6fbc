//! Removes leftovers of killed processes and builds from our own folders.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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

/// Removes a file, a link (not its target), or a folder with all its content.
pub(super) fn remove_all(path: &Path) -> Result<(), GitError> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    let remove = || {
        if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    };
    remove()
        .or_else(|_| {
            make_writable(path);
            remove()
        })
        .or_else(absent_is_fine)
        .map_err(io_error("remove", path))
}

/// Gives the owner the right to empty this folder and all below, as far as possible.
pub(super) fn make_writable(folder: &Path) {
    let Ok(metadata) = folder.symlink_metadata() else { return };
    if !metadata.is_dir() {
        return;
    }
    let mut permissions = metadata.permissions();
    permissions.set_mode(permissions.mode() | 0o700);
    // A failure shows up in the removal that follows.
    let _ = fs::set_permissions(folder, permissions);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        make_writable(&entry.path());
    }
}

pub(super) fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
