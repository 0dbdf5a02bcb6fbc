//! Writing so that a file is whole or not there, whatever kills us.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::StoreError;

/// Writes `bytes` to `path`: temporary name, sync, rename, sync of the folder. The folder is
/// made when it is not there.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = make_parent(path)?;
    let mut file = tempfile::Builder::new()
        .prefix(".tmp-")
        // As any other file: what the user's umask leaves of it, so that colleagues can read.
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
        // The name of the temporary file is nobody's business.
        .map_err(|error| {
            let known = error.raw_os_error().is_some();
            StoreError::at(path)(if known { error } else { error.kind().into() })
        })?;
    // Not through `file`, which would name itself in every error.
    file.as_file_mut().write_all(bytes).map_err(StoreError::at(path))?;
    file.as_file().sync_all().map_err(StoreError::at(path))?;
    file.persist(path).map_err(|e| StoreError::Io { path: path.to_owned(), source: e.error })?;
    sync_folder(folder)
}

/// Moves a finished, synced file to `path`, which must be on the same file system.
pub fn publish_file(from: &Path, path: &Path) -> Result<(), StoreError> {
    let folder = make_parent(path)?;
    fs::rename(from, path).map_err(StoreError::at(path))?;
    sync_folder(folder)
}

fn make_parent(path: &Path) -> Result<&Path, StoreError> {
    let folder = path.parent().expect("a record's path has a folder");
    fs::create_dir_all(folder).map_err(StoreError::at(folder))?;
    Ok(folder)
}

/// A rename survives a power cut only once the folder is synced. Some network disks refuse to
/// sync a folder; there the rename itself is durable.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let handle = File::open(folder).map_err(StoreError::at(folder))?;
    match handle.sync_all() {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        Err(source) => Err(StoreError::Io { path: folder.to_owned(), source }),
    }
}
