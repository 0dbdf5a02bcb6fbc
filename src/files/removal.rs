//! Removes files and folders of this program that tools may have made read-only.

use std::fs;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a file, a link (not its target), or a folder with all its content, if it exists. A folder
/// that its owner may not change becomes writable first.
pub(crate) fn remove_all(path: &Path) -> Result<()> {
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    let remove = || {
        if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    };
    let removed = remove().or_else(|_| {
        make_writable(path);
        remove()
    });
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Gives the owner the right to empty this folder and all below, as far as possible.
pub(crate) fn make_writable(folder: &Path) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_write_permission_is_removed() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("a");
        fs::create_dir_all(folder.join("b")).unwrap();
        fs::write(folder.join("b/c"), "x").unwrap();
        fs::set_permissions(folder.join("b"), fs::Permissions::from_mode(0o500)).unwrap();
        remove_all(&folder).unwrap();
        assert!(!folder.exists());
        remove_all(&folder).unwrap();
    }
}
