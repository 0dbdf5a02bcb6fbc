//! Removes leftovers from the git folder that all worktrees share.
//!
//! A killed git leaves unfinished entries for worktrees. They do not go away, and the user's own
//! git fails at them too. A deleted cache folder leaves entries too, and git refuses to make a
//! worktree at a path that it still knows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::gitfile::read_back_link;
use super::put_away::forget_lost_away;
use super::removal::remove_all;
use super::{GitError, Repository};

/// How long an entry must stay unfinished before it is removed. Git makes a worktree in
/// milliseconds.
const QUIET: Duration = Duration::from_secs(2);

/// The reason that git gives for its lock while it makes a worktree.
const MAKING: &[u8] = b"initializing";

impl Repository {
    /// Removes git's entries for those of our worktrees below this folder of slots that no longer
    /// exist.
    pub(crate) fn forget_lost_slots(&self, slots: &Path) -> Result<(), GitError> {
        let slots = place(slots);
        forget_lost_away(self, &slots)?;
        forget_where(self, |known| {
            let folder = known.path.parent().and_then(Path::parent);
            // A locked entry may be under construction in a slot of another process.
            let is_unlocked = !known.entry.join("locked").exists();
            is_unlocked && known.is_lost() && folder.is_some_and(|folder| place(folder) == slots)
        })
    }

    /// Removes unfinished entries of our worktrees that a killed git left: every `git worktree`
    /// fails at them. Takes 2 seconds if there are any; entries that are finished meanwhile stay.
    pub(crate) fn repair(&self) -> Result<(), GitError> {
        let unfinished = unfinished(self.common_dir());
        if unfinished.is_empty() {
            return Ok(());
        }
        std::thread::sleep(QUIET);
        for entry in self::unfinished(self.common_dir()) {
            if unfinished.contains(&entry) {
                remove_all(&entry)?;
            }
        }
        Ok(())
    }
}

/// Git's entry of a linked worktree.
struct Registration {
    /// The entry's folder in `worktrees`.
    entry: PathBuf,
    /// The worktree's path.
    path: PathBuf,
}

fn registrations(common_dir: &Path) -> impl Iterator<Item = Registration> + use<> {
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let entry = entry.path();
        let path = read_back_link(&entry)?.parent()?.to_owned();
        Some(Registration { entry, path })
    })
}

impl Registration {
    /// Whether this is a worktree of ours that is gone and that no person locked.
    fn is_lost(&self) -> bool {
        let is_ours = self.entry.file_name().and_then(|name| name.to_str()).is_some_and(is_ours);
        is_ours && !self.path.join(".git").exists() && !self.is_held()
    }

    /// Whether a person locked the entry. Git's own lock while it makes a worktree does not count.
    fn is_held(&self) -> bool {
        fs::read(self.entry.join("locked")).is_ok_and(|why| why.trim_ascii() != MAKING)
    }
}

/// Removes git's entries of our worktree at `path`, whose folder is gone: a killed `git worktree
/// remove` leaves one.
pub(super) fn forget(repository: &Repository, path: &Path) -> Result<(), GitError> {
    forget_where(repository, |known| place(&known.path) == place(path))
}

/// As [`forget`], for a worktree without our marker, which was deleted with the cache folder. The
/// entry must have a name of ours and be lost.
pub(super) fn forget_lost(repository: &Repository, path: &Path) -> Result<(), GitError> {
    forget_where(repository, |known| known.is_lost() && place(&known.path) == place(path))
}

fn forget_where(
    repository: &Repository,
    is_meant: impl Fn(&Registration) -> bool,
) -> Result<(), GitError> {
    for known in registrations(repository.common_dir()).filter(is_meant) {
        remove_all(&known.entry)?;
    }
    Ok(())
}

/// A path with links resolved in the part that exists.
fn place(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|top| Some((top, top.canonicalize().ok()?)));
    match there.and_then(|(top, real)| Some(real.join(path.strip_prefix(top).ok()?))) {
        // A join with an empty path would add a slash at the end.
        Some(found) => found.components().collect(),
        None => path.to_owned(),
    }
}

/// Whether git may give this name to a worktree of ours: `src`, `src1`, `src2`, ….
fn is_ours(name: &str) -> bool {
    name.strip_prefix("src").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Entries with our names that git still locks while it makes them and that lack the link to their
/// worktree or to the repository.
fn unfinished(common_dir: &Path) -> Vec<PathBuf> {
    let is_empty = |file: PathBuf| fs::read(file).is_ok_and(|text| text.trim_ascii().is_empty());
    let is_missing = |file: PathBuf| !file.exists() || is_empty(file);
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_ours))
        .map(|entry| entry.path())
        .filter(|path| {
            // A git that was killed at once has not written the reason.
            let locked = fs::read(path.join("locked")).ok();
            locked.is_some_and(|why| [b"".as_slice(), MAKING].contains(&why.trim_ascii()))
                && ["gitdir", "commondir"].iter().any(|name| is_missing(path.join(name)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::Fixture;
    use super::*;

    #[test]
    fn what_a_killed_git_left_is_removed_and_what_lives_stays() {
        let (fixture, _) = Fixture::line(1);
        let repository = fixture.repository();
        let common = repository.common_dir().to_owned();
        let entry = |name: &str| common.join("worktrees").join(name);
        for name in ["src7", "srcx"] {
            fs::create_dir_all(entry(name)).unwrap();
            fs::write(entry(name).join("locked"), "initializing").unwrap();
            fs::write(entry(name).join("gitdir"), "").unwrap();
        }
        fs::create_dir_all(entry("src8")).unwrap();
        fs::write(entry("src8").join("locked"), "").unwrap();
        repository.repair().unwrap();
        assert!(!entry("src7").exists() && !entry("src8").exists());
        assert!(entry("srcx").exists(), "not a name of ours");
    }
}
