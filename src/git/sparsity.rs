//! Restores a worktree's sparse patterns (`git sparse-checkout`) to their state at its creation.
//! Patterns that a build sets would hide files of the next commit.

use std::fs;
use std::path::Path;

use super::GitError;
use super::error::io_error;
use super::removal::{absent_is_fine, remove_all};

/// Git's files for sparse patterns, below the worktree's git folder.
const FILES: [&str; 2] = ["config.worktree", "info/sparse-checkout"];
/// Folder of our copies of these files.
pub(super) const GIVEN: &str = "given-by-bisect-ppl";

/// Restores the sparse patterns; the first call saves them.
pub(super) fn put_back(git_dir: &Path) -> Result<(), GitError> {
    let given = git_dir.join(GIVEN);
    if !given.is_dir() {
        return keep(git_dir, &given);
    }
    for name in FILES {
        let (kept, now) = (given.join(flat(name)), git_dir.join(name));
        let content = read(&kept)?;
        if content == read(&now)? {
            continue;
        }
        match content {
            Some(bytes) => fs::write(&now, bytes).map_err(io_error("write", &now))?,
            None => {
                fs::remove_file(&now).or_else(absent_is_fine).map_err(io_error("remove", &now))?;
            }
        }
    }
    Ok(())
}

fn keep(git_dir: &Path, given: &Path) -> Result<(), GitError> {
    let made = given.with_extension("new");
    remove_all(&made)?;
    fs::create_dir(&made).map_err(io_error("make", &made))?;
    for name in FILES {
        if let Some(bytes) = read(&git_dir.join(name))? {
            let kept = made.join(flat(name));
            fs::write(&kept, bytes).map_err(io_error("write", &kept))?;
        }
    }
    fs::rename(&made, given).map_err(io_error("write", given))
}

/// The bytes of a file; `None` if there is no file.
fn read(file: &Path) -> Result<Option<Vec<u8>>, GitError> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("read", file)(error)),
    }
}

fn flat(name: &str) -> String {
    name.replace('/', "-")
}
