//! Removes files that git does not know from the git folder of one of our worktrees. A build or run
//! that keeps tables there (`git rev-parse --git-path NAME`) would find those of another commit.

use std::fs;
use std::path::Path;

use super::GitError;
use super::command::PRIVATE_INDEX;
use super::removal::remove_all;
use super::sparsity::GIVEN;

/// What git and this program keep in the git folder of a worktree.
const KNOWN: [&str; 14] = [
    "HEAD",
    "ORIG_HEAD",
    "commondir",
    "config.worktree",
    "gitdir",
    GIVEN,
    "index",
    PRIVATE_INDEX,
    "info",
    "lfs",
    "locked",
    "logs",
    "modules",
    "refs",
];

/// The beginning of the names that git's daemon for watching files has there.
const WATCHER: &str = "fsmonitor--daemon";

/// The only file in `info` of a worktree's own git folder.
const SPARSE: &str = "sparse-checkout";

/// Removes all files and folders that git does not know.
pub(super) fn remove_unknown_files(git_dir: &Path) -> Result<(), GitError> {
    remove_unless(git_dir, |name| KNOWN.contains(&name) || name.starts_with(WATCHER))?;
    remove_unless(&git_dir.join("info"), |name| name == SPARSE)
}

fn remove_unless(folder: &Path, is_known: impl Fn(&str) -> bool) -> Result<(), GitError> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(&is_known) {
            remove_all(&entry.path())?;
        }
    }
    Ok(())
}
