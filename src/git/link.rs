//! Links ignored files and folders of the user's checkout into a worktree.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::error::io_error;
use super::submodules::is_plain;
use super::{GitError, Worktree};

impl Worktree {
    /// Links each of `names` (relative paths such as `.venv`) to the same path in `source_root`,
    /// the user's checkout. Call this after each checkout, which removes the links, since no
    /// commit tracks them. A path that the commit tracks is left alone. Returns the names that
    /// were linked.
    pub(crate) fn link(
        &self,
        source_root: &Path,
        names: &[String],
    ) -> Result<Vec<String>, GitError> {
        let mut linked = Vec::new();
        for name in names {
            if self.link_one(source_root, name)? {
                linked.push(name.clone());
            }
        }
        Ok(linked)
    }

    fn link_one(&self, source_root: &Path, name: &str) -> Result<bool, GitError> {
        let source_path = check_link(source_root, name)?;
        let relative = Path::new(name.trim_end_matches('/'));
        // `:(literal)`: a name may hold git's wildcards.
        let tracked = self.call().args(["ls-files", "-z", "--"]);
        let mut pathspec = std::ffi::OsString::from(":(top,literal)");
        pathspec.push(relative);
        if !tracked.arg(pathspec).ok()?.stdout.is_empty() {
            return Ok(false);
        }
        let target = self.path().join(relative);
        let folder = target.parent().unwrap_or(self.path());
        // A tree may hold links to folders; the target must stay inside the worktree.
        let there = folder.ancestors().find(|f| f.symlink_metadata().is_ok()).unwrap_or(folder);
        let real = there.canonicalize().map_err(io_error("find", there))?;
        if !real.starts_with(self.path()) {
            return Err(GitError::LinkBlocked(there.to_owned()));
        }
        fs::create_dir_all(folder).map_err(io_error("make", folder))?;
        match target.symlink_metadata() {
            Ok(there) if there.is_symlink() => {
                fs::remove_file(&target).map_err(io_error("remove", &target))?;
            }
            Ok(_) => return Err(GitError::LinkBlocked(target)),
            Err(_) => {}
        }
        symlink(&source_path, &target).map_err(io_error("link", &target))?;
        Ok(true)
    }
}

/// The file or folder in `source_root`, the user's checkout, for a name of `[worktree] link`.
pub(crate) fn check_link(source_root: &Path, name: &str) -> Result<PathBuf, GitError> {
    let relative = Path::new(name.trim_end_matches('/'));
    if !is_plain(relative) || relative.starts_with(".git") {
        return Err(GitError::LinkName(name.to_owned()));
    }
    let source_path = source_root.join(relative);
    if !source_path.exists() {
        return Err(GitError::LinkSourceMissing { name: name.to_owned(), source_path });
    }
    Ok(source_path)
}

#[cfg(test)]
mod tests;
