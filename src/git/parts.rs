//! The parts of a change: its files and their hunks, and files with only some of the hunks.
//!
//! Files are made from whole lines of the two versions, never by applying a patch, so no hunk can
//! land at a wrong place.

use std::ops::Range;

use crate::evaluation::{CommitId, WholeChange};

use super::{GitError, History};

/// Largest file that is split into hunks, bytes.
const LARGEST: usize = 8 << 20;

/// The mode of a submodule.
pub(super) const SUBMODULE: &str = "160000";

/// How git finds the lines that two files have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffAlgorithm {
    /// Git's own default, as `git show` numbers hunks.
    Default,
    /// For files that have large blocks in common and large blocks apart: the default's shortcuts
    /// cut these into many small pieces.
    Histogram,
}

/// One side of a changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSide {
    /// The path from the top of the tree, as raw bytes.
    pub path: Vec<u8>,
    /// The mode as git writes it, such as `100644`.
    pub mode: String,
    /// The object: a blob, or the commit of a submodule.
    pub object: String,
}

impl FileSide {
    /// Whether this is a plain file, and no link or submodule.
    pub(super) fn is_plain(&self) -> bool {
        self.mode.starts_with("100")
    }
}

/// A file that a commit changes; a renamed file is one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// Before the change; `None` for a new file.
    pub old: Option<FileSide>,
    /// After the change; `None` for a deleted file.
    pub new: Option<FileSide>,
}

/// The lines of a hunk, context included, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The lines before the change.
    pub old: Range<usize>,
    /// The lines after the change.
    pub new: Range<usize>,
}

/// A file's two versions and the hunks between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The content before the change.
    pub old: Vec<u8>,
    /// The content after the change.
    pub new: Vec<u8>,
    /// The hunks in the order of the file, as `git show` numbers them.
    pub hunks: Vec<Hunk>,
}

impl Split {
    /// The old content with only these hunks of the new one. All hunks give the new content, no
    /// hunk the old one.
    pub(crate) fn with(&self, chosen: impl Fn(usize) -> bool) -> Vec<u8> {
        let (old, new) = (lines(&self.old), lines(&self.new));
        let mut made: Vec<&[u8]> = Vec::with_capacity(self.old.len().max(self.new.len()));
        let mut from = 0;
        for (number, hunk) in self.hunks.iter().enumerate() {
            made.extend(&old[from..hunk.old.start]);
            let (side, range) = if chosen(number) { (&new, &hunk.new) } else { (&old, &hunk.old) };
            made.extend(&side[range.clone()]);
            from = hunk.old.end;
        }
        made.extend(&old[from..]);
        made.concat()
    }
}

impl ChangedFile {
    /// The path after the change, or before it if the file is deleted.
    pub(crate) fn path(&self) -> &[u8] {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map_or(&[], |side| side.path.as_slice())
    }

    /// The path for people; bytes that are not UTF-8 are replaced.
    pub(crate) fn shown_path(&self) -> String {
        String::from_utf8_lossy(self.path()).into_owned()
    }

    /// What the change is, if it is no change of the file's text.
    pub(crate) fn whole_change(&self) -> Option<WholeChange> {
        let Some(new) = &self.new else { return Some(WholeChange::Removal) };
        if new.mode == SUBMODULE {
            return Some(WholeChange::Submodule);
        }
        let old = self.old.as_ref()?;
        let is_same = old.path == new.path && old.object == new.object;
        is_same.then_some(WholeChange::Mode)
    }

    /// The path before the change, if it was another one.
    pub(crate) fn renamed_from(&self) -> Option<String> {
        let (old, new) = (self.old.as_ref()?, self.new.as_ref()?);
        (old.path != new.path).then(|| String::from_utf8_lossy(&old.path).into_owned())
    }
}

impl History {
    /// The files that `commit` changes against `parent`. Renames are found as `git show` finds
    /// them.
    pub(crate) fn changed_files(
        &self,
        parent: &CommitId,
        commit: &CommitId,
    ) -> Result<Vec<ChangedFile>, GitError> {
        let call = self.repository().shared_call().args([
            "diff-tree",
            "-r",
            "-M",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-commit-id",
            "--ignore-submodules=none",
        ]);
        let call = call.args([parent.as_str(), commit.as_str(), "--"]);
        let command = call.shown();
        let printed = self.repository().answer(call)?;
        read_files(&printed).ok_or_else(|| GitError::Unreadable {
            command,
            what: "an unexpected record".to_owned(),
        })
    }

    /// The hunks of a changed file; `None` if it cannot be split: it is new, deleted, a link, a
    /// submodule, binary or very large, or a partial clone lacks it.
    pub(crate) fn split(&self, file: &ChangedFile) -> Result<Option<Split>, GitError> {
        let (Some(old), Some(new)) = (&file.old, &file.new) else { return Ok(None) };
        if !old.is_plain() || !new.is_plain() {
            return Ok(None);
        }
        let read = || -> Result<Split, GitError> {
            let (before, after) = (self.content(&old.object)?, self.content(&new.object)?);
            let objects = [&old.object, &new.object];
            let hunks = self.hunks(objects, DiffAlgorithm::Default, 3)?;
            Ok(Split { old: before, new: after, hunks })
        };
        Ok(GitError::if_readable(read())?.filter(Split::is_sound))
    }

    /// The hunks between two objects, with so many lines of context.
    pub(super) fn hunks(
        &self,
        objects: [&String; 2],
        by: DiffAlgorithm,
        context: usize,
    ) -> Result<Vec<Hunk>, GitError> {
        let algorithm = match by {
            DiffAlgorithm::Default => "diff.algorithm=default",
            DiffAlgorithm::Histogram => "diff.algorithm=histogram",
        };
        let call = self.repository().shared_call().args([
            "-c",
            algorithm,
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--inter-hunk-context=0",
        ]);
        let call = call.arg(format!("--unified={context}")).args(objects);
        Ok(read_hunks(&call.capture(4 * LARGEST).ok()?.stdout))
    }

    /// The text of one side of a file; `None` if it is a link or submodule, binary or very large,
    /// or a partial clone lacks it.
    pub(crate) fn text(&self, side: &FileSide) -> Result<Option<String>, GitError> {
        if !side.is_plain() {
            return Ok(None);
        }
        let bytes = GitError::if_readable(self.content(&side.object))?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.filter(|text| !text.contains('\0')))
    }

    pub(super) fn content(&self, object: &str) -> Result<Vec<u8>, GitError> {
        let call = self.repository().shared_call().args(["cat-file", "blob", object]);
        self.repository().answer(call.capture(LARGEST))
    }
}

impl Split {
    /// The lines of a hunk, before and after.
    pub(crate) fn lines_of(&self, hunk: usize) -> [Vec<&[u8]>; 2] {
        let Some(Hunk { old, new }) = self.hunks.get(hunk) else { return Default::default() };
        [(&self.old, old), (&self.new, new)]
            .map(|(text, range)| lines(text).drain(range.clone()).collect())
    }

    /// Whether the hunks fit the contents: all of them give the new content. Binary files have no
    /// hunks, and so do not fit.
    pub(super) fn is_sound(&self) -> bool {
        let (old, new) = (lines(&self.old).len(), lines(&self.new).len());
        let mut ends = (0, 0);
        let is_in_order = self.hunks.iter().all(|hunk| {
            let is_next = hunk.old.start >= ends.0 && hunk.new.start >= ends.1;
            ends = (hunk.old.end, hunk.new.end);
            is_next && hunk.old.start <= hunk.old.end && hunk.new.start <= hunk.new.end
        });
        is_in_order && ends.0 <= old && ends.1 <= new && self.with(|_| true) == self.new
    }
}

/// The lines with their ends.
pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Reads `diff-tree --raw -z`: `:MODE MODE OBJECT OBJECT STATUS`, then the path, for a rename the
/// old one and the new one.
fn read_files(bytes: &[u8]) -> Option<Vec<ChangedFile>> {
    let mut fields = bytes.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    let mut files = Vec::new();
    while let Some(head) = fields.next() {
        let head = std::str::from_utf8(head.strip_prefix(b":")?).ok()?;
        let words: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old_object, new_object, status] = words[..] else { return None };
        let path = fields.next()?.to_vec();
        let is_moved = status.starts_with(['R', 'C']);
        let new_path = if is_moved { fields.next()?.to_vec() } else { path.clone() };
        let side = |path: Vec<u8>, mode: &str, object: &str| {
            let exists = mode != "000000";
            exists.then(|| FileSide { path, mode: mode.to_owned(), object: object.to_owned() })
        };
        files.push(ChangedFile {
            old: side(path, old_mode, old_object),
            new: side(new_path, new_mode, new_object),
        });
    }
    Some(files)
}

/// Reads the headers of the hunks.
fn read_hunks(diff: &[u8]) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let mut left = [0_usize; 2];
    for line in diff.split(|byte| *byte == b'\n') {
        if left != [0, 0] {
            let counts = match line.first() {
                Some(b'-') => [1, 0],
                Some(b'+') => [0, 1],
                Some(b'\\') => [0, 0],
                _ => [1, 1],
            };
            left = [left[0].saturating_sub(counts[0]), left[1].saturating_sub(counts[1])];
        } else if let Some([old, new]) = header(line) {
            left = [old.len(), new.len()];
            hunks.push(Hunk { old, new });
        }
    }
    hunks
}

/// The removed and the added lines of a hunk header, `@@ -START[,COUNT] +START[,COUNT] @@`, which
/// counts from 1. A range without lines names the line before it.
pub(super) fn header(line: &[u8]) -> Option<[Range<usize>; 2]> {
    let text = std::str::from_utf8(line.get(..line.len().min(80))?);
    let text = text.unwrap_or_else(|error| {
        std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default()
    });
    let mut words = text.strip_prefix("@@ ")?.split(' ');
    let mut range = |mark| {
        let range = words.next()?.strip_prefix(mark)?;
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
        let start = if count == 0 { start } else { start.checked_sub(1)? };
        Some(start..start + count)
    };
    Some([range('-')?, range('+')?])
}

#[cfg(test)]
mod tests;
