//! Commits whose files cannot be checked out: two names are equal on the disk, the disk refuses a
//! name, or git refuses it.
//!
//! Other failures (a full disk, a missing object) look alike at first. Smaller requests tell them
//! apart: the names without the files, or one empty file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::changes::{EMPTY_TREE, os};
use super::command::Call;
use super::folding::refuse_twins;
use super::{GitError, LONGEST_LIST};

/// How many missing files are tried one by one after git failed.
const MOST_TRIED: usize = 64;

/// How many characters of a name or of git's message are shown: a path may be very long.
const LONGEST_SHOWN: usize = 160;

/// Why a commit's files cannot be checked out.
#[derive(Debug, thiserror::Error)]
pub enum Misfit {
    /// Two names differ only in case, and the disk ignores case.
    #[error(
        "`{}` and `{}` are one on the disk where commits are checked out", .0[0].display(), .0[1].display()
    )]
    FoldedCase([PathBuf; 2]),
    /// The disk refuses a name.
    #[error(
        "the disk where commits are checked out does not take `{}` ({} bytes): {why}; git: {}",
        shortened(&path.to_string_lossy()), path.as_os_str().len(), shortened(said)
    )]
    Name {
        /// The path in the commit's tree.
        path: PathBuf,
        /// The system's error.
        why: io::Error,
        /// Git's message.
        said: String,
    },
    /// Git refuses the name on every disk, since it could do harm.
    #[error("git does not check out such a name: {}", shortened(.0))]
    Refused(String),
}

impl Misfit {
    /// What the user can do about it, if known.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::FoldedCase(_) => {
                Some("name a folder on a disk that tells case apart with `dir` under [worktree]")
            }
            Self::Name { .. } => {
                Some("name a folder on a disk that takes it with `dir` under [worktree]")
            }
            Self::Refused(_) => None,
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// After a failed checkout at `top`: the reason, if the tree is at fault. `known` returns a call
/// that finds the tree, and the tree's name.
pub(super) fn look_for_misfit<'a>(
    known: impl Fn() -> (Call, &'a str),
    top: &Path,
    error: &GitError,
) -> Result<Option<Misfit>, GitError> {
    let (call, tree) = known();
    let folds_case = call.folds_case();
    // If an object is missing, the tree is not known to be at fault.
    let Ok(listed) = list_tree(call, tree) else { return Ok(None) };
    if folds_case && let Err(GitError::Misfit(twins)) = refuse_twins(paths_of(&listed)) {
        return Ok(Some(twins));
    }
    let said = match error {
        GitError::Command { said, .. } => said.clone(),
        other => other.to_string(),
    };
    if is_refused(|| known().0, tree)? {
        return Ok(Some(Misfit::Refused(said)));
    }
    let refused = refused_by_disk(top, paths_of(&listed));
    Ok(refused.map(|(path, why)| Misfit::Name { path, why, said }))
}

/// Whether git refuses the names of a tree that is complete.
pub(super) fn is_refused(call: impl Fn() -> Call, tree: &str) -> Result<bool, GitError> {
    let reads = |tree: &str| -> Result<bool, GitError> {
        Ok(call().args(["read-tree", "--dry-run", tree]).run()?.code == 0)
    };
    // If git cannot even read the empty tree, the tree is not at fault.
    Ok(list_tree(call(), tree).is_ok() && !reads(tree)? && reads(EMPTY_TREE)?)
}

/// The paths of all files in a tree, separated by NUL.
pub(super) fn list_tree(call: Call, tree: &str) -> Result<Vec<u8>, GitError> {
    let call = call.args(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]);
    Ok(call.capture(LONGEST_LIST).ok()?.stdout)
}

/// The paths in such a list.
pub(super) fn paths_of(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())
}

/// The first of these paths that the disk refuses to every program.
fn refused_by_disk<'a>(
    top: &Path,
    paths: impl Iterator<Item = &'a [u8]>,
) -> Option<(PathBuf, io::Error)> {
    // Relative to `top`, as in git: the length of `top` itself does not count.
    let folder = rustix::fs::open(top, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let real = top.canonicalize().ok()?;
    let mut tried = 0;
    for path in paths.map(|path| Path::new(os(path))) {
        let said = match rustix::fs::statat(&folder, path, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) if tried < MOST_TRIED => {
                tried += 1;
                try_to_make(&real, path).err().unwrap_or(Errno::NOENT)
            }
            Err(said) => said,
            Ok(_) => continue,
        };
        if matches!(said, Errno::NAMETOOLONG | Errno::ILSEQ | Errno::INVAL) {
            return Some((path.to_owned(), said.into()));
        }
    }
    None
}

/// Makes an empty file and removes it again, never outside of `top`: links of the checkout may
/// lead outside. New parent folders stay for a later cleanup.
fn try_to_make(top: &Path, path: &Path) -> Result<(), Errno> {
    let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let file = top.join(path);
    let folder = file.parent().unwrap_or(top);
    let there = folder.ancestors().find(|f| f.symlink_metadata().is_ok()).unwrap_or(top);
    if !there.canonicalize().is_ok_and(|there| there.starts_with(top)) {
        return Err(Errno::NOENT);
    }
    fs::create_dir_all(folder).map_err(errno)?;
    File::create_new(&file).map_err(errno)?;
    fs::remove_file(&file).map_err(errno)
}
