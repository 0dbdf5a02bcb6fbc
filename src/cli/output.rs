//! `-o FILE`: writes output to a file that the user names.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::anyhow;

use crate::store::{StoreError, publish};

use super::Failed;

/// Writes a file atomically. An existing pipe, device or symbolic link is written to in place, so
/// that no plain file replaces it. A missing folder is an error: it is more likely misspelt.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failed> {
    let bytes = text.as_ref();
    let path = std::path::absolute(path).map_err(|error| failed(path, error))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        let error =
            anyhow!("cannot write {}: there is no folder {}", path.display(), folder.display());
        let cure = format!("make it (mkdir -p {}), or correct the path", folder.display());
        return Err(Failed::usage(error, Some(cure)));
    }
    let result = match std::fs::symlink_metadata(&path) {
        Ok(_) if path.is_dir() => {
            let error = anyhow!("cannot write {}: it is a folder", path.display());
            return Err(Failed::usage(error, Some("name a file in it".to_owned())));
        }
        Ok(meta) if !meta.is_file() => std::fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&path)
            .and_then(|mut file| file.write_all(bytes)),
        _ => publish(&path, bytes).map_err(|error| match error {
            StoreError::Io { source, .. } => source,
            other => std::io::Error::other(other),
        }),
    };
    result.map_err(|error| failed(&path, error))
}

fn failed(path: &Path, error: std::io::Error) -> Failed {
    // Some errors name a temporary file, which the user does not know: keep only their kind.
    let error = if error.raw_os_error().is_some() { error } else { error.kind().into() };
    let cure = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space there, or name another place"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a place that you may write to"
        }
        _ => "name another place",
    };
    let error = anyhow::Error::new(error).context(format!("cannot write {}", path.display()));
    Failed::world(error, Some(cure.to_owned()))
}
