//! Checks a tree out exactly, in a worktree or in one of its submodules.
//!
//! `git reset` and `git checkout` are not used: they lock the packed references of the user's
//! repository, only to delete references like `CHERRY_PICK_HEAD`. If they are killed, the lock
//! stays, and the user's own git fails at it.

use std::fs;
use std::path::Path;

use crate::evaluation::CommitId;
use crate::files;

use super::checkout_failure::diagnose_checkout_failure;
use super::command::{Call, PRIVATE_INDEX};
use super::disk::Disk;
use super::error::io_error;
use super::removal::{absent_is_fine, remove_all};
use super::written::{Written, has_written_files, written_files};
use super::{CheckoutImpossible, GitError, folding};

/// What to do with untracked files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untracked {
    Remove,
    Keep {
        /// How to look for tracked files that somebody wrote since the last checkout.
        look: Look,
    },
}

/// How to look for tracked files that somebody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Not at all.
    Nowhere,
    /// At their times.
    Times,
    /// At their times, and at the contents of those with another time.
    Contents,
}

/// The commit to check out, and how.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) commit: &'a str,
    /// Whether Git LFS files are fetched.
    pub(super) lfs: bool,
    /// Properties of the disk.
    pub(super) disk: Disk,
}

/// Checks the goal's commit out at `top`. Returns which tracked files somebody wrote since the last
/// checkout, if `untracked` asks for that.
pub(super) fn restore_tree(
    git_dir: &Path,
    top: &Path,
    goal: Goal<'_>,
    untracked: Untracked,
) -> Result<Written, GitError> {
    let written = match untracked {
        Untracked::Remove | Untracked::Keep { look: Look::Nowhere } => Written::default(),
        Untracked::Keep { look: Look::Times } => {
            Written { is_written: has_written_files(git_dir, top), ..Written::default() }
        }
        Untracked::Keep { look: Look::Contents } => {
            let call = Call::in_ours(git_dir, top).leaving_lfs(!goal.lfs).on_disk(goal.disk);
            written_files(git_dir, top, call)
        }
    };
    let mut restored = try_restore_tree(git_dir, top, goal, untracked);
    // The index has two entries for one file on the disk. If git removes either entry, it removes
    // that file.
    if matches!(restored, Err(GitError::CheckoutImpossible(CheckoutImpossible::FoldedCase(_)))) {
        remove_index(git_dir)?;
    }
    // A forced checkout can fail at a damaged index, which a crash of the machine may leave. The
    // index holds nothing that the commit lacks, so we delete it and try again.
    if matches!(restored, Err(GitError::Command { .. }))
        && fs::remove_file(git_dir.join(PRIVATE_INDEX)).is_ok()
    {
        restored = try_restore_tree(git_dir, top, goal, untracked);
    }
    restored?;
    hand_out_index(git_dir)?;
    Ok(written)
}

/// Copies our index for builds and runs, so that git there sees the checked-out tree.
fn hand_out_index(git_dir: &Path) -> Result<(), GitError> {
    let [index, made] = ["index", "index-to-be"].map(|name| git_dir.join(name));
    fs::copy(git_dir.join(PRIVATE_INDEX), &made).map_err(io_error("write", &made))?;
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
    let Goal { commit, lfs, disk } = goal;
    let call = || Call::in_ours(git_dir, top).leaving_lfs(!lfs).on_disk(disk);
    let to_tree = || -> Result<(), GitError> {
        end_operations(git_dir)?;
        // A build may have switched HEAD to a branch. `--no-deref` changes HEAD, not that branch.
        if detached_head(git_dir).is_none_or(|head| head.as_str() != commit) {
            call().args(["update-ref", "--no-deref", "HEAD", commit]).ok()?;
        }
        call().args(["read-tree", "--reset", "-u", commit]).ok().map(drop)
    };
    let to_commit = || match to_tree() {
        Ok(()) if disk.folds_case => folding::fix_case(call(), top),
        Err(error @ GitError::Command { .. }) => {
            let impossible = diagnose_checkout_failure(call, commit, top, &error)?;
            Err(impossible.map_or(error, GitError::CheckoutImpossible))
        }
        other => other,
    };
    if untracked != Untracked::Remove {
        return to_commit();
    }
    let has_index = git_dir.join(PRIVATE_INDEX).exists();
    let has_same_attributes = !has_index || has_same_attributes(call(), commit)?;
    // Git overwrites files in the way, but not repositories or folders without write permission.
    match to_commit() {
        Ok(()) => {}
        // A killed git leaves locks, so another call would fail for a wrong reason.
        Err(error @ (GitError::CheckoutImpossible(_) | GitError::Killed { .. })) => {
            return Err(error);
        }
        Err(_) => {
            clean(call, top).or_else(|_| start_over(git_dir, top))?;
            to_commit()?;
        }
    }
    // Git did not rewrite files with the same content. New attributes may give them other line
    // endings or another filter.
    if !has_same_attributes {
        remove_index(git_dir)?;
        to_commit()?;
    }
    // Untracked files are removed after the checkout, because the checkout leaves some behind:
    // mostly submodules that only the previous tree had.
    if clean(call, top).is_err() {
        start_over(git_dir, top)?;
        to_commit()?;
    }
    Ok(())
}

/// What git keeps in a worktree's own git folder while somebody merges, picks or reverts commits.
const OPERATIONS: [&str; 12] = [
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "REVERT_HEAD",
    "SQUASH_MSG",
    "rebase-apply",
    "rebase-merge",
    "sequencer",
];

/// Removes what git keeps of merges, picks and reverts that a build began and did not finish.
fn end_operations(git_dir: &Path) -> Result<(), GitError> {
    OPERATIONS.iter().try_for_each(|name| remove_all(&git_dir.join(name)))
}

/// Removes everything in `top`. A build may make paths that are too long for git. Git cannot remove
/// them, and then the checkout fails.
pub(super) fn start_over(git_dir: &Path, top: &Path) -> Result<(), GitError> {
    for entry in fs::read_dir(top).map_err(io_error("read", top))?.flatten() {
        if entry.file_name() != ".git" {
            remove_all(&entry.path())?;
        }
    }
    remove_index(git_dir)
}

fn remove_index(git_dir: &Path) -> Result<(), GitError> {
    let index = git_dir.join(PRIVATE_INDEX);
    fs::remove_file(&index).or_else(absent_is_fine).map_err(io_error("remove", index))
}

/// Whether the checked-out tree and the commit have the same `.gitattributes` files.
fn has_same_attributes(call: Call, commit: &str) -> Result<bool, GitError> {
    let call = call.args(["diff-index", "--cached", "--quiet", commit, "--"]);
    let answer = call.arg(":(glob)**/.gitattributes").run()?;
    // If git cannot tell, as with a damaged index, everything is written again.
    Ok(answer.code == 0)
}

/// The commit of a detached HEAD; `None` on a branch.
pub(super) fn detached_head(git_dir: &Path) -> Option<CommitId> {
    let head = git_dir.join("HEAD");
    let is_file = head.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    fs::read_to_string(head).ok().filter(|_| is_file)?.parse().ok()
}

fn clean(call: impl Fn() -> Call, top: &Path) -> Result<(), GitError> {
    let clean = || call().args(["clean", "--quiet", "-ffdx"]).ok();
    if clean().is_err() {
        // Some build tools remove the write permission from their caches.
        files::make_writable(top);
        clean()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
