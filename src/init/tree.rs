//! The tree that `init` reads: tracked files only, since a hunt builds nothing else.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::git::{GitError, Repository, Snapshot};
use crate::ui;

use super::objects::{LONGEST, Objects, Stored};
use super::text::Text;

/// Maximum number of bytes to read in all, so that a tree of any size takes a second or two.
const ENOUGH: u64 = 96 * 1024 * 1024;

/// A checkout, or the tree of a commit in its history.
pub(super) struct Tree {
    top: PathBuf,
    source: Source,
    /// The user's folder, relative to the top; empty at the top.
    pub(super) here: String,
    /// Tracked files, relative to the top, sorted. Paths that are not UTF-8 are left out, since
    /// a configuration cannot name them.
    files: Vec<String>,
    texts: RefCell<HashMap<String, Option<Rc<Text>>>>,
    read: Cell<u64>,
    lacking: RefCell<Vec<String>>,
}

/// Where the texts of files come from.
enum Source {
    Disk,
    Commit(Stored),
}

/// The file and line where something was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) file: String,
    pub(super) line: usize,
}

impl Origin {
    pub(super) fn new(file: &str, line: usize) -> Self {
        Self { file: file.to_owned(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", ui::printable_line(&self.file), self.line)
    }
}

impl Tree {
    /// The checkout that contains `folder` (absolute); `None` if the repository is bare.
    pub(super) fn open(repository: &Repository, folder: &Path) -> Result<Option<Self>, GitError> {
        let Some(top) = repository.top() else { return Ok(None) };
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let here = real.strip_prefix(top).unwrap_or(Path::new(""));
        let paths = repository.tracked_files()?;
        let files = paths.into_iter().filter_map(|path| path.into_os_string().into_string().ok());
        Ok(Some(Self::of(top, &here.to_string_lossy(), files.collect())))
    }

    /// A checkout with these files in it.
    pub(super) fn of(top: &Path, here: &str, files: Vec<String>) -> Self {
        Self::from(top, here, files, Source::Disk)
    }

    /// The tree of a commit. Symbolic links are listed as files, but have no text.
    pub(super) fn at(&self, snapshot: Snapshot, objects: &Rc<Objects>) -> Self {
        let mut files = snapshot.links;
        files.extend(snapshot.files.iter().map(|(path, _)| path.clone()));
        let stored = Stored::new(snapshot.files, objects);
        Self::from(&self.top, &self.here, files, Source::Commit(stored))
    }

    fn from(top: &Path, here: &str, mut files: Vec<String>, source: Source) -> Self {
        files.sort();
        Self {
            top: top.to_owned(),
            source,
            here: here.to_owned(),
            files,
            texts: RefCell::default(),
            read: Cell::default(),
            lacking: RefCell::default(),
        }
    }

    /// Whether the text of a file that `is_one` accepts was asked for and is missing, as happens
    /// in a partial clone.
    pub(super) fn lacks(&self, is_one: impl Fn(&str) -> bool) -> bool {
        self.lacking.borrow().iter().any(|file| is_one(file))
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.files.binary_search_by(|known| known.as_str().cmp(file)).is_ok()
    }

    /// Files below a folder (empty: the top), relative to the top.
    pub(super) fn below<'t>(&'t self, folder: &str) -> impl Iterator<Item = &'t str> + use<'t> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let begin = self.files.partition_point(|file| file.as_str() < prefix.as_str());
        let rest = self.files[begin..].iter().map(String::as_str);
        rest.take_while(move |file| file.starts_with(&prefix))
    }

    /// Files directly in a folder.
    pub(super) fn within<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
        self.below(folder).filter(move |file| parent(file) == folder)
    }

    /// The text of a tracked file. `None` if the file is missing, cannot be read, is too long, or
    /// is not a plain file: reading a link to a pipe would wait for ever.
    pub(super) fn text(&self, file: &str) -> Option<Rc<Text>> {
        if let Some(known) = self.texts.borrow().get(file) {
            return known.clone();
        }
        let text = if self.has(file) { self.load(file) } else { None };
        self.texts.borrow_mut().insert(file.to_owned(), text.clone());
        text
    }

    fn load(&self, file: &str) -> Option<Rc<Text>> {
        match &self.source {
            Source::Disk => {
                let path = self.top.join(file);
                let about = fs::metadata(&path).ok()?;
                if !about.is_file() || about.len() > LONGEST {
                    return None;
                }
                self.spend(about.len())?;
                Some(Text::new(String::from_utf8_lossy(&fs::read(path).ok()?)))
            }
            Source::Commit(stored) => {
                let Some(text) = stored.text(file) else {
                    self.lacking.borrow_mut().push(file.to_owned());
                    return None;
                };
                self.spend(text.len() as u64)?;
                Some(text)
            }
        }
    }

    /// Counts the bytes read; `None` if the total is more than [`ENOUGH`].
    fn spend(&self, bytes: u64) -> Option<()> {
        self.read.set(self.read.get() + bytes);
        (self.read.get() <= ENOUGH).then_some(())
    }

    /// Folders that may hold the main build file, the likeliest first: the user's folder, the
    /// folders above it, and the folders one level below.
    pub(super) fn roots(&self) -> Vec<String> {
        let mut roots = vec![self.here.clone()];
        let mut folder = self.here.as_str();
        while !folder.is_empty() {
            folder = parent(folder);
            roots.push(folder.to_owned());
        }
        let inside = self.below(&self.here).map(|file| inside(&self.here, file));
        let names = inside.filter_map(|file| file.split_once('/')).map(|(name, _)| name);
        let mut below: Vec<String> = names.map(|name| join(&self.here, name)).collect();
        below.dedup();
        roots.extend(below);
        roots
    }
}

/// The path from a folder, of a file in it.
pub(super) fn inside<'p>(folder: &str, file: &'p str) -> &'p str {
    if folder.is_empty() { file } else { &file[folder.len() + 1..] }
}

/// The folder of a path; empty for the top.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A file's name without folder and ending.
pub(super) fn stem(path: &str) -> &str {
    let name = base(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// What follows the last dot of a file's name.
pub(super) fn ending(path: &str) -> &str {
    base(path).rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// `folder/path` with `.` and `..` resolved. A path that leaves the tree ends at its top, so it
/// names no tracked file.
pub(super) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a path is a source in C, C++ or one of their GPU dialects.
pub(super) fn is_c(path: &str) -> bool {
    matches!(ending(path), "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "cu" | "hip" | "m" | "mm")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tree with these files, in a folder that exists as long as the returned `TempDir`.
    pub(in crate::init) fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let names = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        let tree = Tree::of(folder.path(), "", names);
        (folder, tree)
    }

    #[test]
    fn a_build_may_begin_here_above_or_one_level_below() {
        let files = ["a/b/c/x", "a/b/y", "a/d/z", "e/f"].map(str::to_owned).to_vec();
        let at = |here: &str| Tree::of(Path::new("/"), here, files.clone()).roots();
        assert_eq!(at(""), ["", "a", "e"]);
        assert_eq!(at("a/b"), ["a/b", "a", "", "a/b/c"]);
        assert_eq!(at("nowhere"), ["nowhere", ""]);
    }

    #[test]
    fn only_plain_tracked_files_are_read() {
        let (folder, tree) = tree(&[("a.txt", "a"), ("dir/b", "b")]);
        fs::write(folder.path().join("untracked"), "c").unwrap();
        assert_eq!(&**tree.text("a.txt").unwrap(), "a");
        assert!(tree.text("untracked").is_none());
        assert!(tree.text("dir").is_none());
        let looped = Tree::of(folder.path(), "", vec!["loop".to_owned(), "zero".to_owned()]);
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero")).unwrap();
        assert!(looped.text("loop").is_none() && looped.text("zero").is_none());
    }

    #[test]
    fn paths_are_joined_as_a_build_system_does() {
        assert_eq!(join("a/b", "../c/./d"), "a/c/d");
        assert_eq!(join("", "x"), "x");
        assert_eq!(
            (parent("a/b.c"), base("a/b.c"), stem("a/b.c"), ending("a/b.c")),
            ("a", "b.c", "b", "c")
        );
    }
}
