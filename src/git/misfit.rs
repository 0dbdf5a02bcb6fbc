//! Commits whose files cannot lie where commits are checked out: their names are one on the disk
//! there, the disk does not take one of them, or git does not write it.
//!
//! That is told from a world that failed (a full disk, an object that is missing) by asking again
//! for less: the names without the files, one file without its content.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::changes::{EMPTY_TREE, os};
use super::command::Call;
use super::folding::refuse_twins;
use super::{GitError, LONGEST_LIST};

/// How many of the files that are missing after git failed are tried one by one.
const MOST_TRIED: usize = 64;

/// How much of a name, or of what git says, is shown: a path may fill pages.
const LONGEST_SHOWN: usize = 160;

/// Why a commit's files cannot lie there.
#[derive(Debug, thiserror::Error)]
pub enum Misfit {
    /// Two names differ only in case, and the disk tells no case apart.
    #[error(
        "`{}` and `{}` are one on the disk where commits are checked out", .0[0].display(), .0[1].display()
    )]
    FoldedCase([PathBuf; 2]),
    /// The disk does not take a name.
    #[error(
        "the disk where commits are checked out does not take `{}` ({} bytes): {why}; git: {}",
        shortened(&path.to_string_lossy()), path.as_os_str().len(), shortened(said)
    )]
    Name {
        /// The path, in the commit's tree.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
        /// Git's own words.
        said: String,
    },
    /// Git does not write such a name on any disk: it could do harm.
    #[error("git does not check out such a name: {}", shortened(.0))]
    Refused(String),
}

impl Misfit {
    /// What the reader can do about it, where that is known.
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

/// Why the tree that git did not check out at `top` cannot lie there, where that is the tree's own
/// fault. `known` is a call that finds the tree, and the tree's name.
pub(super) fn look_for_misfit<'a>(
    known: impl Fn() -> (Call, &'a str),
    top: &Path,
    error: &GitError,
) -> Result<Option<Misfit>, GitError> {
    let (call, tree) = known();
    let folds_case = call.folds_case();
    // With an object missing, nothing is known of it.
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

/// Whether git does not take the names in a tree of which nothing is missing.
pub(super) fn is_refused(call: impl Fn() -> Call, tree: &str) -> Result<bool, GitError> {
    let reads = |tree: &str| -> Result<bool, GitError> {
        Ok(call().args(["read-tree", "--dry-run", tree]).run()?.code == 0)
    };
    // It reads nothing at all where it cannot work here.
    Ok(list_tree(call(), tree).is_ok() && !reads(tree)? && reads(EMPTY_TREE)?)
}

/// The paths of all files in a tree, as git lists them.
pub(super) fn list_tree(call: Call, tree: &str) -> Result<Vec<u8>, GitError> {
    let call = call.args(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]);
    Ok(call.capture(LONGEST_LIST).ok()?.stdout)
}

/// Each of them.
pub(super) fn paths_of(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty())
}

/// The first of these paths that the disk does not take, whoever writes there.
fn refused_by_disk<'a>(
    top: &Path,
    paths: impl Iterator<Item = &'a [u8]>,
) -> Option<(PathBuf, io::Error)> {
    // From the top, as git does: the way there does not count.
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

/// Makes an empty file, which goes at once, never outside of `top`: what lies there by now may
/// lead away. Folders that were made for it stay for whoever cleans up.
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
