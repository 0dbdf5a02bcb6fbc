//! The lines that a commit removes and adds.

use crate::evaluation::CommitId;

use super::parts::header;
use super::{GitError, History};

/// Largest change to read, bytes: a larger one copies another project's sources.
const LARGEST: usize = 64 << 20;

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
        let call = self.patch_call(&["--unified=0", "--no-renames", "--ignore-submodules=all"]);
        let call = call.arg(parent.as_str()).arg(commit.as_str()).arg("--").args(pathspecs);
        let output = GitError::if_readable(call.capture(LARGEST).ok())?;
        Ok(output.map(|output| read_lines(&String::from_utf8_lossy(&output.stdout))))
    }
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
