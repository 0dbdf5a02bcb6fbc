//! Finds what a command works on, from the current folder: the repository, the configuration file
//! and the hunt.

use std::path::{Path, PathBuf};

use crate::git::{GitError, Repository};
use crate::store::{HuntDir, Store};

use super::Failed;

/// The repository that the current folder is in.
pub(super) fn here() -> Result<Repository, Failed> {
    Repository::discover(&current_folder()?).map_err(not_found)
}

/// As [`here`], for an oracle on the machine of its driver.
pub(super) fn here_again() -> Result<Repository, Failed> {
    Repository::discover_again(&current_folder()?).map_err(not_found)
}

/// The failure if there is no repository, or none that is supported.
fn not_found(error: GitError) -> Failed {
    let hint = error.hint();
    if error.is_usage() {
        Failed::usage(error.into(), hint)
    } else {
        Failed::world(error.into(), hint)
    }
}

/// The current folder.
pub(super) fn current_folder() -> Result<PathBuf, Failed> {
    std::env::current_dir().map_err(|error| {
        let error = anyhow::Error::new(error).context("the current folder does not exist");
        Failed::usage(error, Some("change into a folder that exists".to_owned()))
    })
}

/// The path of the configuration: the named file, else `oracle.toml` in the current folder, else
/// at the top of the checkout. Paths in the file are relative to its folder.
pub(super) fn config_path(named: Option<&Path>, repository: Option<&Repository>) -> PathBuf {
    let usual = Path::new("oracle.toml");
    if let Some(named) = named {
        return named.to_owned();
    }
    let top = repository.and_then(Repository::top).map(|top| top.join(usual));
    match top {
        Some(top) if !usual.exists() && top.exists() => top,
        _ => usual.to_owned(),
    }
}

/// The repository of the current folder, and its hunt by name or the newest one.
pub(super) fn hunt_here(name: Option<&str>) -> Result<(Repository, HuntDir), Failed> {
    let repository = here()?;
    let store = Store::open(repository.common_dir()).map_err(Failed::store)?;
    let hunt = store.hunt(name).map_err(Failed::store)?;
    Ok((repository, hunt))
}

/// The path of this program, which `git bisect run` calls.
pub(super) fn program() -> Result<PathBuf, Failed> {
    std::env::current_exe().map_err(|error| Failed::world(error.into(), None))
}
