//! Files under the names that later commits give them, and the files that come into use by way of
//! them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::differ::{file_names, has_file_name};
use crate::git::ChangedLines;

/// If lines of followed files bring in more names of files, these tell nothing.
const MOST_INCLUDED: usize = 20;

/// Some files of a tree, followed from commit to commit.
#[derive(Debug)]
pub(super) struct FollowedFiles {
    /// By a file's present path: its path at the beginning.
    first: BTreeMap<String, String>,
    /// Files that came with the commit before the first one. They are not followed.
    new: BTreeSet<String>,
    /// Names of further files that lines of these files brought in: they may be used too.
    included: BTreeSet<String>,
}

impl FollowedFiles {
    /// These files, before the first commit. `new`: files that came with the commit before it.
    pub(super) fn new(paths: &BTreeSet<String>, new: &BTreeSet<String>) -> Self {
        let first = paths.iter().map(|path| (path.clone(), path.clone())).collect();
        Self { first, new: new.clone(), included: BTreeSet::new() }
    }

    /// Whether lines of these files brought in this name of a file.
    pub(super) fn include(&self, name: &str) -> bool {
        self.included.contains(name)
    }

    /// The files that the next commit edits, each by its path at the beginning; a file that lines of
    /// these files brought in, by that name. A file that only gets another name is not edited.
    /// `changed`: the commit's changed lines, in which a renamed file is gone under one path and new
    /// under another one.
    pub(super) fn edited_by(&mut self, changed: &[ChangedLines]) -> BTreeSet<String> {
        let is_edited = |name: &&String| changed.iter().any(|file| has_file_name(&file.path, name));
        let mut edited: BTreeSet<String> =
            self.included.iter().filter(is_edited).cloned().collect();
        let is_its = |path: &String| self.first.contains_key(path) || self.new.contains(path);
        for file in changed.iter().filter(|file| is_its(&file.path)) {
            let old = file_names(&file.path, &file.removed);
            let mut names = file_names(&file.path, &file.added);
            names.retain(|name| !old.contains(name));
            if self.included.len() + names.len() <= MOST_INCLUDED {
                self.included.append(&mut names);
            }
        }
        let mut renamed = Vec::new();
        for file in changed {
            let Some(first) = self.first.get(&file.path) else { continue };
            let new = if file.is_gone { renamed_to(file, changed) } else { None };
            if new.is_none_or(|new| new.added != file.removed) {
                edited.insert(first.clone());
            }
            renamed.extend(new.map(|new| [&file.path, &new.path]));
        }
        for [old, new] in renamed {
            if let Some(first) = self.first.remove(old) {
                self.first.insert(new.clone(), first);
            }
        }
        edited
    }
}

/// The new file of the same commit that has most lines of a file that is gone; `None` if no new
/// file shares more than half of the lines with it.
fn renamed_to<'c>(gone: &ChangedLines, changed: &'c [ChangedLines]) -> Option<&'c ChangedLines> {
    let new = changed.iter().filter(|file| file.is_new);
    let shared = new.map(|new| (shared_lines(&gone.removed, &new.added), new));
    let (count, new) = shared.max_by_key(|(count, _)| *count)?;
    (2 * count > gone.removed.len().max(new.added.len())).then_some(new)
}

/// How many lines two files have in common, wherever they are.
fn shared_lines(one: &[String], other: &[String]) -> usize {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for line in one {
        *left.entry(line.as_str()).or_default() += 1;
    }
    let mut shared = 0;
    for line in other {
        if let Some(count) = left.get_mut(line.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn edit(path: &str) -> ChangedLines {
        ChangedLines { path: path.to_owned(), added: lines(&["edited"]), ..ChangedLines::default() }
    }

    /// The changed lines of a commit that gives a file of three lines another name.
    fn rename(old: &str, new: &str, kept: usize) -> Vec<ChangedLines> {
        let (before, mut after) = (lines(&["a", "b", "c"]), lines(&["a", "b", "c"]));
        for line in after.iter_mut().skip(kept) {
            line.push('2');
        }
        let gone = ChangedLines { removed: before, is_gone: true, ..edit(old) };
        let new = ChangedLines { added: after, is_new: true, ..edit(new) };
        vec![ChangedLines { added: Vec::new(), ..gone }, new]
    }

    #[test]
    fn a_file_is_followed_under_each_of_its_names() {
        let fast = BTreeSet::from(["fast.c".to_owned()]);
        let mut files = FollowedFiles::new(&fast, &BTreeSet::new());
        assert!(files.edited_by(&[edit("slow.c")]).is_empty());
        assert!(files.edited_by(&rename("fast.c", "avx.c", 3)).is_empty(), "only another name");
        assert_eq!(files.edited_by(&[edit("avx.c")]), fast);
        assert!(files.edited_by(&[edit("fast.c")]).is_empty(), "another file");
        assert_eq!(files.edited_by(&rename("avx.c", "simd/avx.c", 2)), fast);
        assert_eq!(files.edited_by(&[edit("simd/avx.c"), edit("slow.c")]), fast);
    }

    #[test]
    fn a_file_that_a_followed_one_begins_to_include_is_followed() {
        let fast = BTreeSet::from(["src/fast.c".to_owned()]);
        let mut files = FollowedFiles::new(&fast, &BTreeSet::new());
        let line = |path, text: &str| ChangedLines { added: lines(&[text]), ..edit(path) };
        assert!(files.edited_by(&[line("src/slow.c", "#include \"tile.h\"")]).is_empty());
        assert!(files.edited_by(&[edit("src/tile.h")]).is_empty(), "not included yet");
        assert_eq!(files.edited_by(&[line("src/fast.c", "#include \"tile.h\"")]), fast);
        let included = BTreeSet::from(["tile.h".to_owned()]);
        assert_eq!(files.edited_by(&[edit("src/tile.h")]), included);
        assert!(files.include("tile.h") && !files.include("fast.c"));
        assert!(files.edited_by(&[edit("src/file.h")]).is_empty());
    }

    #[test]
    fn a_file_that_goes_while_another_one_comes_is_edited() {
        let fast = BTreeSet::from(["fast.c".to_owned()]);
        let mut files = FollowedFiles::new(&fast, &BTreeSet::new());
        assert_eq!(files.edited_by(&rename("fast.c", "other.c", 1)), fast);
        assert!(files.edited_by(&[edit("other.c")]).is_empty());
        assert_eq!(files.edited_by(&[edit("fast.c")]), fast);
    }
}
