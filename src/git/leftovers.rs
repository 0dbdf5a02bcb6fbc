//! What a git of ours leaves when it is killed, in the folder that all worktrees share. The
//! user's own git would stumble over it too, so it is no matter of patience. And what a cache folder
//! that was deleted leaves there: git refuses to make a worktree at a path that it still knows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::changes::os;
use super::removal::remove_all;
use super::{GitError, Repository};

/// How long a leftover must lie untouched: git is within the making of a worktree for some
/// milliseconds.
const QUIET: Duration = Duration::from_secs(2);

/// Why git locks a worktree that it makes.
const MAKING: &[u8] = b"initializing";

impl Repository {
    /// Forgets worktrees of ours that lay below this folder of slots, and are gone with it.
    pub fn forget_lost_slots(&self, slots: &Path) -> Result<(), GitError> {
        let slots = place(slots);
        forget_where(self, |known| {
            let folder = known.path.parent().and_then(Path::parent);
            // One that is locked may be in the making, in a slot that somebody else holds.
            let is_still = !known.entry.join("locked").exists();
            is_still && known.is_lost() && folder.is_some_and(|folder| place(folder) == slots)
        })
    }

    /// Removes what a killed git left behind: entries of worktrees of ours that were never
    /// finished, at which every `git worktree` stops. Whatever moves stays.
    pub fn mend(&self) -> Result<(), GitError> {
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

/// What git knows of a linked worktree.
struct Registration {
    /// Its folder in `worktrees`.
    entry: PathBuf,
    /// Where the worktree should lie.
    path: PathBuf,
}

fn registrations(common_dir: &Path) -> impl Iterator<Item = Registration> + use<> {
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let entry = entry.path();
        let back = fs::read(entry.join("gitdir")).ok()?;
        // Absolute, or from the entry.
        let path = entry.join(os(back.trim_ascii_end())).parent()?.to_owned();
        Some(Registration { entry, path })
    })
}

impl Registration {
    /// Whether it is of a worktree of ours that is gone, and nobody holds on to it.
    fn is_lost(&self) -> bool {
        let is_ours = self.entry.file_name().and_then(|name| name.to_str()).is_some_and(is_ours);
        is_ours && !self.path.join(".git").exists() && !self.is_held()
    }

    /// Whether a person has locked it; git does so while it makes one.
    fn is_held(&self) -> bool {
        fs::read(self.entry.join("locked")).is_ok_and(|why| why.trim_ascii() != MAKING)
    }
}

/// Removes what git knows of a worktree of ours whose folder is gone: a git that was killed while
/// it removed one leaves that behind.
pub(super) fn forget(repository: &Repository, path: &Path) -> Result<(), GitError> {
    forget_where(repository, |known| place(&known.path) == place(path))
}

/// The same where nothing says that it was ours but its name and that it is lost: a marker that
/// went with the cache folder.
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

/// A path with all links resolved, as far as it is there.
fn place(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|top| Some((top, top.canonicalize().ok()?)));
    match there.and_then(|(top, real)| Some(real.join(path.strip_prefix(top).ok()?))) {
        // What is joined with nothing would end with a slash.
        Some(found) => found.components().collect(),
        None => path.to_owned(),
    }
}

/// Whether git may have called a worktree of ours so: after its folder, with a number.
fn is_ours(name: &str) -> bool {
    name.strip_prefix("src").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Entries that git locked to make a worktree of the names we use, and that do not yet say
/// what they belong to.
fn unfinished(common_dir: &Path) -> Vec<PathBuf> {
    let is_empty = |file: PathBuf| fs::read(file).is_ok_and(|text| text.trim_ascii().is_empty());
    let is_missing = |file: PathBuf| !file.exists() || is_empty(file);
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_ours))
        .map(|entry| entry.path())
        .filter(|path| {
            let locked = fs::read(path.join("locked")).unwrap_or_default();
            locked.trim_ascii() == MAKING
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
        repository.mend().unwrap();
        assert!(!entry("src7").exists());
        assert!(entry("srcx").exists(), "not a name of ours");
    }
}
