//! The user's repository.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::evaluation::CommitId;

use super::answers::Answers;
use super::command::Call;
use super::error::io_error;
use super::raw_path::os;
use super::{GitError, GitVersion};

/// The installed git's version; an error if git is missing or too old.
pub(crate) fn git_version() -> Result<GitVersion, GitError> {
    let said = Call::new(Path::new("/")).arg("version").line()?;
    let version = GitVersion::parse(&said).ok_or(GitError::UnreadableVersion(said))?;
    if version < GitVersion::OLDEST { Err(GitError::TooOld(version)) } else { Ok(version) }
}

/// A supported repository, seen from the user's folder.
///
/// Holds only paths and git's answers, so it is cheap to clone and to share between threads. This
/// module never writes to the user's own worktree, index, HEAD, stash, or branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    top: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// What git said about this repository's commits.
    answers: Answers,
}

/// Git's answers about a folder.
struct Located {
    git_dir: PathBuf,
    /// May be relative.
    common_dir: PathBuf,
    format: String,
    top: Option<PathBuf>,
}

impl Repository {
    /// Finds the repository at or above `from`; an error if it is not supported, or if git is
    /// missing or too old.
    pub(crate) fn discover(from: &Path) -> Result<Self, GitError> {
        git_version()?;
        Self::discover_again(from)
    }

    /// As [`Self::discover`], for an oracle on the machine of its driver, which has checked git's
    /// version.
    pub(crate) fn discover_again(from: &Path) -> Result<Self, GitError> {
        let from = from.canonicalize().map_err(io_error("find", from))?;
        let asked = Self::ask(&from)?;
        // Relative to the folder where git ran; git 2.30 has no `--path-format=absolute`.
        let common_dir = from.join(asked.common_dir);
        let common_dir = common_dir.canonicalize().map_err(io_error("find", common_dir))?;
        if asked.format != "sha1" {
            return Err(GitError::Sha256(common_dir));
        }
        let Located { top, git_dir, .. } = asked;
        let repository = Self { top, git_dir, common_dir, answers: Answers::default() };
        repository.refuse_reftable()?;
        Ok(repository)
    }

    /// Asks git everything in one call. An oracle starts for every commit, and a git call costs
    /// more than all its other work.
    fn ask(from: &Path) -> Result<Located, GitError> {
        let call = Call::new(from).args(["rev-parse", "--absolute-git-dir", "--git-common-dir"]);
        let call = call.args(["--show-object-format", "--is-inside-work-tree", "--show-toplevel"]);
        let said = call.run()?.stdout;
        let lines: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
        match lines.as_slice() {
            [git_dir, common_dir, format, b"true", top, b""] => Ok(Located {
                git_dir: os(git_dir).into(),
                common_dir: os(common_dir).into(),
                format: String::from_utf8_lossy(format).into_owned(),
                top: Some(os(top).into()),
            }),
            // There is no worktree, a path holds a newline, or git reports an error.
            _ => Self::ask_one_by_one(from),
        }
    }

    fn ask_one_by_one(from: &Path) -> Result<Located, GitError> {
        let ask = |what: &str| Call::new(from).args(["rev-parse", what]);
        let git_dir = match ask("--absolute-git-dir").path() {
            Ok(path) => path,
            Err(GitError::Command { said, .. }) if said.contains("not a git repository") => {
                return Err(GitError::NotARepository(from.to_owned()));
            }
            // The message of a git before 2.45, which has no reftables.
            Err(GitError::Command { said, .. }) if said.contains("refstorage") => {
                return Err(GitError::Reftable(from.to_owned()));
            }
            Err(other) => return Err(other),
        };
        let is_inside = ask("--is-inside-work-tree").line()? == "true";
        Ok(Located {
            git_dir,
            common_dir: ask("--git-common-dir").path()?,
            format: ask("--show-object-format").line()?,
            top: if is_inside { Some(ask("--show-toplevel").path()?) } else { None },
        })
    }

    fn refuse_reftable(&self) -> Result<(), GitError> {
        // Extensions count only in this file. Git is asked only if the file mentions one or cannot
        // be read.
        let config = std::fs::read(self.common_dir.join("config"));
        let is_named =
            |text: &[u8]| text.to_ascii_lowercase().windows(10).any(|w| w == b"refstorage");
        if config.is_ok_and(|text| !is_named(&text)) {
            return Ok(());
        }
        let storage = self.call().args(["config", "--get", "extensions.refStorage"]).run()?.line();
        if storage.is_empty() || storage.eq_ignore_ascii_case("files") {
            Ok(())
        } else {
            Err(GitError::Reftable(self.common_dir.clone()))
        }
    }

    /// The repository with this submodule's git folder, seen from the user's folder.
    pub(crate) fn of_submodule(&self, git_dir: &Path) -> Result<Self, GitError> {
        let git_dir = git_dir.canonicalize().map_err(io_error("find", git_dir))?;
        let (top, common_dir) = (self.top.clone(), git_dir.clone());
        let repository = Self { top, git_dir, common_dir, answers: Answers::default() };
        repository.refuse_reftable()?;
        Ok(repository)
    }

    /// Top folder of the user's worktree; `None` in a bare repository or inside `.git`.
    pub(crate) fn top(&self) -> Option<&Path> {
        self.top.as_deref()
    }

    /// The working folder of programs that look for the repository: the top folder of the user's
    /// worktree, or the git folder if there is none.
    pub(crate) fn stands(&self) -> &Path {
        self.top().unwrap_or(self.git_dir())
    }

    /// The git folder of the user's worktree, absolute: `.git`, or `.git/worktrees/NAME` in a
    /// linked one.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git folder that all worktrees share (absolute, links resolved).
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Twelve hexadecimal digits for the names of cache folders. They depend only on the
    /// repository's path.
    pub(crate) fn id(&self) -> String {
        let digest = Sha256::digest(self.common_dir.as_os_str().as_bytes());
        digest.iter().take(6).fold(String::new(), |mut id, byte| {
            write!(id, "{byte:02x}").expect("writing to a string cannot fail");
            id
        })
    }

    /// The URL of the remote `origin`, as git uses it; `None` if there is no such remote.
    pub(crate) fn origin(&self) -> Result<Option<String>, GitError> {
        self.url_of("origin")
    }

    /// The URL of the first remote whose branches contain a commit; `None` without such a remote.
    pub(crate) fn remote_with(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let refs = ["for-each-ref", "--format=%(refname:lstrip=2)", "--contains"];
        let refs = self.shared_call().args(refs).args([commit.as_str(), "refs/remotes"]).run()?;
        let refs = String::from_utf8_lossy(&refs.stdout).into_owned();
        let names = self.shared_call().args(["remote"]).run()?;
        let names = String::from_utf8_lossy(&names.stdout).into_owned();
        let is_of = |branch: &str, name: &str| {
            branch.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
        };
        match names.lines().find(|name| refs.lines().any(|branch| is_of(branch, name))) {
            Some(name) => self.url_of(name),
            None => Ok(None),
        }
    }

    fn url_of(&self, remote: &str) -> Result<Option<String>, GitError> {
        let output = self.shared_call().args(["remote", "get-url", remote]).run()?;
        Ok((output.code == 0).then(|| output.line()).filter(|url| !url.is_empty()))
    }

    /// Whether this is a shallow clone.
    pub(crate) fn is_shallow(&self) -> bool {
        self.common_dir.join("shallow").exists()
    }

    /// A git call as the user sees the repository: with the user's HEAD and per-worktree
    /// references.
    pub(super) fn call(&self) -> Call {
        Call::on(&self.git_dir)
    }

    /// A git call on the data that all worktrees share. Works even if the user's worktree is gone.
    pub(super) fn shared_call(&self) -> Call {
        Call::on(&self.common_dir)
    }

    /// What a [`Self::shared_call`] prints whose answer never changes; see [`Answers::of`].
    pub(super) fn answer(&self, call: Call) -> Result<Vec<u8>, GitError> {
        self.answers.of(call)
    }
}

#[cfg(test)]
mod tests;
