//! Errors of git calls, with git's own message and a hint where one is known.

use std::io;
use std::path::{Path, PathBuf};

use crate::evaluation::CommitId;
use crate::process::ProcessError;

use super::{CheckoutImpossible, GitVersion};

/// The error type of this module.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No program called `git` in `PATH`.
    #[error("git is not installed, or not in PATH")]
    Missing,
    /// Git is older than [`GitVersion::OLDEST`].
    #[error("git {0} is too old: at least {oldest} is needed", oldest = GitVersion::OLDEST)]
    TooOld(GitVersion),
    /// The output of `git version` holds no version number.
    #[error("`git version` said `{0}`, which holds no version number")]
    UnreadableVersion(String),
    /// The folder and its parents hold no repository.
    #[error("{} is not in a git repository", .0.display())]
    NotARepository(PathBuf),
    /// The repository belongs to another user, so git refuses to use it.
    #[error("git does not trust {}: it belongs to another user", .path.display())]
    DubiousOwnership {
        /// The folder where git ran.
        path: PathBuf,
        /// Git's message.
        said: String,
    },
    /// The repository's object names are SHA-256.
    #[error("{} uses SHA-256 object names, which bisect-ppl cannot read", .0.display())]
    Sha256(PathBuf),
    /// The repository stores its references as a reftable.
    #[error("{} keeps its references as a reftable, which bisect-ppl cannot read", .0.display())]
    Reftable(PathBuf),
    /// The revision does not exist in this repository.
    #[error("unknown revision `{rev}`")]
    UnknownRevision {
        /// The revision as the user wrote it.
        rev: String,
        /// Whether this is a shallow clone.
        shallow: bool,
    },
    /// An abbreviated name that matches several commits.
    #[error("`{rev}` is ambiguous; it matches the commits {commits}")]
    Ambiguous {
        /// The revision as the user wrote it.
        rev: String,
        /// The matching commits, abbreviated.
        commits: String,
    },
    /// The revision names an object that is not a commit.
    #[error("`{rev}` names a {kind}, not a commit")]
    NotACommit {
        /// The revision as the user wrote it.
        rev: String,
        /// The object's type: `tree` or `blob`.
        kind: String,
    },
    /// A full commit name without an object in the repository.
    #[error("commit {commit} is not in this repository")]
    UnknownCommit {
        /// The commit.
        commit: CommitId,
        /// Whether this is a shallow clone.
        shallow: bool,
    },
    /// A commit that was in the repository before and is gone now.
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
    /// Git ran out of disk space.
    #[error("no space left on the disk while `{command}` ran: {said}")]
    NoSpace {
        /// The command as a user could type it.
        command: String,
        /// Git's message.
        said: String,
    },
    /// A partial clone lacks an object and cannot fetch it.
    #[error(
        "`{command}` lacks objects that this partial clone left out, and cannot fetch them: {said}"
    )]
    Promised {
        /// The command as a user could type it.
        command: String,
        /// Git's message.
        said: String,
    },
    /// Git exists but could not be started.
    #[error("`{command}` could not be started")]
    NotStarted {
        /// The command as a user could type it.
        command: String,
        /// The reason.
        source: Box<ProcessError>,
    },
    /// A git command failed.
    #[error("`{command}` in {} ended with {ended}: {said}", .dir.display())]
    Command {
        /// The command as a user could type it.
        command: String,
        /// The folder where the command ran.
        dir: PathBuf,
        /// `exit code N`, `signal N`, or `timed out`.
        ended: String,
        /// Git's message.
        said: String,
    },
    /// A signal from outside ended git. No commit is at fault, and git may have left locks behind.
    #[error("`{command}` in {} ended with {ended}", .dir.display())]
    Killed {
        /// The command as a user could type it.
        command: String,
        /// The folder where the command ran.
        dir: PathBuf,
        /// `signal N`.
        ended: String,
    },
    /// The output of a git command has an unknown form.
    #[error("cannot read what `{command}` said: {what}")]
    Unreadable {
        /// The command or the file.
        command: String,
        /// What is wrong with the output.
        what: String,
    },
    /// Git2, the library that reads commits, failed.
    #[error("cannot read {what}")]
    Library {
        /// The object that could not be read.
        what: String,
        /// The library's reason.
        source: git2::Error,
    },
    /// Our own file operation failed.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// The operation, such as `remove`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A worktree's path is taken by something that bisect-ppl did not make.
    #[error("{} exists, and bisect-ppl did not make it", .0.display())]
    NotOurs(PathBuf),
    /// The disk or git refuses a commit's files. This counts as the commit's fault.
    #[error(transparent)]
    CheckoutImpossible(CheckoutImpossible),
    /// A submodule could not be checked out at its pinned commit.
    #[error("submodule `{path}` cannot be checked out at the commit its parent asks for")]
    Submodule {
        /// The submodule's path in the parent repository.
        path: String,
        /// Git's error.
        source: Box<GitError>,
    },
    /// A patch for commits is not a valid patch.
    #[error("{name} is not a valid patch: {said}")]
    NotAPatch {
        /// The file or the commit.
        name: String,
        /// What is wrong with the patch.
        said: String,
    },
    /// A pattern of files to take from another revision matches nothing.
    #[error("no file at {} matches `{path}`, so there is nothing to lay over other commits", .from.short())]
    NothingToLay {
        /// The pattern.
        path: String,
        /// The commit to take the files from.
        from: CommitId,
    },
    /// A pattern of files to take from another revision matches a submodule.
    #[error("`{path}` is a submodule at {}, and submodules cannot be laid over other commits", .from.short())]
    SubmoduleToLay {
        /// The submodule's path.
        path: String,
        /// The commit to take the files from.
        from: CommitId,
    },
    /// An entry of `[worktree] link` is not a plain relative path.
    #[error("`{0}` cannot be linked: only a relative path inside the checkout can")]
    LinkName(String),
    /// An entry of `[worktree] link` is missing in the user's checkout.
    #[error("`{name}` cannot be linked: {} does not exist", .source_path.display())]
    LinkSourceMissing {
        /// The name as configured.
        name: String,
        /// The path that does not exist.
        source_path: PathBuf,
    },
    /// An untracked file or folder is in the place of the link.
    #[error("cannot create a link at {}: something else is there", .0.display())]
    LinkBlocked(PathBuf),
}

impl GitError {
    /// `None` if git's output or an object is unreadable: it is too long or not as expected, or a
    /// partial clone lacks it and cannot fetch it.
    pub(crate) fn if_readable<T>(result: Result<T, Self>) -> Result<Option<T>, Self> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Self::Unreadable { .. } | Self::Promised { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the user can fix this with another revision, configuration, or folder.
    pub(crate) fn is_usage(&self) -> bool {
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
            | Self::Killed { .. }
            | Self::Unreadable { .. }
            | Self::Library { .. }
            | Self::Io { .. }
            | Self::NotOurs(_)
            | Self::CheckoutImpossible(_)
            | Self::Submodule { .. } => false,
        }
    }

    /// What the user can do about it, if known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Missing => {
                format!("install git {} or newer, or put its folder into PATH", GitVersion::OLDEST)
            }
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
            Self::Ambiguous { .. } => "use more digits of the commit name".to_owned(),
            Self::NotACommit { .. } => {
                "name a commit, or a branch or a tag that leads to one".to_owned()
            }
            Self::UnknownCommit { .. } => "fetch it: git fetch --all --tags".to_owned(),
            Self::Gone { commit, .. } => format!(
                "fetch commit {} again, from the remote or from a clone that has it, and create a \
                 branch or a tag on it",
                commit.short()
            ),
            Self::NoSpace { .. } => {
                "free some space: `bisect-ppl store gc` removes old builds".to_owned()
            }
            Self::Promised { .. } => {
                "check that the remote of this clone can be reached".to_owned()
            }
            Self::NotOurs(path) => format!(
                "move {} away, or name another folder with `dir` under [worktree]",
                quoted(path)
            ),
            Self::CheckoutImpossible(impossible) => return impossible.hint().map(str::to_owned),
            Self::Submodule { .. } => "is its remote reachable and does it still have that \
                                       commit? `submodules = false` under [worktree] leaves \
                                       submodules out"
                .to_owned(),
            Self::NotAPatch { .. } => "a patch is what `git diff` or `git format-patch` writes, \
                                       with paths from the top of the tree after a/ and b/"
                .to_owned(),
            Self::NothingToLay { from, .. } => format!(
                "`git ls-tree -r --name-only {}` lists what there is; a pattern is a git pathspec \
                 from the top of the tree, and only committed files can be used",
                from.short()
            ),
            Self::SubmoduleToLay { .. } => "leave it out of `paths`, since each commit has its \
                                            own pin; or take the files of its folder from a \
                                            revision that has them as files"
                .to_owned(),
            Self::LinkName(_) | Self::LinkBlocked(_) => {
                "correct `link` under [worktree] in oracle.toml".to_owned()
            }
            Self::LinkSourceMissing { .. } => {
                "make it in your checkout, or take it out of `link` under [worktree] in \
                 oracle.toml"
                    .to_owned()
            }
            Self::NotStarted { source, .. } => match &**source {
                ProcessError::Folder(gone) => {
                    format!("{} is gone: go to another checkout of the repository", quoted(gone))
                }
                _ => "is the `git` that comes first in PATH a program? `command -v git` names it"
                    .to_owned(),
            },
            Self::Command { said, .. } if is_refused(said) => NOT_WRITABLE.to_owned(),
            Self::Command { command, dir, .. } => format!(
                "run the command by hand, it may say more: cd {} && {command}; `git fsck` tells \
                 whether the repository is whole",
                quoted(dir)
            ),
            Self::Killed { .. } => "something ended git, often the kernel for lack of memory: end \
                                    other programs if it is that"
                .to_owned(),
            Self::Unreadable { .. } | Self::Library { .. } => {
                "`git fsck` tells whether the repository is whole".to_owned()
            }
            Self::Io { source, .. } => return io_hint(source).map(str::to_owned),
        };
        Some(hint)
    }
}

/// Hint for a repository or cache folder that is not writable.
const NOT_WRITABLE: &str = "the repository's git directory and the cache folder must be writable: \
                            hunts work in worktrees of their own";

fn io_hint(source: &io::Error) -> Option<&'static str> {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("free some space"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Some(NOT_WRITABLE),
        _ => None,
    }
}

fn is_refused(said: &str) -> bool {
    said.contains("Permission denied") || said.contains("Read-only file system")
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| text.clone().into_owned(), Into::into)
}

/// For `map_err`: our own file operation failed.
pub(super) fn io_error(
    doing: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> GitError {
    let path = path.into();
    move |source| GitError::Io { doing, path, source }
}
