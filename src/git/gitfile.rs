//! The `.git` file of a linked worktree or a submodule, which names its git folder (git calls it a
//! gitfile).

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::GitError;
use super::error::io_error;
use super::raw_path::os;

/// The folder that a `.git` file names, with links resolved.
pub(super) fn read_link(file: &Path) -> Option<PathBuf> {
    link_target(file)?.canonicalize().ok()
}

/// The folder that a `.git` file names, as written there. It may not exist.
pub(super) fn link_target(file: &Path) -> Option<PathBuf> {
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = fs::read(file).ok()?;
    let target = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(file.parent()?.join(os(target)))
}

/// The `.git` file that git's entry of a worktree names: an absolute path, or one relative to the
/// entry.
pub(super) fn read_back_link(entry: &Path) -> Option<PathBuf> {
    let back = fs::read(entry.join("gitdir")).ok()?;
    Some(entry.join(os(back.trim_ascii_end())))
}

/// Writes into git's entry of a worktree where the worktree's `.git` file is.
pub(super) fn write_back_link(entry: &Path, link: &Path) -> io::Result<()> {
    fs::write(entry.join("gitdir"), [link.as_os_str().as_bytes(), b"\n"].concat())
}

/// Writes a `.git` file.
pub(super) fn write_link(file: &Path, git_dir: &Path) -> Result<(), GitError> {
    let text = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
    fs::write(file, text).map_err(io_error("write", file))
}
