//! Walks a folder that a program wrote. Links are never followed: they may lead out of the folder
//! or in a circle. The number of entries has a limit, and the walk can be stopped.

use std::fs::FileType;
use std::path::{Component, Path, PathBuf};

/// The entries below a folder.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// Each path relative to the folder, with its kind; sorted by path.
    pub(crate) found: Vec<(PathBuf, FileType)>,
    /// Whether the walk ended early: at the limit, or because it was stopped.
    pub(crate) is_cut: bool,
}

/// Lists at most `most` entries below a folder. Folders that cannot be read have no entries.
/// `is_stopped` is asked at each entry.
pub(crate) fn below(folder: &Path, most: usize, is_stopped: &dyn Fn() -> bool) -> Entries {
    let mut entries = Entries::default();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let Ok(read) = std::fs::read_dir(folder.join(&inner)) else { continue };
        for entry in read.flatten() {
            if entries.found.len() >= most || is_stopped() {
                entries.is_cut = true;
                return entries;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = inner.join(entry.file_name());
            if kind.is_dir() {
                folders.push(path.clone());
            }
            entries.found.push((path, kind));
        }
    }
    entries.found.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

/// Whether a relative path stays below a folder and no part of it is a link; the folder itself must
/// not be a link either.
pub(crate) fn is_plain_path(folder: &Path, path: &Path) -> bool {
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_link = |path: &Path| {
        std::fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_symlink())
    };
    // Built from its parts: a slash at the end of a path would follow a link.
    let mut whole: PathBuf = folder.components().collect();
    is_below
        && !is_link(&whole)
        && !path.components().any(|part| {
            whole.push(part);
            is_link(&whole)
        })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_listed_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/x"), "").unwrap();
        symlink("..", folder.path().join("a/up")).unwrap();
        symlink("/", folder.path().join("root")).unwrap();
        let names = |entries: &Entries| {
            entries.found.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>()
        };
        let all = below(folder.path(), 100, &|| false);
        assert_eq!(names(&all), ["a", "a/up", "a/x", "root"]);
        assert!(!all.is_cut);
        assert!(below(folder.path(), 3, &|| false).is_cut);
        assert!(below(folder.path(), 100, &|| true).found.is_empty());
    }

    #[test]
    fn a_path_through_a_link_is_not_plain() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("out");
        std::fs::create_dir_all(top.join("deep")).unwrap();
        symlink("deep", top.join("link")).unwrap();
        symlink("out", folder.path().join("other")).unwrap();
        for (path, is_plain) in [
            ("deep/x", true),
            ("", true),
            ("link/x", false),
            ("link", false),
            ("../out/deep", false),
            ("/etc", false),
        ] {
            assert_eq!(is_plain_path(&top, Path::new(path)), is_plain, "{path}");
        }
        for path in ["deep", ""] {
            assert!(!is_plain_path(&folder.path().join("other"), Path::new(path)), "{path:?}");
        }
    }
}
