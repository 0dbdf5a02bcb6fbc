//! A commit's change as text for people, and its message.

use crate::evaluation::CommitId;

use super::command::Call;
use super::lines::named;
use super::raw_path::os;
use super::{GitError, History};

/// Longest change of a merge against all its parents to read, bytes.
const LONGEST_MERGE: usize = 64 << 20;

/// The change of one file, as `git diff` writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileDiff {
    /// The path after the change; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The path before the change, if the file was renamed.
    pub renamed_from: Option<String>,
    /// The lines: what a hunk does not show (a new mode, a binary file), then the hunks with their
    /// headers.
    pub lines: Vec<String>,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
}

impl History {
    /// The change of `commit` against `parent` as a unified diff, of these paths only, or of all
    /// if `paths` is empty. `None` if it is longer than `most` bytes, or if a partial clone lacks a
    /// file and cannot fetch it.
    pub(crate) fn diff(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        paths: &[&[u8]],
        most: usize,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let call = self.patch_call(&[
            "-M",
            "--unified=3",
            "--submodule=short",
            "--ignore-submodules=none",
        ]);
        let call = call.arg(parent.as_str()).arg(commit.as_str()).arg("--");
        let literal = |path: &&[u8]| [b":(top,literal)", *path].concat();
        let paths: Vec<_> = paths.iter().map(literal).collect();
        let call = call.args(paths.iter().map(|path| os(path)));
        GitError::if_readable(self.repository().answer(call.capture(most)))
    }

    /// The files in which a merge differs from each of its parents, as `git show` lists them: what
    /// the merge itself changes. Bytes of paths that are not UTF-8 are replaced. `None` if that is
    /// too long, or if a partial clone lacks a file and cannot fetch it.
    pub(crate) fn own_files_of_merge(
        &self,
        merge: &CommitId,
    ) -> Result<Option<Vec<String>>, GitError> {
        let call = self.patch_call(&["--cc", "--ignore-submodules=none"]);
        let call = call.arg(merge.as_str()).arg("--");
        let output = GitError::if_readable(call.capture(LONGEST_MERGE).ok())?;
        let files = |diff: &str| -> Vec<String> {
            let names = diff.lines().filter_map(|line| line.strip_prefix("diff --cc "));
            names.filter_map(|name| named(name, "")).collect()
        };
        Ok(output.map(|output| files(&String::from_utf8_lossy(&output.stdout))))
    }

    /// A call of git that prints patches. No configuration of the user changes their form.
    pub(super) fn patch_call(&self, options: &[&str]) -> Call {
        let call = self.repository().shared_call().args([
            "-c",
            "core.quotePath=false",
            "diff-tree",
            "-r",
            "-p",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-commit-id",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        ]);
        call.args(options)
    }

    /// A commit's whole message.
    pub(crate) fn message(&self, commit: &CommitId) -> Result<String, GitError> {
        let call = self.repository().shared_call().args(["show", "--no-patch", "--format=%B"]);
        let output =
            call.args(["--no-show-signature", "--no-color", commit.as_str(), "--"]).ok()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }
}

/// Splits a unified diff into its files, in order. Every line of a hunk begins with a mark, so no
/// content looks like the header of a file.
pub(crate) fn read_diff(diff: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut is_header = false;
    for line in diff.lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let path = same_name(names).unwrap_or_default();
            files.push(FileDiff { path, ..FileDiff::default() });
            is_header = true;
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        is_header &= !line.starts_with("@@ ");
        if is_header {
            file.read_header(line);
            continue;
        }
        file.added += usize::from(line.starts_with('+'));
        file.removed += usize::from(line.starts_with('-'));
        file.lines.push(line.to_owned());
    }
    files
}

impl FileDiff {
    fn read_header(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("--- ") {
            self.path = named(path, "a/").unwrap_or_else(|| std::mem::take(&mut self.path));
        } else if let Some(path) = line.strip_prefix("+++ ") {
            self.path = named(path, "b/").unwrap_or_else(|| std::mem::take(&mut self.path));
        } else if let Some(path) = line.strip_prefix("rename to ") {
            self.path = named(path, "").unwrap_or_default();
        } else if let Some(path) = line.strip_prefix("rename from ") {
            self.renamed_from = named(path, "");
        } else if !line.starts_with("index ") && !line.starts_with("similarity index ") {
            self.lines.push(line.to_owned());
        }
    }
}

/// The path in `a/x b/x`, where both names are the same.
fn same_name(names: &str) -> Option<String> {
    let half = names.get(..names.len().checked_sub(1)? / 2)?;
    named(half, "a/")
}

#[cfg(test)]
mod tests;
