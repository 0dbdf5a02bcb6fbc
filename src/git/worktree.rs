//! Linked worktrees of our own, in which commits are checked out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::CommitId;

use super::command::{Call, PRIVATE_INDEX};
use super::disk::Disk;
use super::error::io_error;
use super::gitfile::{read_back_link, read_link, write_back_link, write_link};
use super::leftovers::{forget, forget_lost};
use super::put_away::{bring_back, is_put_away, put_away};
use super::removal::{absent_is_fine, remove_all, remove_locks};
use super::restore::{Goal, Look, Untracked, detached_head, restore_tree, start_over};
use super::submodules::{self, Tree};
use super::unknown_files::remove_unknown_files;
use super::written::Written;
use super::{GitError, History, LaidTree, Repository, sparsity};

/// A linked worktree that we made. The caller must be its only user: git locks found in it count
/// as leftovers of a killed process.
#[derive(Debug)]
pub(crate) struct Worktree {
    repository: Repository,
    path: PathBuf,
    git_dir: PathBuf,
    /// The content that `reset` restores; `None` before the first checkout.
    at: Option<CheckoutSpec>,
}

/// The content of a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckoutSpec {
    /// The commit that HEAD names, or the one below it if there is a modified tree.
    pub commit: CommitId,
    /// The modified tree, if the files are not the commit's own.
    pub laid: Option<LaidTree>,
    /// Whether submodules are checked out.
    pub submodules: bool,
    /// Whether Git LFS files are fetched; otherwise they stay pointers.
    pub lfs: bool,
}

impl CheckoutSpec {
    /// The commit that HEAD names. Over a modified tree it is one of ours, so that git in a build
    /// finds no changed files.
    fn head(&self, repository: &Repository) -> Result<CommitId, GitError> {
        match &self.laid {
            Some(laid) => laid.committed(repository, &self.commit),
            None => Ok(self.commit.clone()),
        }
    }
}

impl Worktree {
    /// Makes a worktree at `path` with a detached HEAD at `commit` and no files, or reuses the one
    /// from an earlier process. Removes a half-made worktree of a killed process. Never touches a
    /// folder that we did not make ([`GitError::NotOurs`]).
    ///
    /// With git 2.36 or newer, the worktree copies the sparse patterns of the user's worktree.
    pub(crate) fn add_detached(
        repository: &Repository,
        path: &Path,
        commit: &CommitId,
    ) -> Result<Self, GitError> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(io_error("make", parent))?;
        let parent = parent.canonicalize().map_err(io_error("find", parent))?;
        let path = parent.join(path.file_name().unwrap_or_default());
        bring_back(repository, &path)?;
        let marker = marker(&path);
        let ours = marker.exists();
        if ours {
            if let Some(worktree) = Self::take_up(repository, &path)? {
                return Ok(worktree);
            }
            remove_all(&path)?;
            forget(repository, &path)?;
        } else if !is_absent_or_empty(&path) {
            return Err(GitError::NotOurs(path));
        } else {
            // Somebody deleted the cache folder with the marker.
            forget_lost(repository, &path)?;
        }
        let note = "Made by bisect-ppl: the folder beside this file is a git worktree of its own,\n\
                    used again, and removed by `bisect-ppl store gc`.\n";
        fs::write(&marker, note).map_err(io_error("write", &marker))?;
        // Run from the user's worktree, so that git copies its sparse patterns.
        let mut call = repository.call().args(["worktree", "add", "--quiet"]);
        if ours {
            // Git may still list the removed folder, even as locked (git locks a worktree while it
            // makes one).
            call = call.args(["--force", "--force"]);
        }
        let call = call.args(["--detach", "--no-checkout"]).arg(&path).arg(commit.as_str());
        if let Err(error) = call.ok() {
            if !ours && is_absent_or_empty(&path) {
                let _ = fs::remove_file(&marker);
            }
            return Err(error);
        }
        let git_dir = registered(repository, &path).ok_or_else(|| GitError::Unreadable {
            command: path.join(".git").display().to_string(),
            what: "it does not lead to the worktree git has just made".to_owned(),
        })?;
        Ok(Self { repository: repository.clone(), path, git_dir, at: None })
    }

    /// Our worktree at this path, if there is one. Removes a half-made one of a killed process.
    pub(crate) fn existing(repository: &Repository, path: &Path) -> Result<Option<Self>, GitError> {
        if !marker(path).exists() {
            return Ok(None);
        }
        bring_back(repository, path)?;
        if let Some(worktree) = Self::take_up(repository, path)? {
            return Ok(Some(worktree));
        }
        remove_all(path)?;
        forget(repository, path)?;
        let marker = marker(path);
        fs::remove_file(&marker).or_else(absent_is_fine).map_err(io_error("remove", &marker))?;
        Ok(None)
    }

    /// Our worktree at this path with known content, so that [`Self::reset`] restores that
    /// content.
    pub(crate) fn with_checkout(
        repository: &Repository,
        path: &Path,
        checkout_spec: CheckoutSpec,
    ) -> Result<Self, GitError> {
        // The caller has just checked `checkout_spec` out, so this is not verified again.
        let mut worktree = match registered(repository, path) {
            Some(git_dir) if marker(path).exists() => {
                Self { repository: repository.clone(), path: path.to_owned(), git_dir, at: None }
            }
            _ => Self::add_detached(repository, path, &checkout_spec.commit)?,
        };
        worktree.at = Some(checkout_spec);
        Ok(worktree)
    }

    /// The worktree of an earlier process, if it is complete.
    fn take_up(repository: &Repository, path: &Path) -> Result<Option<Self>, GitError> {
        let Some(git_dir) = registered(repository, path) else { return Ok(None) };
        let worktree =
            Self { repository: repository.clone(), path: path.to_owned(), git_dir, at: None };
        remove_locks(&worktree.git_dir)?;
        if worktree.has_plain_head() {
            return Ok(Some(worktree));
        }
        let head = worktree.call().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        Ok((head.run()?.code == 0).then_some(worktree))
    }

    /// Whether HEAD is detached at an existing commit, the usual case. Needs no call of git.
    fn has_plain_head(&self) -> bool {
        let Some(commit) = detached_head(&self.git_dir) else { return false };
        History::open(&self.repository).and_then(|history| history.tree_id(&commit)).is_ok()
    }

    /// The worktree's folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks out exactly the commit's tree, or the modified tree: every tracked file, nothing
    /// else. With `submodules`, each submodule is checked out at its pin, to any depth. HEAD is
    /// the commit, or a child of it with the modified tree.
    ///
    /// Files that do not change keep their time stamps. Files in the worktree's git folder that git
    /// does not know are removed. If this disk or git refuses the tree, the error is
    /// [`GitError::CheckoutImpossible`].
    pub(crate) fn check_out(&mut self, checkout_spec: CheckoutSpec) -> Result<(), GitError> {
        self.at = Some(checkout_spec);
        remove_unknown_files(&self.git_dir)?;
        self.restore(Untracked::Remove).map(|_| ())
    }

    /// Removes all files, so that the next checkout writes every file anew, as in a clone.
    pub(crate) fn remove_files(&self) -> Result<(), GitError> {
        self.mend_link()?;
        start_over(&self.git_dir, &self.path)
    }

    /// Whether files of an earlier checkout are there. The next one writes only those that differ.
    pub(crate) fn has_files(&self) -> bool {
        self.git_dir.join(PRIVATE_INDEX).exists()
    }

    /// Restores tracked files and submodules to the last checkout. Untracked files stay, so
    /// in-source builds stay built. Returns whether a tracked file had been written since then,
    /// even if its content is the same.
    pub(crate) fn reset(&self) -> Result<bool, GitError> {
        Ok(self.restore(Untracked::Keep { look: Look::Times })?.is_written)
    }

    /// As [`Self::reset`]. Also returns the tracked files that are gone or had another content than
    /// at the last checkout.
    pub(crate) fn reset_and_compare(&self) -> Result<Written, GitError> {
        let mut written = self.restore(Untracked::Keep { look: Look::Contents })?;
        written.changed.sort();
        Ok(written)
    }

    /// As [`Self::reset`], without the look at the times of all tracked files.
    pub(crate) fn reset_unseen(&self) -> Result<(), GitError> {
        self.restore(Untracked::Keep { look: Look::Nowhere }).map(|_| ())
    }

    fn restore(&self, untracked: Untracked) -> Result<Written, GitError> {
        remove_locks(&self.git_dir)?;
        self.mend_link()?;
        sparsity::put_back(&self.git_dir)?;
        let (commit, submodules, lfs) = match &self.at {
            Some(at) => (at.head(&self.repository)?.to_string(), at.submodules, at.lfs),
            None => ("HEAD".to_owned(), false, false),
        };
        let disk = Disk::of(&marker(&self.path));
        let goal = Goal { commit: &commit, lfs, disk };
        let mut written = restore_tree(&self.git_dir, &self.path, goal, untracked)?;
        if submodules && self.declares_submodules() {
            let donors = [self.repository.common_dir(), self.repository.git_dir()];
            let tree = Tree { top: &self.path, git_dir: &self.git_dir, lfs, disk };
            let inner = submodules::check_out_submodules(&tree, &donors, untracked)?;
            written.include(inner, Path::new(""));
        }
        Ok(written)
    }

    /// Whether the commit may have submodules. Needs no call of git; true if a partial clone lacks
    /// the tree.
    fn declares_submodules(&self) -> bool {
        let Some(at) = &self.at else { return false };
        History::open(&self.repository)
            .and_then(|history| history.lists(&at.commit, ".gitmodules"))
            .unwrap_or(true)
    }

    /// Restores the worktree's `.git` file if a build removed or replaced it.
    fn mend_link(&self) -> Result<(), GitError> {
        if registered(&self.repository, &self.path).is_some() {
            return Ok(());
        }
        fs::create_dir_all(&self.path).map_err(io_error("make", &self.path))?;
        let link = self.path.join(".git");
        remove_all(&link)?;
        write_link(&link, &self.git_dir)
    }

    /// Removes the worktree's folder and git's record of it.
    pub(crate) fn remove(self) -> Result<(), GitError> {
        let call = self.repository.shared_call().args(["worktree", "remove"]);
        let removed = call.args(["--force", "--force"]).arg(&self.path).ok();
        if removed.is_err() {
            // Git failed: no write permission, a broken link, or a dying process that still
            // writes. So we remove the folders ourselves.
            remove_all(&self.path)?;
            remove_all(&self.git_dir)?;
        }
        let marker = marker(&self.path);
        fs::remove_file(&marker).or_else(absent_is_fine).map_err(io_error("remove", &marker))
    }

    /// Takes the worktree out of git's list, with all its files in their place. It must have no
    /// submodules.
    pub(crate) fn put_away(self) -> Result<(), GitError> {
        put_away(&self.repository, &self.git_dir, &self.path)
    }

    /// Whether the worktree at `path` is put away.
    pub(crate) fn is_put_away(repository: &Repository, path: &Path) -> bool {
        is_put_away(repository, path)
    }

    /// Puts the worktree at `path` back into git's list if it was put away. Returns whether git
    /// knows the worktree now.
    pub(crate) fn bring_back(repository: &Repository, path: &Path) -> Result<bool, GitError> {
        bring_back(repository, path)?;
        Ok(registered(repository, path).is_some())
    }

    /// A git call in this worktree.
    pub(super) fn call(&self) -> Call {
        Call::in_ours(&self.git_dir, &self.path)
    }
}

/// The git folder of the worktree at `path`, if the links between both folders agree and the
/// worktree is complete.
fn registered(repository: &Repository, path: &Path) -> Option<PathBuf> {
    let git_dir = read_link(&path.join(".git"))?;
    let all = repository.common_dir().join("worktrees");
    if git_dir.parent()? != all.canonicalize().ok()? || git_dir.join("locked").exists() {
        return None;
    }
    let back = read_back_link(&git_dir)?;
    let same = back.parent()?.canonicalize().ok()? == path.canonicalize().ok()?;
    (same && git_dir.join("HEAD").exists()).then_some(git_dir)
}

/// Tells git where our worktree at `path` is, after its folder was moved below the same grandparent
/// folder. Does nothing if git knows already, or if there is no worktree of ours.
///
/// `git worktree move` refuses worktrees with submodules.
pub(crate) fn mend_moved(path: &Path) -> io::Result<()> {
    let link = path.join(".git");
    let Some(git_dir) = read_link(&link).filter(|_| marker(path).exists()) else { return Ok(()) };
    let Some(known) = read_back_link(&git_dir) else { return Ok(()) };
    // A build may have replaced the link, so that it leads to another worktree's entry. Change only
    // an entry whose worktree was in a folder beside this one.
    let is_beside = known.ancestors().nth(3) == path.ancestors().nth(2)
        && known.file_name() == link.file_name();
    if known == link || !is_beside {
        return Ok(());
    }
    write_back_link(&git_dir, &link)
}

/// The file beside a worktree that marks it as ours.
fn marker(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".bisect-ppl");
    path.with_file_name(name)
}

fn is_absent_or_empty(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err(),
    }
}

#[cfg(test)]
mod tests;
