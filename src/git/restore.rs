//! Makes a folder hold the tree of a commit, exactly: a worktree's, or a submodule's in it.

use std::fs;
use std::path::Path;

use crate::evaluation::CommitId;

use super::command::{Call, OUR_INDEX};
use super::disk::Disk;
use super::error::io_error;
use super::misfit::{Misfit, look_for_misfit};
use super::removal::{absent_is_fine, make_writable, remove_all};
use super::{GitError, LaidTree, folding};

/// What becomes of files that git does not track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untracked {
    Remove,
    Keep,
}

/// What a folder is to hold: the tree of a commit, or one that was laid over it.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) commit: &'a str,
    pub(super) laid: Option<&'a LaidTree>,
    /// Whether what Git LFS keeps elsewhere is fetched.
    pub(super) lfs: bool,
    /// What the disk does.
    pub(super) disk: Disk,
}

/// Makes `top` that tree, in a worktree or in a submodule.
pub(super) fn restore_tree(
    git_dir: &Path,
    top: &Path,
    goal: Goal<'_>,
    untracked: Untracked,
) -> Result<(), GitError> {
    let mut restored = try_restore_tree(git_dir, top, goal, untracked);
    // The index has two entries for what lies there once: git would remove it with either.
    if matches!(restored, Err(GitError::Misfit(Misfit::FoldedCase(_)))) {
        remove_index(git_dir)?;
    }
    // A damaged index (a crash of the machine leaves one) is the one thing that force does not
    // overcome; it holds nothing that the commit does not.
    if matches!(restored, Err(GitError::Command { .. }))
        && fs::remove_file(git_dir.join(OUR_INDEX)).is_ok()
    {
        restored = try_restore_tree(git_dir, top, goal, untracked);
    }
    restored?;
    hand_out_index(git_dir)
}

/// Gives builds and runs an index that tells what lies there.
fn hand_out_index(git_dir: &Path) -> Result<(), GitError> {
    let [index, made] = ["index", "index-to-be"].map(|name| git_dir.join(name));
    fs::copy(git_dir.join(OUR_INDEX), &made).map_err(io_error("write", &made))?;
    if index.is_dir() {
        remove_all(&index)?;
    }
    fs::rename(&made, &index).map_err(io_error("write", &index))
}

fn try_restore_tree(
    git_dir: &Path,
    top: &Path,
    goal: Goal<'_>,
    untracked: Untracked,
) -> Result<(), GitError> {
    let Goal { commit, laid, lfs, disk } = goal;
    let call = || Call::in_ours(git_dir, top).leaving_lfs(!lfs).on_disk(disk);
    let to_tree = || -> Result<(), GitError> {
        // A build that switched to a branch: `reset` alone would move that branch.
        if detached_head(git_dir).is_none() {
            call().args(["checkout", "--quiet", "--force", "--detach", commit]).ok()?;
        }
        let Some(laid) = laid else {
            return call().args(["reset", "--quiet", "--hard", commit]).ok().map(drop);
        };
        // Not by way of the commit's own tree: what is laid over it would get new time stamps.
        call().args(["update-ref", "--no-deref", "HEAD", commit]).ok()?;
        laid.known_to(call()).args(["read-tree", "--reset", "-u", laid.id()]).ok().map(drop)
    };
    let to_commit = || match to_tree() {
        Ok(()) if disk.folds_case => folding::settle(call(), top),
        Err(error @ GitError::Command { .. }) => {
            let misfit = look_for_misfit(|| known(call(), goal), top, &error)?;
            Err(misfit.map_or(error, GitError::Misfit))
        }
        other => other,
    };
    if untracked == Untracked::Keep {
        return to_commit();
    }
    let has_index = git_dir.join(OUR_INDEX).exists();
    let has_same_attributes = !has_index || has_same_attributes(call(), goal)?;
    // Git overwrites what is in the way, but for repositories and folders it cannot write to.
    match to_commit() {
        Ok(()) => {}
        Err(misfit @ GitError::Misfit(_)) => return Err(misfit),
        Err(_) => {
            clean(call, top).or_else(|_| start_over(git_dir, top))?;
            to_commit()?;
        }
    }
    // Files of which the content stays were not written again, though they may be meant to end
    // their lines otherwise, or to go through another filter, from here on.
    if !has_same_attributes {
        remove_index(git_dir)?;
        to_commit()?;
    }
    // After it: what the older tree had and the newer has not (submodules above all) is
    // untracked only now.
    if clean(call, top).is_err() {
        start_over(git_dir, top)?;
        to_commit()?;
    }
    Ok(())
}

/// Removes all that lies there: git leaves paths that are longer than it takes, which a build may
/// make, and a checkout that fails.
fn start_over(git_dir: &Path, top: &Path) -> Result<(), GitError> {
    for entry in fs::read_dir(top).map_err(io_error("read", top))?.flatten() {
        if entry.file_name() != ".git" {
            remove_all(&entry.path())?;
        }
    }
    remove_index(git_dir)
}

fn remove_index(git_dir: &Path) -> Result<(), GitError> {
    let index = git_dir.join(OUR_INDEX);
    fs::remove_file(&index).or_else(absent_is_fine).map_err(io_error("remove", index))
}

/// The name of the goal's tree, and a call that finds it.
fn known(call: Call, goal: Goal<'_>) -> (Call, &str) {
    match goal.laid {
        Some(laid) => (laid.known_to(call), laid.id()),
        None => (call, goal.commit),
    }
}

/// Whether what is checked out has the attributes of the goal in every folder.
fn has_same_attributes(call: Call, goal: Goal<'_>) -> Result<bool, GitError> {
    let (call, tree) = known(call, goal);
    let call = call.args(["diff-index", "--cached", "--quiet", tree, "--"]);
    let answer = call.arg(":(glob)**/.gitattributes").run()?;
    // Where git cannot tell, as with a damaged index, everything is written anew.
    Ok(answer.code == 0)
}

/// The commit that HEAD names, unless it names a branch.
pub(super) fn detached_head(git_dir: &Path) -> Option<CommitId> {
    let head = git_dir.join("HEAD");
    let is_file = head.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    fs::read_to_string(head).ok().filter(|_| is_file)?.parse().ok()
}

fn clean(call: impl Fn() -> Call, top: &Path) -> Result<(), GitError> {
    let clean = || call().args(["clean", "--quiet", "-ffdx"]).ok();
    if clean().is_err() {
        // Build tools like to take the write permission from their caches.
        make_writable(top);
        clean()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
