//! Bare repositories of our own, for bisect sessions and modified trees, with their own references
//! and the user's objects.
//!
//! A worktree of the user's repository does not work, because `git bisect` writes references. For
//! each of them, git runs the repository's `reference-transaction` hook, whatever `core.hooksPath`
//! says. Git also locks the packed references, and a killed git leaves that lock behind.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;

use super::command::Call;
use super::error::io_error;
use super::removal::{remove_all, remove_locks};
use super::{GitError, Repository};

/// A bare repository for one bisect session or for modified trees. The caller must be its only
/// user: git locks found in it count as leftovers of a killed process.
#[derive(Clone, Debug)]
pub(super) struct BisectRepository {
    path: PathBuf,
    /// The user's folder, the working folder of git.
    user_folder: PathBuf,
}

impl BisectRepository {
    /// Opens the repository at `path`, or creates it with HEAD at this commit.
    pub(super) fn open(
        repository: &Repository,
        path: &Path,
        commit: &CommitId,
    ) -> Result<Self, GitError> {
        let user_folder = repository.stands().to_owned();
        let opened = Self { path: path.to_owned(), user_folder };
        // HEAD is written last, so the repository is complete if HEAD exists.
        let head = path.join("HEAD");
        if head.exists() {
            remove_locks(path)?;
            opened.remove_planted(repository)?;
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
        self.write_own(repository)?;
        // A link, since the edge of a shallow clone moves when the user fetches more.
        let shallow = self.path.join("shallow");
        std::os::unix::fs::symlink(repository.common_dir().join("shallow"), &shallow)
            .map_err(io_error("make", &shallow))
    }

    /// Writes the configuration and the path of the user's objects. A file that is already right is
    /// not written again: git may be reading it.
    fn write_own(&self, repository: &Repository) -> Result<(), GitError> {
        let objects = alternates_line(&repository.common_dir().join("objects"));
        let own = [("objects/info/alternates", objects), ("config", settings(repository)?)];
        for (name, content) in own {
            let file = self.path.join(name);
            let is_plain = file.symlink_metadata().is_ok_and(|meta| meta.is_file());
            if !is_plain || fs::read(&file).ok().as_ref() != Some(&content) {
                remove_all(&file)?;
                write(&file, &content)?;
            }
        }
        Ok(())
    }

    /// Removes hooks and settings that are not ours, and restores our own. An engine or a build may
    /// have put them into this repository, and git would run or obey them.
    fn remove_planted(&self, repository: &Repository) -> Result<(), GitError> {
        for name in ["hooks", "config.worktree", "commondir", "info"] {
            remove_all(&self.path.join(name))?;
        }
        self.write_own(repository)
    }

    /// Lets git find the objects of another repository too.
    pub(super) fn add_objects(&self, objects: &Path) -> Result<(), GitError> {
        let file = self.path.join("objects/info/alternates");
        let lines = fs::read(&file).map_err(io_error("read", &file))?;
        let line = alternates_line(objects);
        if lines.split_inclusive(|byte| *byte == b'\n').any(|known| known == line) {
            return Ok(());
        }
        write(&file, &[lines, line].concat())
    }

    /// Makes git merge each text line by line in this repository, whatever `.gitattributes` or the
    /// user's settings say. The driver `union` would keep lines that a revert takes out.
    pub(super) fn merge_line_by_line(&self) -> Result<(), GitError> {
        let folder = self.path.join("info");
        fs::create_dir_all(&folder).map_err(io_error("make", &folder))?;
        write(&folder.join("attributes"), b"* merge\n")
    }

    /// The git folder.
    pub(super) fn git_dir(&self) -> &Path {
        &self.path
    }

    /// A git call on this repository in the user's folder, so that programs started by git find
    /// the user's repository.
    pub(super) fn call(&self) -> Call {
        Call::on(&self.path).standing_in(&self.user_folder)
    }

    /// Removes the repository at `path`, if there is one.
    pub(super) fn remove(path: &Path) -> Result<(), GitError> {
        remove_all(path)
    }
}

/// The repository's configuration. Includes the user's configuration only for a partial clone,
/// which needs the remotes to fetch missing objects.
fn settings(repository: &Repository) -> Result<Vec<u8>, GitError> {
    let said = if may_be_partial(repository) { promises(repository)? } else { Vec::new() };
    let mut text = Vec::new();
    if !said.is_empty() {
        let config = repository.common_dir().join("config");
        text.extend(b"[include]\n\tpath = ");
        text.extend(quoted(config.as_os_str().as_bytes()));
        text.push(b'\n');
    }
    // An included file cannot set an extension.
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

/// Whether the repository may be a partial clone. Git is asked only if its configuration has one of
/// these words or cannot be read: each oracle opens a session.
fn may_be_partial(repository: &Repository) -> bool {
    let words: [&[u8]; 4] = [b"promisor", b"partialclone", b"include", b"worktreeconfig"];
    let Ok(text) = fs::read(repository.common_dir().join("config")) else { return true };
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| text.windows(word.len()).any(|part| part == *word))
}

/// The settings of a partial clone, a line each; empty in another repository.
fn promises(repository: &Repository) -> Result<Vec<u8>, GitError> {
    let names = r"^(remote\..*\.promisor|extensions\.partialclone)$";
    Ok(repository.shared_call().args(["config", "--get-regexp", names]).run()?.stdout)
}

/// A line of `objects/info/alternates`; a path is quoted only if it must be.
fn alternates_line(objects: &Path) -> Vec<u8> {
    let bytes = objects.as_os_str().as_bytes();
    let mut line = if bytes.contains(&b'\n') { quoted(bytes) } else { bytes.to_vec() };
    line.push(b'\n');
    line
}

/// Quotes in double quotes, for git's configuration and its lists of paths.
fn quoted(bytes: &[u8]) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    #[test]
    fn git_is_asked_for_promises_only_where_there_may_be_some() {
        let (fixture, _) = Fixture::line(1);
        assert!(!may_be_partial(&fixture.repository()));
        let more = fixture.beside("more");
        let more = more.to_str().unwrap();
        for [name, value] in [
            ["remote.origin.promisor", "true"],
            ["extensions.partialClone", "origin"],
            ["includeIf.gitdir:/.path", more],
            ["extensions.worktreeConfig", "true"],
        ] {
            fixture.git(&["config", name, value]);
            assert!(may_be_partial(&fixture.repository()), "{name}");
            fixture.git(&["config", "--unset", name]);
        }
        assert!(!may_be_partial(&fixture.repository()));
    }
}
