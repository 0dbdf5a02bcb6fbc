//! The folder of the store, as one process has opened it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files;

use super::evidence::IntegrityCache;
use super::in_use::InUse;
use super::{FORMAT, StoreError, publish};

/// The folders of the store. None may be a link: what is written or removed there would lie
/// elsewhere.
const FOLDERS: [&str; 14] = [
    "runs",
    "builds",
    "controls",
    "confirmations",
    "patches",
    "setups",
    "dumps",
    "comparisons",
    "hunts",
    "pending",
    "trash",
    "verifications",
    "squeue",
    "in-flight",
];

/// The store of one repository.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(super) root: PathBuf,
    /// The lock of a measuring process, so that nobody removes data meanwhile; `None` in a store
    /// that was opened for reading.
    pub(super) in_use: Option<Arc<InUse>>,
    /// What this process found out about the records.
    pub(super) evidence: Arc<IntegrityCache>,
}

impl Store {
    /// Opens the store in a repository's common git directory for reading. Creates nothing; a
    /// missing store is empty. The store itself may be a link, to another disk for example; a
    /// folder in it may not ([`StoreError::Link`]).
    pub(crate) fn open(common_dir: &Path) -> Result<Self, StoreError> {
        let root = common_dir.join("bisect-ppl");
        let format = root.join("format");
        match files::read(&format) {
            Ok(text) if number(&text) == Some(FORMAT) => {}
            // A crash of the machine may leave an empty file. No version writes one.
            Ok(text) if text.is_empty() => {}
            Ok(text) if number(&text).is_none() => {
                return Err(StoreError::DamagedFormat { path: format });
            }
            Ok(text) => {
                let found = String::from_utf8_lossy(text.trim_ascii()).into_owned();
                return Err(StoreError::Newer { path: root, found });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::Io { path: format, source }),
        }
        for folder in FOLDERS {
            refuse_link(&root.join(folder))?;
        }
        Ok(Self { root, in_use: None, evidence: Arc::default() })
    }

    /// Opens the store for measuring and creates it if needed. Nobody removes anything from it
    /// while this value or a clone of it lives.
    pub(crate) fn open_to_measure(common_dir: &Path) -> Result<Self, StoreError> {
        let mut store = Self::open(common_dir)?;
        store.check_own(common_dir)?;
        files::make_own(&store.root).map_err(StoreError::at(&store.root))?;
        let format = store.root.join("format");
        if format.metadata().map_or(true, |file| file.len() == 0) {
            publish(&format, format!("{FORMAT}\n").as_bytes())?;
        }
        store.in_use = Some(Arc::new(InUse::shared(&store.root)?));
        Ok(store)
    }

    /// Checks that no other user can change the store. The owner of the git folder around it may:
    /// git itself refuses a repository whose owner the user does not trust.
    pub(crate) fn check_own(&self, common_dir: &Path) -> Result<(), StoreError> {
        files::check_own(&self.root, files::owner(common_dir)).map_err(StoreError::Shared)
    }

    /// Lets nobody but this user read the store: its logs and records may show secrets.
    pub(crate) fn make_private(&self) -> Result<(), StoreError> {
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&self.root, private).map_err(StoreError::at(&self.root))
    }

    /// The store's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of one key: `kind/ab/abcdef…`.
    pub(super) fn keyed(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(&key[..2]).join(key)
    }
}

/// The version in the file `format`.
fn number(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Fails if the path is a link.
pub(super) fn refuse_link(path: &Path) -> Result<(), StoreError> {
    let meta = std::fs::symlink_metadata(path);
    if meta.is_ok_and(|meta| meta.file_type().is_symlink()) {
        return Err(StoreError::Link { path: path.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_was_damaged_is_told_apart_from_a_newer_one() {
        let git = tempfile::tempdir().unwrap();
        let format = git.path().join("bisect-ppl/format");
        let version = || std::fs::read_to_string(&format).unwrap();
        Store::open_to_measure(git.path()).unwrap();
        assert_eq!(version(), "1\n");
        std::fs::write(&format, "").unwrap();
        Store::open(git.path()).unwrap();
        Store::open_to_measure(git.path()).unwrap();
        assert_eq!(version(), "1\n");
        std::fs::write(&format, b"\xb1\n").unwrap();
        let error = Store::open(git.path()).unwrap_err();
        assert!(matches!(error, StoreError::DamagedFormat { .. }), "{error}");
        let hint = error.hint().unwrap();
        assert!(hint.contains(&format!("echo 1 > {}", format.display())), "{hint}");
        std::fs::write(&format, "2\n").unwrap();
        let error = Store::open(git.path()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    }
}
