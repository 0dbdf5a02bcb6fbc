//! Finds out whether the commit is at fault if a checkout fails.
//!
//! A full disk or a missing object, which are not the commit's fault, causes a similar error.
//! Smaller operations tell the causes apart: reading the tree without writing files, and making one
//! empty file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::changes::EMPTY_TREE;
use super::command::Call;
use super::folding::refuse_twins;
use super::raw_path::os;
use super::tree_paths::{list_tree, paths_of};
use super::{CheckoutImpossible, GitError};

/// How many missing files are tried one by one after git failed.
const MOST_TRIED: usize = 64;

/// After a failed checkout of `commit` at `top`: the reason, if the commit is at fault.
pub(super) fn diagnose_checkout_failure(
    call: impl Fn() -> Call,
    commit: &str,
    top: &Path,
    error: &GitError,
) -> Result<Option<CheckoutImpossible>, GitError> {
    // If an object is missing, the commit is not known to be at fault.
    let Ok(listed) = list_tree(call(), commit) else { return Ok(None) };
    if call().folds_case()
        && let Err(GitError::CheckoutImpossible(twins)) = refuse_twins(paths_of(&listed))
    {
        return Ok(Some(twins));
    }
    let said = match error {
        GitError::Command { said, .. } => said.clone(),
        other => other.to_string(),
    };
    if is_refused(call, commit)? {
        return Ok(Some(CheckoutImpossible::Refused(said)));
    }
    let refused = refused_by_disk(top, paths_of(&listed));
    Ok(refused.map(|(path, why)| CheckoutImpossible::Name { path, why, said }))
}

/// Whether git refuses the names of a tree that is complete.
pub(super) fn is_refused(call: impl Fn() -> Call, tree: &str) -> Result<bool, GitError> {
    let reads = |tree: &str| -> Result<bool, GitError> {
        Ok(call().args(["read-tree", "--dry-run", tree]).run()?.code == 0)
    };
    // If git cannot even read the empty tree, the tree is not at fault.
    Ok(list_tree(call(), tree).is_ok() && !reads(tree)? && reads(EMPTY_TREE)?)
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
