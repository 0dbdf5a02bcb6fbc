//! Finds files that changed in the user's home folder where an empty home folder has links. Builds
//! and runs only read what is installed there. If a file changed during a hunt, an engine may keep
//! results there, and an empty home folder does not hide them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::home_links::{home_links, user_home, xdg_folders};
use super::linked::is_compiled_python;

/// Maximum number of entries of one place to look at; more would take seconds.
const MOST_ENTRIES: usize = 100_000;

/// A folder of downloaded packages in an installation of conda.
const PACKAGES: &str = "pkgs";

/// A file that changed since this time below a link of an empty home folder, as `~/PATH`. The
/// caches of tools and compilers do not count, and compiled Python modules neither. Files that were
/// removed are not seen.
pub(crate) fn changed_in_home(since: SystemTime) -> Option<String> {
    let own = user_home()?;
    changed_in(&own, &xdg_folders(&own, |name| std::env::var_os(name)), since)
}

fn changed_in(own: &Path, shared: &[(&'static str, PathBuf)], since: SystemTime) -> Option<String> {
    let mut installed = home_links(own, shared).into_iter().filter(|link| link.is_installed);
    installed.find_map(|link| {
        // The place itself may be a link of the user's.
        let top = own.join(&link.path).canonicalize().ok()?;
        let changed = changed_below(&top, since)?;
        let inner = changed.strip_prefix(&top).unwrap_or(&changed);
        let path = if inner.as_os_str().is_empty() { link.path } else { link.path.join(inner) };
        Some(format!("~/{}", path.display()))
    })
}

/// The first file, in order of the paths, that changed since this time. Links are not followed.
fn changed_below(top: &Path, since: SystemTime) -> Option<PathBuf> {
    let mut found: Option<PathBuf> = None;
    let mut left = vec![top.to_owned()];
    let mut entries = 0;
    while let Some(path) = left.pop() {
        if is_compiled_python(&path) || path.file_name().is_some_and(|name| name == PACKAGES) {
            continue;
        }
        entries += 1;
        if entries > MOST_ENTRIES {
            break;
        }
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            let inner = std::fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(inner.map(|entry| entry.path()));
        } else if changed_at(&meta) > since && found.as_ref().is_none_or(|first| path < *first) {
            found = Some(path);
        }
    }
    found
}

/// When a file's content or its entry last changed. No program can set this time.
fn changed_at(meta: &std::fs::Metadata) -> SystemTime {
    let seconds = u64::try_from(meta.ctime()).unwrap_or(0);
    let nanoseconds = u32::try_from(meta.ctime_nsec()).unwrap_or(0);
    UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_since_counts_and_no_cache_of_a_tool() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        let before = UNIX_EPOCH;
        let later = SystemTime::now() + Duration::from_hours(1);
        let changed = |since| changed_in(home.path(), &[], since);
        for tool in [
            ".cargo/registry/a",
            ".cache/ccache/a",
            ".config/engine/a",
            ".local/lib/python3.12/__pycache__/a.nbi",
            "miniconda3/pkgs/a",
        ] {
            write(tool);
        }
        assert_eq!(changed(before), None);
        let packages = "python3.12/site-packages/engine";
        write(&format!(".local/lib/{packages}/tuned.json"));
        write(&format!(".local/lib/{packages}/b.json"));
        assert_eq!(changed(before), Some(format!("~/.local/lib/{packages}/b.json")));
        assert_eq!(changed(later), None);
    }

    #[test]
    fn a_single_file_has_its_own_name() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".gitconfig"), "").unwrap();
        assert_eq!(changed_in(home.path(), &[], UNIX_EPOCH), Some("~/.gitconfig".to_owned()));
    }
}
