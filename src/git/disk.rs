//! What the disk does on which commits are checked out. A repository's configuration tells that of
//! the disk it was made on, which may be another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::folding::is_folded;

/// The owner's right to execute a file, of which git keeps track.
const EXECUTABLE: u32 = 0o100;

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disk {
    /// Whether it takes names that differ only in case for one.
    pub(super) folds_case: bool,
    /// Whether a file can be made executable and not; `None` where that was not found out.
    pub(super) keeps_modes: Option<bool>,
}

impl Disk {
    /// The disk of this file, which is ours alone and of no use to anybody while it is looked at.
    pub(super) fn of(file: &Path) -> Self {
        Self { folds_case: is_folded(file), keeps_modes: keeps_modes(file) }
    }

    /// What git is to know of it.
    pub(super) fn settings(self) -> impl Iterator<Item = String> + use<> {
        let case = format!("core.ignoreCase={}", self.folds_case);
        let modes = self.keeps_modes.map(|keeps| format!("core.fileMode={keeps}"));
        std::iter::once(case).chain(modes)
    }
}

/// Whether the other mode stays, once it is set.
fn keeps_modes(file: &Path) -> Option<bool> {
    let before = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?.permissions();
    let mode = || fs::symlink_metadata(file).ok().map(|about| about.permissions().mode());
    let other = before.mode() ^ EXECUTABLE;
    let is_set = fs::set_permissions(file, PermissionsExt::from_mode(other)).is_ok();
    let keeps = is_set && mode()? & EXECUTABLE == other & EXECUTABLE;
    // A file of ours works with either.
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
