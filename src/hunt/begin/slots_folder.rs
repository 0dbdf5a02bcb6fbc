//! Where commits are built: the folder of the slots.

use std::path::PathBuf;

use crate::config::Config;
use crate::git::Repository;

/// The folder of the slots: the configured one, else the default in the user's cache folder.
pub(crate) fn slots_folder(config: &Config, repository: &Repository) -> PathBuf {
    match &config.worktree.dir {
        Some(dir) => config.base.join(dir).join(repository.id()).join("slots"),
        None => default_slots(repository),
    }
}

/// The folder of the slots if the configuration names none: in the user's cache folder.
pub(crate) fn default_slots(repository: &Repository) -> PathBuf {
    user_cache().join(repository.id()).join("slots")
}

/// The program's folder in the user's cache folder.
pub(crate) fn user_cache() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    variable("XDG_CACHE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("bisect-ppl")
}
