//! Where a bisect session of ours keeps its state, and where trees of ours are made: a bare
//! repository with references of its own and the user's objects.
//!
//! Not a worktree of the user's repository: `git bisect` writes references, for which git runs
//! that repository's `reference-transaction` hook whatever `core.hooksPath` says, and takes
//! the lock of its packed references, which a killed git leaves behind.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::command::Call;
use super::error::io_error;
use super::removal::{remove_all, remove_locks};
use super::{GitError, Repository};

/// A bare repository for one bisect session, or for trees of our own. Whoever holds it must hold
/// it alone: locks that git left in it are taken for those of a killed process.
#[derive(Debug)]
pub(super) struct BisectRepository {
    path: PathBuf,
    /// The user's place, where git stands while it runs.
    stands: PathBuf,
}

impl BisectRepository {
    /// Makes it at `path`, with HEAD at this commit, or takes up the one that is there.
    pub(super) fn open(
        repository: &Repository,
        path: &Path,
        commit: &CommitId,
    ) -> Result<Self, GitError> {
        let stands = repository.top().unwrap_or(repository.git_dir()).to_owned();
        let opened = Self { path: path.to_owned(), stands };
        // Written last: with it, everything is there.
        let head = path.join("HEAD");
        if head.exists() {
            remove_locks(path)?;
        } else {
            opened.make(repository)?;
            write(&head, format!("{commit}\n").as_bytes())?;
        }
        Ok(opened)
    }

    fn make(&self, repository: &Repository) -> Result<(), GitError> {
        remove_all(&self.path)?;
        for folder in ["refs", "objects/info"] {
            let folder = self.path.join(folder);
            fs::create_dir_all(&folder).map_err(io_error("make", &folder))?;
        }
        let common = repository.common_dir();
        let alternates = self.path.join("objects/info/alternates");
        write(&alternates, &alternates_line(&common.join("objects")))?;
        write(&self.path.join("config"), &settings(repository)?)?;
        // Where history was cut off stays in one place: it moves when the user fetches more.
        let shallow = self.path.join("shallow");
        std::os::unix::fs::symlink(common.join("shallow"), &shallow)
            .map_err(io_error("make", &shallow))
    }

    /// The git folder.
    pub(super) fn git_dir(&self) -> &Path {
        &self.path
    }

    /// Git on it, standing where the user stands: what git starts finds their repository.
    pub(super) fn call(&self) -> Call {
        Call::on(&self.path).standing_in(&self.stands)
    }

    /// Removes it; without one nothing happens.
    pub(super) fn remove(path: &Path) -> Result<(), GitError> {
        remove_all(path)
    }
}

/// Its configuration. Only where git has to fetch what is missing (a partial clone) does it
/// need to know what the user's says of remotes.
fn settings(repository: &Repository) -> Result<Vec<u8>, GitError> {
    let promises = r"^(remote\..*\.promisor|extensions\.partialclone)$";
    let said = repository.shared_call().args(["config", "--get-regexp", promises]).run()?.stdout;
    let mut text = Vec::new();
    if !said.is_empty() {
        let config = repository.common_dir().join("config");
        text.extend(b"[include]\n\tpath = ");
        text.extend(quoted(config.as_os_str().as_bytes()));
        text.push(b'\n');
    }
    // What is included cannot set an extension.
    let mut lines = said.split(|byte| *byte == b'\n');
    if let Some(name) = lines.find_map(|line| line.strip_prefix(b"extensions.partialclone ")) {
        text.extend(b"[extensions]\n\tpartialClone = ");
        text.extend(quoted(name));
        text.push(b'\n');
    }
    text.extend(b"[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n");
    text.extend(b"\tlogAllRefUpdates = false\n");
    Ok(text)
}

/// A folder of objects as a line of `objects/info/alternates`, where a path is quoted only if
/// it must be.
fn alternates_line(objects: &Path) -> Vec<u8> {
    let bytes = objects.as_os_str().as_bytes();
    let mut line = if bytes.contains(&b'\n') { quoted(bytes) } else { bytes.to_vec() };
    line.push(b'\n');
    line
}

/// In double quotes, as both git's configuration and its lists of paths read them.
pub(super) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for byte in bytes {
        match byte {
            b'\n' => quoted.extend(b"\\n"),
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            _ => quoted.push(*byte),
        }
    }
    quoted.push(b'"');
    quoted
}

fn write(file: &Path, content: &[u8]) -> Result<(), GitError> {
    fs::write(file, content).map_err(io_error("write", file))
}
