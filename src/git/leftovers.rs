//! What a git of ours leaves when it is killed, in the folder that all worktrees share. The
//! user's own git would stumble over it too, so it is no matter of patience.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::removal::remove_all;
use super::{GitError, Repository};

/// How long a leftover must lie untouched: git is within the making of a worktree for some
/// milliseconds.
const QUIET: Duration = Duration::from_secs(2);

impl Repository {
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

/// Entries that git locked to make a worktree of the names we use, and that do not yet say
/// what they belong to.
fn unfinished(common_dir: &Path) -> Vec<PathBuf> {
    let is_ours = |name: &str| {
        name.strip_prefix("src").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_empty = |file: PathBuf| fs::read(file).is_ok_and(|text| text.trim_ascii().is_empty());
    let is_missing = |file: PathBuf| !file.exists() || is_empty(file);
    let entries = fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_ours))
        .map(|entry| entry.path())
        .filter(|path| {
            let locked = fs::read(path.join("locked")).unwrap_or_default();
            locked.trim_ascii() == b"initializing"
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
