//! Watches the folders of `[worktree] link`. They belong to the user, and all commits share them: a
//! build or run that writes there would change the results of other commits. So the files there
//! are compared before and after each build and run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::files::FileState;
use crate::store::KeyHasher;

/// Maximum number of files to compare; more would take seconds at each build and run.
const MOST_FILES: usize = 200_000;

/// A build or a run wrote into a linked folder.
#[derive(Debug, thiserror::Error)]
#[error(
    "{what} of {commit} wrote {}{}, which all commits share by [worktree] link",
    path.display(), and_more(*.more)
)]
pub(crate) struct WroteLinked {
    /// Who wrote: `the build`, `a run of ppl`.
    pub what: String,
    /// The commit, abbreviated.
    pub commit: String,
    /// The first file that was written, created, or removed.
    pub path: PathBuf,
    /// Number of further files.
    pub more: usize,
}

impl WroteLinked {
    /// What the user can do about it.
    pub(crate) const HINT: &str = "every later commit would be measured with the changed files. Restore \
                            them (reinstall, for a .venv). Then install below {build}, or take the \
                            folder out of `link`, and start a new hunt";
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}

/// A snapshot of the files in linked folders.
#[derive(Debug)]
pub(crate) struct Linked {
    tops: Vec<PathBuf>,
    /// `None` if there are more than [`MOST_FILES`].
    files: Option<BTreeMap<PathBuf, FileState>>,
}

impl Linked {
    /// Takes a snapshot below those `names` that are links in `src`: a name that the commit tracks
    /// is not linked.
    pub(crate) fn below(src: &Path, names: &[String]) -> Self {
        let is_link = |path: &PathBuf| path.is_symlink();
        Self::at(names.iter().map(|name| src.join(name.trim_end_matches('/'))).filter(is_link))
    }

    /// Takes a snapshot of these files and folders.
    pub(crate) fn at(tops: impl IntoIterator<Item = PathBuf>) -> Self {
        let tops: Vec<PathBuf> =
            tops.into_iter().filter_map(|top| top.canonicalize().ok()).collect();
        let files = files(&tops);
        Self { tops, files }
    }

    /// Whether there are too many files to compare.
    pub(crate) fn is_too_large(&self) -> bool {
        self.files.is_none()
    }

    /// Takes a new snapshot; an error if a file was written, created, or removed. Compiled Python
    /// modules are ignored, since Python writes them wherever it runs. Too many files are not
    /// compared.
    pub(crate) fn check(&self, what: &str, commit: &str) -> Result<(), WroteLinked> {
        let (Some(before), Some(now)) = (&self.files, files(&self.tops)) else { return Ok(()) };
        let written = now.iter().filter(|(path, state)| before.get(*path) != Some(state));
        let removed = before.keys().filter(|path| !now.contains_key(*path));
        let mut changed = written.map(|(path, _)| path).chain(removed);
        let Some(path) = changed.next() else { return Ok(()) };
        Err(WroteLinked {
            what: what.to_owned(),
            commit: commit.to_owned(),
            path: path.clone(),
            more: changed.count(),
        })
    }
}

/// Digest of a link's target that does not exist.
pub(crate) const MISSING: &str = "missing";

/// A digest of a file or folder that is linked in, or [`MISSING`]. It covers the names, sizes and
/// times of all files, and not their content: a linked folder may have gigabytes, and every hunt
/// takes this digest. Compiled Python modules are left out. If there are more than [`MOST_FILES`]
/// files, only the top level counts.
pub(crate) fn linked_digest(target: &Path) -> String {
    let Ok(top) = target.canonicalize() else { return MISSING.to_owned() };
    let mut hasher = KeyHasher::new("linked");
    let files = files(std::slice::from_ref(&top)).unwrap_or_else(|| at_top(&top));
    for (path, FileState { size, modified: (seconds, nanoseconds), .. }) in files {
        let name = path.strip_prefix(&top).unwrap_or(&path).to_string_lossy().into_owned();
        let state = format!("{size} {seconds}.{nanoseconds}");
        hasher = hasher.field("file", &name).field("state", &state);
    }
    hasher.hex()
}

/// The state of a file, or of a link itself; `None` if the system does not tell.
fn state_of(path: &Path) -> Option<FileState> {
    std::fs::symlink_metadata(path).ok().map(|meta| FileState::from(&meta))
}

/// The entries of a folder, folders included.
fn at_top(top: &Path) -> BTreeMap<PathBuf, FileState> {
    let entries = std::fs::read_dir(top).into_iter().flatten().flatten().map(|entry| entry.path());
    let own = entries.filter(|path| !is_compiled_python(path));
    own.filter_map(|path| Some((path.clone(), state_of(&path)?))).collect()
}

/// Whether Python writes this file or folder by itself, wherever it runs.
pub(super) fn is_compiled_python(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "__pycache__")
        || path.extension().is_some_and(|ending| ending == "pyc")
}

fn files(tops: &[PathBuf]) -> Option<BTreeMap<PathBuf, FileState>> {
    let mut found = BTreeMap::new();
    let mut left = tops.to_vec();
    while let Some(path) = left.pop() {
        if is_compiled_python(&path) {
            continue;
        }
        // The file is gone again, so it does not count.
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path()));
        } else {
            found.insert(path, FileState::from(&meta));
        }
        if found.len() > MOST_FILES {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_appears_or_changes_has_another_digest() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().join(".venv");
        assert_eq!(linked_digest(&venv), MISSING);
        std::fs::create_dir(&venv).unwrap();
        let empty = linked_digest(&venv);
        std::fs::write(venv.join("a.so"), "1").unwrap();
        let one = linked_digest(&venv);
        assert_eq!(linked_digest(&venv), one);
        std::fs::write(venv.join("b.pyc"), "").unwrap();
        assert_eq!(linked_digest(&venv), one, "Python writes these wherever it runs");
        let file = std::fs::File::options().append(true).open(venv.join("a.so")).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        file.set_modified(time + std::time::Duration::from_secs(1)).unwrap();
        let later = linked_digest(&venv);
        // The folder may move.
        std::fs::rename(&venv, folder.path().join("moved")).unwrap();
        assert_eq!(linked_digest(&folder.path().join("moved")), later);
        assert!(empty != MISSING && empty != one && one != later);
        assert_ne!(linked_digest(&folder.path().join("moved/a.so")), later);
    }

    #[test]
    fn what_is_written_below_a_link_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let venv = folder.path().canonicalize().unwrap().join(".venv");
        let src = folder.path().join("src");
        std::fs::create_dir_all(venv.join("lib")).unwrap();
        std::fs::create_dir_all(&src).unwrap();
        std::fs::write(venv.join("lib/a.so"), "1").unwrap();
        std::os::unix::fs::symlink(&venv, src.join(".venv")).unwrap();
        std::fs::write(src.join("own"), "1").unwrap();
        let names = [".venv/".to_owned(), "own".to_owned(), "none".to_owned()];
        let before = Linked::below(&src, &names);
        let first = |before: &Linked| before.check("the build", "abc").err().map(|e| e.path);
        std::fs::write(src.join("own"), "2").unwrap();
        std::fs::read(venv.join("lib/a.so")).unwrap();
        std::fs::create_dir(venv.join("lib/__pycache__")).unwrap();
        std::fs::write(venv.join("lib/__pycache__/a.cpython-312.pyc"), "").unwrap();
        std::fs::write(venv.join("lib/b.pyc"), "").unwrap();
        assert_eq!(first(&before), None);
        std::fs::write(venv.join("lib/new.so"), "1").unwrap();
        assert_eq!(first(&before), Some(venv.join("lib/new.so")));
        let before = Linked::below(&src, &names);
        let meta = std::fs::metadata(venv.join("lib/a.so")).unwrap();
        std::fs::write(venv.join("lib/a.so"), "2").unwrap();
        let file = std::fs::File::options().write(true).open(venv.join("lib/a.so")).unwrap();
        file.set_modified(meta.modified().unwrap()).unwrap();
        assert_eq!(first(&before), Some(venv.join("lib/a.so")), "with its old time and size");
        let before = Linked::below(&src, &names);
        std::fs::remove_file(venv.join("lib/a.so")).unwrap();
        std::fs::write(venv.join("lib/new.so"), "2").unwrap();
        let error = before.check("the build", "abc").unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with("the build of abc wrote /") && said.contains("(and 1 more)"));
    }
}
