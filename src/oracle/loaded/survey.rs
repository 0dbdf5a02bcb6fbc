//! Lists all folders and file names below some folders.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::file_kind::{is_executable, is_library};

/// The folders, and a digest of every name.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    /// All folders, the top ones included.
    pub(super) folders: Vec<PathBuf>,
    /// SHA-256 over every path, link target and executable bit. A program could find a new or newly
    /// executable file before the old one, so such a file changes the digest.
    pub(super) names: String,
    /// The executable files, without links.
    pub(super) programs: Vec<PathBuf>,
    /// The shared objects, and links with such names.
    pub(super) libraries: Vec<PathBuf>,
    /// The Python sources, and links with such names.
    pub(super) sources: Vec<PathBuf>,
}

/// Walks the folders, without `.git` and without following links.
pub(super) fn survey(tops: &[PathBuf]) -> Survey {
    let mut walk = Walk { names: Sha256::new(), found: Survey::default() };
    for top in tops {
        walk.below(top, Path::new(""));
        walk.names.update(b"\n");
    }
    let Walk { names, found } = walk;
    Survey { names: crate::store::hex(&names.finalize()), ..found }
}

struct Walk {
    names: Sha256,
    /// What was found so far, without the digest of the names.
    found: Survey,
}

impl Walk {
    fn below(&mut self, folder: &Path, relative: &Path) {
        self.found.folders.push(folder.to_owned());
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut entries: Vec<_> = entries.flatten().filter(|e| e.file_name() != ".git").collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let below = relative.join(entry.file_name());
            self.names.update(below.as_os_str().as_encoded_bytes());
            if is_library(&entry.file_name()) {
                self.found.libraries.push(entry.path());
            } else if entry.path().extension().is_some_and(|kind| kind == "py") {
                self.found.sources.push(entry.path());
            }
            if let Ok(target) = entry.path().read_link() {
                self.names.update(b"\0");
                self.names.update(target.as_os_str().as_encoded_bytes());
            } else if entry.file_type().is_ok_and(|kind| kind.is_file())
                && is_executable(&entry.path())
            {
                // A link target never begins with a zero byte, so no target looks like these bytes.
                self.names.update(b"\0\0");
                self.found.programs.push(entry.path());
            }
            self.names.update(b"\n");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.below(&entry.path(), &below);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_links_count_and_contents_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("src");
        let names = || survey(std::slice::from_ref(&top)).names;
        std::fs::create_dir_all(top.join("a/.git")).unwrap();
        std::fs::write(top.join("a/one"), "1").unwrap();
        let before = names();
        std::fs::write(top.join("a/one"), "2").unwrap();
        std::fs::write(top.join("a/.git/HEAD"), "2").unwrap();
        assert_eq!(names(), before);
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(top.join("a/one"), executable).unwrap();
        assert_ne!(names(), before);
        assert_eq!(survey(std::slice::from_ref(&top)).programs, [top.join("a/one")]);
        std::fs::rename(top.join("a/one"), top.join("one")).unwrap();
        let moved = names();
        assert_ne!(moved, before);
        std::os::unix::fs::symlink("one", top.join("link")).unwrap();
        let linked = names();
        assert_ne!(linked, moved);
        std::fs::remove_file(top.join("link")).unwrap();
        std::os::unix::fs::symlink("two", top.join("link")).unwrap();
        assert_ne!(names(), linked);
        let folders = survey(std::slice::from_ref(&top)).folders;
        assert_eq!(folders, [top.clone(), top.join("a")]);
    }
}
