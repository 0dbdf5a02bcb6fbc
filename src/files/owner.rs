//! Checks who owns a folder and who may write to it. Records in the store decide answers, and
//! programs in the cache are run, so no other user may be able to change them.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Right of all users to write.
const ALL_WRITE: u32 = 0o002;
/// In a folder with this bit, users may remove only their own files.
const STICKY: u32 = 0o1000;

/// A folder that other users can change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SharedFolder {
    /// It belongs to another user.
    #[error("{} belongs to another user (uid {owner}), who can change what is in it", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// All users may write to it.
    #[error("{} can be written to by all users, who can change what is in it", path.display())]
    Open {
        /// The folder.
        path: PathBuf,
    },
}

impl SharedFolder {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Foreign { path, .. } => format!(
                "use a folder of your own (`dir` under [worktree], XDG_CACHE_HOME); or, if you \
                 trust what is in it: chown -R \"$(id -u)\" {}",
                path.display()
            ),
            Self::Open { path } => {
                format!("if you trust what is in it: chmod o-w {}", path.display())
            }
        }
    }
}

/// Checks that a folder belongs to this user, to root, or to `trusted` (a uid), and that not all
/// users may write to it. A missing folder passes.
///
/// On a disk without permissions, every folder can be written to by all users, and passes. Such a
/// disk is recognised by the parent folder: all users may write to it, and it has no sticky bit.
pub(crate) fn check_own(folder: &Path, trusted: Option<u32>) -> Result<(), SharedFolder> {
    let Ok(meta) = std::fs::metadata(folder) else { return Ok(()) };
    let (path, owner) = (folder.to_owned(), meta.uid());
    let own = rustix::process::geteuid().as_raw();
    if owner != own && owner != 0 && Some(owner) != trusted {
        return Err(SharedFolder::Foreign { path, owner });
    }
    let around = folder.parent().and_then(|around| std::fs::metadata(around).ok());
    let has_no_permissions =
        around.is_some_and(|around| around.mode() & (ALL_WRITE | STICKY) == ALL_WRITE);
    if meta.mode() & ALL_WRITE != 0 && !has_no_permissions {
        return Err(SharedFolder::Open { path });
    }
    Ok(())
}

/// The owner of a file or a folder (a uid), if it can be read.
pub(crate) fn owner(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|meta| meta.uid())
}

/// Creates a folder and the missing ones above it. Not all users may write to them, whatever the
/// umask is.
pub(crate) fn make_own(folder: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o775).create(folder)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn set(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_change_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("store");
        check_own(&folder, None).unwrap();
        make_own(&folder).unwrap();
        for mode in [0o755, 0o700, 0o775] {
            set(&folder, mode);
            check_own(&folder, None).unwrap();
        }
        for (mode, around) in [(0o777, 0o755), (0o757, 0o1777), (0o1777, 0o700)] {
            set(&folder, mode);
            set(above.path(), around);
            let error = check_own(&folder, None).unwrap_err();
            assert!(matches!(error, SharedFolder::Open { .. }), "{mode:o}");
            assert!(error.hint().contains("chmod o-w"));
        }
        // A disk without permissions.
        set(above.path(), 0o777);
        check_own(&folder, None).unwrap();
    }

    #[test]
    fn a_folder_of_another_user_is_refused_unless_that_user_is_trusted() {
        let above = tempfile::tempdir().unwrap();
        // Only root may give a file away.
        if std::os::unix::fs::chown(above.path(), Some(65_534), None).is_err() {
            return;
        }
        let error = check_own(above.path(), None).unwrap_err();
        assert!(error.to_string().contains("another user (uid 65534)"), "{error}");
        check_own(above.path(), Some(65_534)).unwrap();
    }
}
