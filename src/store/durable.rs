//! Durable writes: a file is complete or absent, whatever kills the process.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

use crate::files;
use crate::process::compress_log;

use super::StoreError;

/// Writes `bytes` to a temporary file, syncs it, renames it to `path`, and syncs the folder.
/// Creates the folder if needed.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut file = temporary_in(make_parent(path)?, path)?;
    // Through `file`, every error would name the temporary file.
    file.as_file_mut().write_all(bytes).map_err(StoreError::at(path))?;
    file.as_file().sync_all().map_err(StoreError::at(path))?;
    publish_temporary(file, path)
}

/// Replaces a file that need not survive a power cut: a reader sees the old content or the new one,
/// never a part of it. Only one process may replace the file. `modified`: the time that the file
/// gets, if it is not now.
pub(crate) fn replace(path: &Path, bytes: &[u8], modified: Option<SystemTime>) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let mut file = files::create(Path::new(&temporary))?;
    file.write_all(bytes)?;
    if let Some(modified) = modified {
        file.set_modified(modified)?;
    }
    fs::rename(temporary, path)
}

/// A temporary file in the folder. An error names `path`, for which the file is meant.
pub(super) fn temporary_in(
    folder: &Path,
    path: &Path,
) -> Result<tempfile::NamedTempFile, StoreError> {
    tempfile::Builder::new()
        .prefix(".tmp-")
        // The umask decides, as for any other file, so that colleagues can read the store.
        .permissions(PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| {
            let known = error.raw_os_error().is_some();
            StoreError::at(path)(if known { error } else { error.kind().into() })
        })
}

/// Moves a synced temporary file to `path` on the same file system.
pub(super) fn publish_temporary(
    file: tempfile::NamedTempFile,
    path: &Path,
) -> Result<(), StoreError> {
    let folder = make_parent(path)?;
    file.persist(path).map_err(|e| StoreError::Io { path: path.to_owned(), source: e.error })?;
    sync_folder(folder)
}

/// Moves a finished, synced file to `path` on the same file system.
pub(crate) fn publish_file(from: &Path, path: &Path) -> Result<(), StoreError> {
    let folder = make_parent(path)?;
    fs::rename(from, path).map_err(StoreError::at(path))?;
    sync_folder(folder)
}

/// Moves a finished, synced log to `path` on the same file system, compressed if it is long.
pub(crate) fn publish_log(from: &Path, path: &Path) -> Result<(), StoreError> {
    compress_log(from).map_err(StoreError::at(from))?;
    publish_file(from, path)
}

fn make_parent(path: &Path) -> Result<&Path, StoreError> {
    let folder = path.parent().expect("a record's path has a folder");
    fs::create_dir_all(folder).map_err(StoreError::at(folder))?;
    Ok(folder)
}

/// Syncs a folder, so that a rename in it survives a power cut. Some network disks refuse to sync a
/// folder; there the rename must be enough.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let handle = File::open(folder).map_err(StoreError::at(folder))?;
    match handle.sync_all() {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        Err(source) => Err(StoreError::Io { path: folder.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_replaced_file_is_whole_and_as_old_as_it_should_be() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        // What a killed process left.
        fs::write(folder.path().join("page.html.new"), "a long rest of a page").unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        replace(&file, b"one", Some(modified)).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"one");
        assert_eq!(file.metadata().unwrap().modified().unwrap(), modified);
        replace(&file, b"two", None).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert!(file.metadata().unwrap().modified().unwrap() > modified);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
