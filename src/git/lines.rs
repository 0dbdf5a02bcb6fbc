//! The lines that a commit removes and adds.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::CommitId;

use super::command::Call;
use super::parts::header;
use super::{GitError, History};

/// Largest change to read, bytes: a larger one copies another project's sources.
const LARGEST: usize = 64 << 20;
/// Maximum number of changes to ask for in one call.
const MOST_TOGETHER: usize = 64;
/// Maximum size of the text that one call of git returns for several changes, in bytes. If there is
/// more, each change gets a call of its own.
const LARGEST_TOGETHER: usize = 16 << 20;

/// The changed lines of one file, as UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangedLines {
    /// The path; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Whether the file is only in the newer tree.
    pub is_new: bool,
    /// Whether the file is only in the older tree.
    pub is_gone: bool,
    /// The removed lines, in order.
    pub removed: Vec<String>,
    /// The added lines, in order.
    pub added: Vec<String>,
}

impl History {
    /// The changed lines of `commit` against `parent` in files of these pathspecs, without binary
    /// files. `None` if the change is too large, or a partial clone lacks a file and cannot fetch
    /// it.
    pub(crate) fn changed_lines(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        pathspecs: &[String],
    ) -> Result<Option<Vec<ChangedLines>>, GitError> {
        let call = self.lines_call().arg(parent.as_str()).arg(commit.as_str());
        let call = call.arg("--").args(pathspecs).capture(LARGEST);
        let printed = GitError::if_readable(self.repository().answer(call))?;
        Ok(printed.map(|printed| read_lines(&String::from_utf8_lossy(&printed))))
    }

    /// For each commit of a line: its [`Self::changed_lines`] in all files against the commit
    /// before it. The first one is compared with `before`. Git is called once for many commits.
    pub(crate) fn changed_lines_along<'a>(
        &'a self,
        before: &'a CommitId,
        line: &'a [CommitId],
    ) -> impl Iterator<Item = Result<Option<Vec<ChangedLines>>, GitError>> {
        let lasts = line.chunks(MOST_TOGETHER).filter_map(<[CommitId]>::last);
        let befores = std::iter::once(before).chain(lasts);
        befores
            .zip(line.chunks(MOST_TOGETHER))
            .flat_map(move |(before, commits)| self.changed_lines_together(before, commits))
    }

    fn changed_lines_together(
        &self,
        before: &CommitId,
        line: &[CommitId],
    ) -> Vec<Result<Option<Vec<ChangedLines>>, GitError>> {
        let steps = || std::iter::once(before).chain(line).zip(line);
        // Git alone says what is wrong with a commit that cannot be read.
        let trees = |(old, new): (&CommitId, &CommitId)| {
            Some(format!("{} {}\n", self.tree_id(old).ok()?, self.tree_id(new).ok()?))
        };
        let trees: Vec<Option<String>> = steps().map(trees).collect();
        let input: String = trees.iter().flatten().map(String::as_str).collect();
        let call = self.lines_call().args(["--stdin", "--"]).input(input);
        let printed = match call.capture(LARGEST_TOGETHER).ok() {
            Ok(output) => output.stdout,
            // One of the changes cannot be read, or they are too large together.
            Err(
                GitError::Unreadable { .. } | GitError::Promised { .. } | GitError::Command { .. },
            ) => Vec::new(),
            Err(error) => return vec![Err(error)],
        };
        let asked: BTreeSet<&[u8]> = trees.iter().flatten().map(String::as_bytes).collect();
        let diffs = diffs_of(&printed, &asked);
        let changes = steps().zip(&trees).map(|((old, new), trees)| {
            match trees.as_ref().and_then(|trees| diffs.get(trees.as_bytes())) {
                Some(diff) => Ok(Some(read_lines(&String::from_utf8_lossy(diff)))),
                None => self.changed_lines(old, new, &[]),
            }
        });
        changes.collect()
    }

    /// A call of git that prints diffs for [`read_lines`].
    fn lines_call(&self) -> Call {
        self.patch_call(&["--unified=0", "--no-renames", "--ignore-submodules=all"])
    }
}

/// Splits the output of `git diff-tree --stdin` into diffs. `asked`: the lines that git read, each
/// the names of two trees and a line end. Git prints such a line again before its diff, and omits
/// both if a tree cannot be read. The returned diffs have these lines as keys. No line of a diff
/// begins with the name of a tree, so none looks like such a line.
fn diffs_of<'a>(printed: &'a [u8], asked: &BTreeSet<&[u8]>) -> BTreeMap<&'a [u8], &'a [u8]> {
    let mut diffs = BTreeMap::new();
    // The line of the current diff, and the place where that diff begins.
    let mut current: Option<(&[u8], usize)> = None;
    let mut place = 0;
    for line in printed.split_inclusive(|byte| *byte == b'\n') {
        if asked.contains(line) {
            if let Some((trees, begin)) = current {
                diffs.insert(trees, &printed[begin..place]);
            }
            current = Some((line, place + line.len()));
        }
        place += line.len();
    }
    if let Some((trees, begin)) = current {
        diffs.insert(trees, &printed[begin..]);
    }
    diffs
}

/// Reads a unified diff without context. The hunk headers give the number of lines, since a changed
/// line may look like a header.
fn read_lines(diff: &str) -> Vec<ChangedLines> {
    let mut files: Vec<ChangedLines> = Vec::new();
    let mut lines = diff.split('\n');
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            files.push(ChangedLines::default());
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("--- ") {
            file.is_new = path == "/dev/null";
            file.path = named(path, "a/").unwrap_or_default();
        } else if let Some(path) = line.strip_prefix("+++ ") {
            file.is_gone = path == "/dev/null";
            file.path = named(path, "b/").unwrap_or_else(|| std::mem::take(&mut file.path));
        } else if let Some([removed, added]) = header(line.as_bytes()) {
            file.removed.extend(taken(&mut lines, removed.len()));
            file.added.extend(taken(&mut lines, added.len()));
        }
    }
    files.retain(|file| !file.removed.is_empty() || !file.added.is_empty());
    files
}

/// Takes `count` lines of a hunk, without their markers and without the note about a missing
/// newline.
fn taken<'a>(lines: &mut impl Iterator<Item = &'a str>, count: usize) -> Vec<String> {
    let lines = lines.filter(|line| !line.starts_with('\\'));
    lines.take(count).map(|line| line.get(1..).unwrap_or_default().to_owned()).collect()
}

/// The path in `a/x`, `b/with space<TAB>` or `"b/\"x\""`; `None` for `/dev/null`.
pub(super) fn named(text: &str, prefix: &str) -> Option<String> {
    let text = text.strip_suffix('\t').unwrap_or(text);
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let path = quoted.map_or_else(|| text.to_owned(), unquoted);
    path.strip_prefix(prefix).map(str::to_owned)
}

/// Undoes git's quoting of names with quotes, backslashes, or control characters.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(digit @ b'0'..=b'3') => {
                let digits = [digit, rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                digits.iter().fold(0_u8, |value, digit| {
                    value.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0'))
                })
            }
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(other) => other,
            None => b'\\',
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
