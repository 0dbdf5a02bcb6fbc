//! Worktrees with a finished build that stay on the disk while no hunt runs. Git must not list them
//! then: a hunt that has ended leaves the user's repository as it was. So git's entry of such a
//! worktree is moved out of git's list, and back when a hunt takes the build.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::io_error;
use super::gitfile::{link_target, read_back_link, write_back_link, write_link};
use super::removal::remove_all;
use super::{GitError, Repository};

/// Where the entries are, below the folder that all worktrees share.
const AWAY: &str = "bisect-ppl/worktrees";

/// Takes the entry `git_dir` of the worktree at `path` out of git's list. The files of the worktree
/// stay. It must have no submodules, whose links would lead nowhere.
pub(super) fn put_away(
    repository: &Repository,
    git_dir: &Path,
    path: &Path,
) -> Result<(), GitError> {
    let all = repository.common_dir().join(AWAY);
    fs::create_dir_all(&all).map_err(io_error("make", &all))?;
    // Git may give the name that the entry has now to another worktree meanwhile.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = format!("src{}", now.as_nanos());
    let list = repository.common_dir().join("worktrees");
    let link = path.join(".git");
    set_back_link(git_dir, &link)?;
    write_link(&link, &list.join(&name))?;
    fs::rename(git_dir, all.join(name)).map_err(io_error("move", git_dir))?;
    // As git does with an empty list. Fails if there are other worktrees.
    let _ = fs::remove_dir(&list);
    Ok(())
}

/// Whether the entry of the worktree at `path` is put away.
pub(super) fn is_put_away(repository: &Repository, path: &Path) -> bool {
    entry_name(path).is_some_and(|name| repository.common_dir().join(AWAY).join(name).exists())
}

/// Puts the entry of the worktree at `path` back into git's list, if it was put away.
pub(super) fn bring_back(repository: &Repository, path: &Path) -> Result<(), GitError> {
    let Some(name) = entry_name(path) else { return Ok(()) };
    let list = repository.common_dir().join("worktrees");
    let (away, entry) = (repository.common_dir().join(AWAY).join(&name), list.join(&name));
    // A build may have replaced the link. Change only the entry of a slot beside this one.
    let slots = path.ancestors().nth(2);
    let is_beside = worktree_of(&away).is_some_and(|known| known.ancestors().nth(2) == slots);
    if !is_beside || entry.exists() {
        return Ok(());
    }
    fs::create_dir_all(&list).map_err(io_error("make", &list))?;
    fs::rename(&away, &entry).map_err(io_error("move", &away))?;
    set_back_link(&entry, &path.join(".git"))
}

/// Removes the entries that were put away for worktrees below this folder of slots that no longer
/// exist.
pub(super) fn forget_lost_away(repository: &Repository, slots: &Path) -> Result<(), GitError> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let sources = entries(slots).map(|slot| slot.path().join("src"));
    let known: BTreeSet<OsString> = sources.filter_map(|path| entry_name(&path)).collect();
    for entry in entries(&repository.common_dir().join(AWAY)) {
        let path = worktree_of(&entry.path());
        let is_here = path.is_some_and(|path| path.ancestors().nth(2) == Some(slots));
        if is_here && !known.contains(&entry.file_name()) {
            remove_all(&entry.path())?;
        }
    }
    Ok(())
}

/// The name of the entry to which the worktree at `path` links.
fn entry_name(path: &Path) -> Option<OsString> {
    Some(link_target(&path.join(".git"))?.file_name()?.to_owned())
}

/// The worktree of an entry that was put away, where it was then.
fn worktree_of(entry: &Path) -> Option<PathBuf> {
    read_back_link(entry)?.parent().map(Path::to_owned)
}

/// Writes into an entry where the worktree's `.git` file is.
fn set_back_link(entry: &Path, link: &Path) -> Result<(), GitError> {
    write_back_link(entry, link).map_err(io_error("write", entry))
}
