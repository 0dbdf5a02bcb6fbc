//! Properties of the disk where commits are checked out. A repository's configuration describes
//! the disk where the repository was made, which may be another disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The owner's execute permission, the only one that git tracks.
const EXECUTABLE: u32 = 0o100;

/// Properties of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disk {
    /// Whether the disk ignores case in names.
    pub(super) folds_case: bool,
    /// Whether the disk keeps the execute permission; `None` if the test was not possible.
    pub(super) keeps_modes: Option<bool>,
}

impl Disk {
    /// Tests the disk with this file. Nobody else may use the file meanwhile.
    pub(super) fn of(file: &Path) -> Self {
        Self { folds_case: is_folded(file), keeps_modes: keeps_modes(file) }
    }

    /// The properties as git settings.
    pub(super) fn settings(self) -> impl Iterator<Item = String> + use<> {
        let case = format!("core.ignoreCase={}", self.folds_case);
        let modes = self.keeps_modes.map(|keeps| format!("core.fileMode={keeps}"));
        std::iter::once(case).chain(modes)
    }
}

/// Whether the disk ignores case, tested with this existing file. No other file may have the same
/// name in another case.
pub(super) fn is_folded(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_ascii_uppercase();
    file.with_file_name(name).symlink_metadata().is_ok()
}

/// Changes the file's execute permission, checks that the change stays, and restores it.
fn keeps_modes(file: &Path) -> Option<bool> {
    let before = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?.permissions();
    let mode = || fs::symlink_metadata(file).ok().map(|about| about.permissions().mode());
    let other = before.mode() ^ EXECUTABLE;
    let is_set = fs::set_permissions(file, PermissionsExt::from_mode(other)).is_ok();
    let keeps = is_set && mode()? & EXECUTABLE == other & EXECUTABLE;
    // A failure does no harm: our file works with either permission.
    let _ = fs::set_permissions(file, before);
    Some(keeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_looked_at_and_left_as_it_was() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mode = || file.path().metadata().unwrap().permissions().mode();
        let before = mode();
        assert_eq!(Disk::of(file.path()).keeps_modes, Some(true));
        assert_eq!(mode(), before);
        assert_eq!(Disk::of(&file.path().with_extension("none")).keeps_modes, None);
    }
}
