//! Whether the tree of a later commit still has a commit's change, judged by text alone. A revert
//! removes the lines; a reapplied change brings them back. Nothing is built, so the answer only
//! says where to look.

mod absence;
mod added;
mod dropped;
mod edits;
mod followed;
mod held;
mod later_place;
mod lines;
mod main_line;
mod own_place;
mod put_back;
mod returned;
mod taken_back;
mod taken_lines;
mod touching;
mod traced_lines;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::{ObjectType, Oid};

use crate::evaluation::CommitId;

use super::raw_path::os;
use super::{FileChange, GitError, History};
pub(crate) use absence::CommitsWithoutChange;
pub(crate) use added::AddedFile;
pub(crate) use held::{HeldLines, MergeWithoutLines};
use later_place::LaterPlace;
use lines::LineComparison;
pub(crate) use taken_back::TakenBack;

/// Maximum number of a change's files to compare and to follow. [`History::whole_change`] compares
/// all files.
const MOST_FILES: usize = 400;
/// Maximum number of commits to examine one by one.
const MOST_COMMITS: usize = 5000;

/// The change of a commit against its parent, file by file.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    files: Vec<FileOfChange>,
}

/// One file of a change.
#[derive(Clone, Debug)]
struct FileOfChange {
    path: Vec<u8>,
    before: Option<Oid>,
    after: Option<Oid>,
    added: BTreeSet<Vec<u8>>,
    removed: BTreeSet<Vec<u8>>,
    /// How `added` and `removed` were made; lines of other commits are compared in the same way.
    by: LineComparison,
    /// Where later commits put the file, or its lines. Empty unless [`History::followed`] looked.
    later: Vec<LaterPlace>,
    /// The tree before the change.
    tree_before: Oid,
    /// For each tree, by its object name: whether the file is in or below it under another path.
    /// Neighbouring commits share most of their trees.
    moved: RefCell<BTreeMap<Oid, bool>>,
}

impl Change {
    /// Only the file with this path; all files if none has this path.
    pub(crate) fn in_file(&self, path: &str) -> Self {
        let own = self.files.iter().filter(|file| is_among(&file.path, &[path]));
        let files: Vec<FileOfChange> = own.cloned().collect();
        if files.is_empty() { self.clone() } else { Self { files } }
    }

    /// Whether the change touches the file or submodule with this path.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.iter().any(|file| is_among(&file.path, &[path]))
    }

    /// All paths of the change's files: their own, and those to which later commits took them.
    fn all_paths(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(FileOfChange::paths)
    }

    /// Whether these files are all among those of the change, or are later places of its lines.
    fn touches_all(&self, altered: &[FileChange]) -> bool {
        let own: BTreeSet<&[u8]> = self.all_paths().collect();
        altered.iter().all(|file| own.contains(&*file.path))
    }
}

/// Whether at least one of these holds, and as many hold as do not.
fn are_most(told: impl Iterator<Item = bool>) -> bool {
    let (there, gone): (Vec<bool>, Vec<bool>) = told.partition(|is_there| *is_there);
    !there.is_empty() && there.len() >= gone.len()
}

fn is_among(path: &[u8], paths: &[&str]) -> bool {
    let path = String::from_utf8_lossy(path);
    paths.iter().any(|one| *one == path)
}

impl FileOfChange {
    /// Whether at least half of the lines that the change added are among these.
    fn has_most_added(&self, lines: &BTreeSet<Vec<u8>>) -> bool {
        2 * self.added.intersection(lines).count() >= self.added.len()
    }

    /// Whether at least half of the lines that the change removed are among these.
    fn has_most_removed(&self, lines: &BTreeSet<Vec<u8>>) -> bool {
        2 * self.removed.intersection(lines).count() >= self.removed.len()
    }

    /// Whether these lines contain all lines that the change removed, and none that it added.
    fn has_old_lines(&self, lines: &BTreeSet<Vec<u8>>) -> bool {
        self.removed.is_subset(lines) && self.added.is_disjoint(lines)
    }

    /// Whether these lines contain all lines that the change added, and none that it removed.
    fn keeps_lines(&self, lines: &BTreeSet<Vec<u8>>) -> bool {
        self.added.is_subset(lines) && self.removed.is_disjoint(lines)
    }
}

impl History {
    /// The change of `commit` against `parent`.
    pub(crate) fn change(&self, parent: &CommitId, commit: &CommitId) -> Result<Change, GitError> {
        self.change_in(parent, commit, &[])
    }

    /// Only the files of the change with these paths; all of its files if none has such a path.
    pub(crate) fn change_in(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        paths: &[&str],
    ) -> Result<Change, GitError> {
        self.compared(parent, commit, paths, MOST_FILES)
    }

    /// The change with all of its files, however many there are.
    fn whole_change(&self, parent: &CommitId, commit: &CommitId) -> Result<Change, GitError> {
        self.compared(parent, commit, &[], usize::MAX)
    }

    /// The files of the change with these paths, or all of its files. At most `most` files.
    fn compared(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        paths: &[&str],
        most: usize,
    ) -> Result<Change, GitError> {
        let mut changed = self.diff_files(Some(parent), commit)?;
        if changed.iter().any(|file| is_among(&file.path, paths)) {
            changed.retain(|file| is_among(&file.path, paths));
        }
        let tree_before = self.commit(parent)?.tree;
        let mut files = Vec::new();
        for file in changed.into_iter().take(most) {
            let before = self.entry_at(parent, &file.path);
            let after = self.entry_at(commit, &file.path);
            let (by, [old, new]) = self.telling_lines(before, after);
            files.push(FileOfChange {
                added: new.difference(&old).cloned().collect(),
                removed: old.difference(&new).cloned().collect(),
                by,
                path: file.path,
                before,
                after,
                later: Vec::new(),
                tree_before,
                moved: RefCell::default(),
            });
        }
        Ok(Change { files })
    }

    /// Whether at least one file of the tree of `commit` still has the change; `None` if the text
    /// does not tell.
    pub(crate) fn contains_change(&self, commit: &CommitId, change: &Change) -> Option<bool> {
        let mut is_gone = false;
        for file in &change.files {
            match self.carries_file(commit, file) {
                Some(true) => return Some(true),
                Some(false) => is_gone = true,
                None => {}
            }
        }
        is_gone.then_some(false)
    }

    /// Whether each file of the change is in the tree of `commit` as the change left it, or has all
    /// lines that the change added and none that it removed. False for a file without such lines.
    pub(crate) fn keeps_lines(&self, commit: &CommitId, change: &Change) -> bool {
        change.files.iter().all(|file| {
            let here = self.version(commit, file);
            let has_lines = !file.added.is_empty() || !file.removed.is_empty();
            here == file.after || (has_lines && file.keeps_lines(&self.lines(here, file.by)))
        })
    }

    /// Whether the tree of `commit` lacks the change and at least one file is as before the change,
    /// as after a revert.
    pub(crate) fn is_restored(&self, commit: &CommitId, change: &Change) -> bool {
        self.contains_change(commit, change) == Some(false)
            && change.files.iter().any(|file| self.is_as_before(commit, file))
    }

    /// Whether the tree of `commit` lacks the change's lines, but no file is as before the change:
    /// other lines replaced them.
    pub(crate) fn is_reworked(&self, commit: &CommitId, change: &Change) -> bool {
        self.contains_change(commit, change) == Some(false) && !self.is_restored(commit, change)
    }

    /// Whether the tree of `commit` lacks the change, or at least one file is as before the change.
    pub(crate) fn is_gone_in_part(&self, commit: &CommitId, change: &Change) -> bool {
        let is_put_back =
            |file: &FileOfChange| file.before != file.after && self.is_as_before(commit, file);
        self.contains_change(commit, change) == Some(false) || change.files.iter().any(is_put_back)
    }

    /// The files that are as before the change, each as a change of its own. A file that the change
    /// added does not count.
    pub(crate) fn put_back(&self, commit: &CommitId, change: &Change) -> Vec<Change> {
        let is_put_back = |file: &&FileOfChange| {
            file.before.is_some() && file.before != file.after && self.is_as_before(commit, file)
        };
        let files = change.files.iter().filter(is_put_back);
        files.map(|file| Change { files: vec![file.clone()] }).collect()
    }

    /// Whether `commit`, compared with `parent`, alters a file that the change does not touch.
    pub(crate) fn alters_other_files(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        change: &Change,
    ) -> Result<bool, GitError> {
        Ok(!change.touches_all(&self.diff_files(Some(parent), commit)?))
    }

    /// Whether a file of the change is as before the change in `commit`, but not in `parent`.
    pub(crate) fn restores_file(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        change: &Change,
    ) -> bool {
        let is_put_back = |file: &FileOfChange| {
            self.is_as_before(commit, file) && !self.is_as_before(parent, file)
        };
        change.files.iter().any(is_put_back)
    }

    /// Whether the file is as before the change: byte for byte or, after other commits edited it
    /// too, with all lines that the change removed and none that it added.
    fn is_as_before(&self, commit: &CommitId, file: &FileOfChange) -> bool {
        let here = self.version(commit, file);
        if here == file.before {
            return here.is_some() || !self.is_moved(commit, file);
        }
        // Without a removed line, other lines may have replaced the added ones.
        let is_telling = !file.removed.is_empty() && file.by == LineComparison::Text;
        is_telling && here != file.after && file.has_old_lines(&self.lines(here, file.by))
    }

    /// Whether the tree of `commit` has the changed file under another path. Does not count if the
    /// tree before the change has such a file already.
    fn is_moved(&self, commit: &CommitId, file: &FileOfChange) -> bool {
        // Without lines to compare, as in an empty file, any other file may be equal by chance.
        file.by == LineComparison::Text
            && !file.added.is_empty()
            && self.commit(commit).is_ok_and(|it| self.has_elsewhere(it.tree, file))
            && !self.has_elsewhere(file.tree_before, file)
    }

    /// Whether a tree has a file with the changed file's content, or one with its name and at least
    /// half of the lines that the change added.
    fn has_elsewhere(&self, tree: Oid, file: &FileOfChange) -> bool {
        if let Some(known) = file.moved.borrow().get(&tree) {
            return *known;
        }
        let name = file.path.rsplit(|byte| *byte == b'/').next();
        let is_it = |entry: &git2::TreeEntry<'_>| match entry.kind() {
            Some(ObjectType::Tree) => self.has_elsewhere(entry.id(), file),
            Some(ObjectType::Blob) => {
                Some(entry.id()) == file.after
                    || (name == Some(entry.name_bytes())
                        && file.has_most_added(&self.lines(Some(entry.id()), file.by)))
            }
            _ => false,
        };
        let found = self.objects.find_tree(tree).is_ok_and(|tree| tree.iter().any(|e| is_it(&e)));
        file.moved.borrow_mut().insert(tree, found);
        found
    }

    /// Whether the tree of `commit` has the change in at least half of the files that can be
    /// judged. Some files (a version, a log) differ in every commit, so half is enough.
    pub(crate) fn carries_mostly(&self, commit: &CommitId, change: &Change) -> bool {
        are_most(change.files.iter().filter_map(|file| self.carries_file(commit, file)))
    }

    fn carries_file(&self, commit: &CommitId, file: &FileOfChange) -> Option<bool> {
        let here = self.version(commit, file);
        if here == file.after
            || (here.is_none() && self.is_moved(commit, file))
            || self.is_carried_elsewhere(commit, file)
        {
            return Some(true);
        }
        if here == file.before {
            return Some(false);
        }
        let lines = self.lines(here, file.by);
        if lines.is_empty() {
            return None;
        }
        match (file.added.len(), file.removed.len()) {
            (0, 0) => None,
            // The change only removed lines: either these are back or not.
            (0, _) => Some(!file.has_most_removed(&lines)),
            // A file with a counter has neither the old nor the new lines later.
            _ if file.by == LineComparison::Layout => {
                let is_there = file.has_most_added(&lines);
                (is_there || file.has_most_removed(&lines)).then_some(is_there)
            }
            _ => Some(file.has_most_added(&lines)),
        }
    }

    /// Whether two commits have the same file at a path, or both have no file there.
    pub(crate) fn has_same_file(&self, one: &CommitId, other: &CommitId, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        self.entry_at(one, path) == self.entry_at(other, path)
    }

    fn entry_at(&self, commit: &CommitId, path: &[u8]) -> Option<Oid> {
        let tree = self.objects.find_tree(self.commit(commit).ok()?.tree).ok()?;
        let entry = tree.get_path(Path::new(os(path))).ok()?;
        // The entry of a submodule is its pinned commit.
        let is_leaf = matches!(entry.kind(), Some(ObjectType::Blob | ObjectType::Commit));
        is_leaf.then(|| entry.id())
    }
}

#[cfg(test)]
mod tests;
