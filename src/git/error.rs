//! What can go wrong between us and git, with git's own words and, where one is known, the
//! cure.

use std::io;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;
use crate::process::ProcessError;

use super::{GitVersion, Misfit};

/// Everything this room fails with.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No program called `git` in `PATH`.
    #[error("git is not installed, or not in PATH")]
    Missing,
    /// Older than [`GitVersion::OLDEST`].
    #[error("git {0} is too old: at least {oldest} is needed", oldest = GitVersion::OLDEST)]
    TooOld(GitVersion),
    /// `git version` said something that holds no version.
    #[error("`git version` said `{0}`, which holds no version number")]
    UnreadableVersion(String),
    /// No repository at or above this folder.
    #[error("{} is not in a git repository", .0.display())]
    NotARepository(PathBuf),
    /// The repository belongs to someone else, and git refuses it.
    #[error("git does not trust {}: it belongs to another user", .path.display())]
    DubiousOwnership {
        /// Where git stood.
        path: PathBuf,
        /// Git's own words.
        said: String,
    },
    /// The repository's object names are SHA-256.
    #[error("{} uses SHA-256 object names, which bisect-ppl cannot read", .0.display())]
    Sha256(PathBuf),
    /// The repository keeps its references as a reftable.
    #[error("{} keeps its references as a reftable, which bisect-ppl cannot read", .0.display())]
    Reftable(PathBuf),
    /// Nothing in the repository is called so, or what is called so is no commit.
    #[error("`{rev}` names no commit here")]
    UnknownRevision {
        /// As it was written.
        rev: String,
        /// Whether the repository's history is cut off.
        shallow: bool,
    },
    /// A short name that several commits have.
    #[error("`{rev}` could be any of the commits {commits}")]
    Ambiguous {
        /// As it was written.
        rev: String,
        /// Those it could be, abbreviated.
        commits: String,
    },
    /// The name of something else than a commit.
    #[error("`{rev}` names a {kind}, not a commit")]
    NotACommit {
        /// As it was written.
        rev: String,
        /// `tree` or `blob`.
        kind: String,
    },
    /// A full commit name whose object is not in the repository.
    #[error("commit {commit} is not in this repository")]
    UnknownCommit {
        /// The commit.
        commit: CommitId,
        /// Whether the repository's history is cut off.
        shallow: bool,
    },
    /// A commit that was in the repository.
    #[error(
        "commit {commit} is no longer in {}: no branch and no tag leads to it, and git has removed \
         it, as `git gc --prune=now` does at once", .repository.display()
    )]
    Gone {
        /// The commit.
        commit: CommitId,
        /// The git folder.
        repository: PathBuf,
    },
    /// The disk is full.
    #[error("no space left on the disk while `{command}` ran: {said}")]
    NoSpace {
        /// The command, as it could be typed.
        command: String,
        /// Git's own words.
        said: String,
    },
    /// A partial clone lacks an object, and where it comes from cannot be reached.
    #[error(
        "`{command}` lacks objects that this partial clone left out, and cannot fetch them: {said}"
    )]
    Promised {
        /// The command, as it could be typed.
        command: String,
        /// Git's own words.
        said: String,
    },
    /// Git could not be started at all, for a reason other than being absent.
    #[error("`{command}` could not be started")]
    NotStarted {
        /// The command, as it could be typed.
        command: String,
        /// Why.
        source: Box<ProcessError>,
    },
    /// A git command failed.
    #[error("`{command}` in {} ended with {ended}: {said}", .dir.display())]
    Command {
        /// The command, as it could be typed.
        command: String,
        /// Where it ran.
        dir: PathBuf,
        /// `exit code N`, `signal N`, or `timed out`.
        ended: String,
        /// Git's own words.
        said: String,
    },
    /// A git command said something that its manual does not announce.
    #[error("cannot read what `{command}` said: {what}")]
    Unreadable {
        /// The command, or the file.
        command: String,
        /// What is wrong with it.
        what: String,
    },
    /// The library that reads commits failed.
    #[error("cannot read {what}")]
    Library {
        /// What was being read.
        what: String,
        /// Its reason.
        source: git2::Error,
    },
    /// A file operation of our own failed.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// What was tried, such as `remove`.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Something lies where a worktree should go, and we did not put it there.
    #[error("{} exists, and bisect-ppl did not make it", .0.display())]
    NotOurs(PathBuf),
    /// A commit's files cannot lie where commits are checked out. The commit's own fault, there.
    #[error(transparent)]
    Misfit(Misfit),
    /// A submodule could not be brought to its pin.
    #[error("submodule `{path}` cannot be checked out at the commit its parent asks for")]
    Submodule {
        /// The submodule's path in its parent's tree.
        path: String,
        /// What git said.
        source: Box<GitError>,
    },
    /// What is to be applied to commits is no patch.
    #[error("{name} is no patch that could be applied: {said}")]
    NotAPatch {
        /// The file or the commit.
        name: String,
        /// What is wrong with it.
        said: String,
    },
    /// A pattern of what is to be laid over other commits matches nothing.
    #[error("no file at {} matches `{path}`, so there is nothing to lay over other commits", .from.short())]
    NothingToLay {
        /// The pattern.
        path: String,
        /// The commit whose files were to be taken.
        from: CommitId,
    },
    /// A submodule is among what is to be laid over other commits.
    #[error("`{path}` is a submodule at {}, and submodules cannot be laid over other commits", .from.short())]
    SubmoduleToLay {
        /// Its path.
        path: String,
        /// The commit whose files were to be taken.
        from: CommitId,
    },
    /// A name in `[worktree] link` is no plain relative path.
    #[error("`{0}` cannot be linked: only a relative path inside the checkout can")]
    LinkName(String),
    /// A name in `[worktree] link` is not in the user's checkout.
    #[error("`{name}` cannot be linked: {} does not exist", .source_path.display())]
    LinkSourceMissing {
        /// As configured.
        name: String,
        /// Where it was looked for.
        source_path: PathBuf,
    },
    /// Something untracked lies where the link should go.
    #[error("{} is in the way of a link", .0.display())]
    LinkBlocked(PathBuf),
}

impl GitError {
    /// Whether other words, or another place to stand, would have helped, rather than another
    /// world.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NotARepository(_)
            | Self::DubiousOwnership { .. }
            | Self::Sha256(_)
            | Self::Reftable(_)
            | Self::UnknownRevision { .. }
            | Self::UnknownCommit { .. }
            | Self::Ambiguous { .. }
            | Self::NotACommit { .. }
            | Self::NotAPatch { .. }
            | Self::NothingToLay { .. }
            | Self::SubmoduleToLay { .. }
            | Self::LinkName(_)
            | Self::LinkSourceMissing { .. }
            | Self::LinkBlocked(_) => true,
            Self::Missing
            | Self::TooOld(_)
            | Self::UnreadableVersion(_)
            | Self::Gone { .. }
            | Self::NoSpace { .. }
            | Self::Promised { .. }
            | Self::NotStarted { .. }
            | Self::Command { .. }
            | Self::Unreadable { .. }
            | Self::Library { .. }
            | Self::Io { .. }
            | Self::NotOurs(_)
            | Self::Misfit(_)
            | Self::Submodule { .. } => false,
        }
    }

    /// What the reader can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing => "install git 2.30 or newer, or put its folder into PATH".to_owned(),
            Self::TooOld(_) | Self::UnreadableVersion(_) => {
                format!("install git {} or newer and put it first in PATH", GitVersion::OLDEST)
            }
            Self::NotARepository(_) => {
                "change into the engine's clone, or clone it first".to_owned()
            }
            Self::DubiousOwnership { path, .. } => format!(
                "if you trust it: git config --global --add safe.directory {}",
                quoted(path)
            ),
            Self::Sha256(_) => "hunt in a clone with SHA-1 object names; a SHA-256 repository \
                                can be exported with git fast-export and imported into one"
                .to_owned(),
            Self::Reftable(_) => "convert it with `git refs migrate --ref-format=files` \
                                  (git 2.46 or newer), or hunt in a clone made with \
                                  `--ref-format=files`"
                .to_owned(),
            Self::UnknownRevision { shallow: true, .. }
            | Self::UnknownCommit { shallow: true, .. } => {
                "this clone is shallow; fetch the rest: git fetch --unshallow --tags".to_owned()
            }
            Self::UnknownRevision { rev, .. } => format!(
                "check the spelling; if it is a tag or a branch of the remote: git fetch --tags, \
                 then `git rev-parse {}`",
                shlex::try_quote(rev).unwrap_or_else(|_| rev.as_str().into())
            ),
            Self::Ambiguous { .. } => "write more of its digits".to_owned(),
            Self::NotACommit { .. } => {
                "name a commit, or a branch or a tag that leads to one".to_owned()
            }
            Self::UnknownCommit { .. } => "fetch it: git fetch --all --tags".to_owned(),
            Self::Gone { commit, .. } => format!(
                "bring the branch back: fetch it again, or from a clone that has commit {}, and \
                 let a branch or a tag lead to it; then `bisect-ppl resume`: nothing measured is \
                 lost",
                commit.short()
            ),
            Self::NoSpace { .. } => "free some space, then `bisect-ppl resume`; \
                                     `bisect-ppl store gc` gives back what old builds hold"
                .to_owned(),
            Self::Promised { .. } => "see to it that the remote it was cloned from can be \
                                      reached, then `bisect-ppl resume`"
                .to_owned(),
            Self::NotOurs(path) => format!(
                "move {} away, or name another folder with `dir` under [worktree]",
                quoted(path)
            ),
            Self::Misfit(misfit) => return misfit.hint().map(str::to_owned),
            Self::Submodule { .. } => "is its remote reachable and does it still have that \
                                       commit? `submodules = false` under [worktree] leaves \
                                       submodules out"
                .to_owned(),
            Self::NotAPatch { .. } => "a patch is what `git diff` or `git format-patch` writes, \
                                       with paths from the top of the tree behind a/ and b/"
                .to_owned(),
            Self::NothingToLay { from, .. } => format!(
                "`git ls-tree -r --name-only {}` lists what there is; a pattern is a git pathspec \
                 from the top of the tree, and what was never committed is in no revision",
                from.short()
            ),
            Self::SubmoduleToLay { .. } => "leave it out of `paths`: each commit has its own pin, \
                                            or lay the files of its folder from a revision that \
                                            has them as files"
                .to_owned(),
            Self::LinkName(_) | Self::LinkBlocked(_) => {
                "correct `link` under [worktree] in oracle.toml".to_owned()
            }
            Self::LinkSourceMissing { .. } => {
                "make it in your checkout, or take it out of `link` under [worktree] in \
                 oracle.toml"
                    .to_owned()
            }
            Self::NotStarted { .. } => {
                "is the `git` that comes first in PATH a program? `command -v git` names it"
                    .to_owned()
            }
            Self::Command { said, .. } if is_refused(said) => NOT_WRITABLE.to_owned(),
            Self::Command { command, dir, .. } => format!(
                "by hand it may say more: cd {} && {command}; `git fsck` tells whether the \
                 repository is whole",
                quoted(dir)
            ),
            Self::Unreadable { .. } | Self::Library { .. } => {
                "`git fsck` tells whether the repository is whole".to_owned()
            }
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free some space, then `bisect-ppl resume`; nothing measured is lost".to_owned()
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    NOT_WRITABLE.to_owned()
                }
                _ => return None,
            },
        };
        Some(hint)
    }
}

/// What a hunt writes into a repository besides its own folder.
const NOT_WRITABLE: &str = "the repository's git directory and the cache folder must be writable: \
                            hunts work in worktrees of their own";

fn is_refused(said: &str) -> bool {
    said.contains("Permission denied") || said.contains("Read-only file system")
}

/// A path as it can be pasted into a shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| text.clone().into_owned(), Into::into)
}

/// For `map_err`: a file operation of ours failed.
pub(super) fn io_error(
    doing: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> GitError {
    let path = path.into();
    move |source| GitError::Io { doing, path, source }
}
