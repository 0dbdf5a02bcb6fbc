//! The changes of a commit and the content of its tree.

use crate::evaluation::{CommitId, FileRole, TouchedFile};

use super::parts::SUBMODULE;
use super::{GitError, History};

/// How a path differs between two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeStatus {
    /// Only in the newer tree.
    Added,
    /// Only in the older tree.
    Deleted,
    /// In both trees, with other content or another mode.
    Modified,
    /// In both trees, as another type of entry (a file that became a link).
    TypeChanged,
}

/// A path that differs between two trees. A rename counts as a deletion and an addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The path from the top of the tree, as raw bytes.
    pub path: Vec<u8>,
    /// Lines added; `None` for a binary file or if the lines cannot be counted.
    pub added: Option<usize>,
    /// Lines removed; `None` for a binary file or if the lines cannot be counted.
    pub removed: Option<usize>,
    /// How the path differs.
    pub status: ChangeStatus,
    /// Whether the path is a submodule in at least one tree.
    pub submodule: bool,
}

impl FileChange {
    /// The path's bytes in base64 if the path is not UTF-8.
    pub(crate) fn path_base64(&self) -> Option<String> {
        use base64::Engine;
        let is_text = std::str::from_utf8(&self.path).is_ok();
        (!is_text).then(|| base64::engine::general_purpose::STANDARD.encode(&self.path))
    }

    /// The path for people; bytes that are not UTF-8 are replaced.
    pub(crate) fn shown_path(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }

    /// The file as answers list it, with an unknown role.
    pub(crate) fn touched(&self) -> TouchedFile {
        TouchedFile {
            path: self.shown_path(),
            path_b64: self.path_base64(),
            added: self.added,
            removed: self.removed,
            role: FileRole::Unknown,
        }
    }
}

impl History {
    /// The changes of `commit` against `parent`, or against the empty tree without a parent. If a
    /// partial clone lacks a file and cannot fetch it, the changes have no line counts.
    pub(crate) fn diff_files(
        &self,
        parent: Option<&CommitId>,
        commit: &CommitId,
    ) -> Result<Vec<FileChange>, GitError> {
        match self.diff_tree(parent, commit, &["--raw", "--numstat"]) {
            Err(GitError::Promised { .. }) => self.diff_tree(parent, commit, &["--raw"]),
            other => other,
        }
    }

    fn diff_tree(
        &self,
        parent: Option<&CommitId>,
        commit: &CommitId,
        formats: &[&str],
    ) -> Result<Vec<FileChange>, GitError> {
        let call = self.repository().shared_call().args(["diff-tree", "-r", "-z"]);
        let call = call.args(formats).args([
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-commit-id",
            "--ignore-submodules=none",
        ]);
        let call = match parent {
            Some(parent) => call.arg(parent.as_str()).arg(commit.as_str()),
            // A commit without a parent is compared with the empty tree. `--root COMMIT` would
            // follow the commit's real parents.
            None => call.arg(EMPTY_TREE).arg(commit.as_str()),
        };
        let command = call.shown();
        let printed = self.repository().answer(call.arg("--"))?;
        read_changes(&printed).ok_or_else(|| GitError::Unreadable {
            command,
            what: "an unexpected record".to_owned(),
        })
    }

    /// Whether the commit's tree has this path, as a file, a folder or a submodule.
    pub(crate) fn path_exists(&self, commit: &CommitId, path: &str) -> Result<bool, GitError> {
        Ok(self.entry(commit, path)?.is_some())
    }

    /// The bytes of the file at this path; `None` if there is no file.
    pub(crate) fn file(&self, commit: &CommitId, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        match self.entry(commit, path)? {
            Some((kind, object)) if kind == "blob" => {
                let call = self.repository().shared_call().args(["cat-file", "blob"]);
                Ok(Some(self.repository().answer(call.arg(object))?))
            }
            _ => Ok(None),
        }
    }

    /// Whether the commit has a file at this path that contains this text.
    pub(crate) fn file_contains(
        &self,
        commit: &CommitId,
        path: &str,
        text: &str,
    ) -> Result<bool, GitError> {
        let Some(bytes) = self.file(commit, path)? else { return Ok(false) };
        let text = text.as_bytes();
        Ok(text.is_empty() || bytes.windows(text.len()).any(|window| window == text))
    }

    /// Type and object name of one entry of the commit's tree.
    pub(super) fn entry(
        &self,
        commit: &CommitId,
        path: &str,
    ) -> Result<Option<(String, String)>, GitError> {
        // With a trailing slash, ls-tree would list the folder's content.
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let call = self.repository().shared_call().args(["ls-tree", "-z", "--full-tree"]);
        let output = call.arg(commit.as_str()).arg("--").arg(path).ok()?;
        // MODE SP KIND SP OBJECT TAB PATH NUL; ls-tree takes paths literally.
        let first = output.stdout.split(|b| *b == 0).next().unwrap_or_default();
        let head = first.split(|b| *b == b'\t').next().unwrap_or_default();
        let head = String::from_utf8_lossy(head);
        let mut words = head.split(' ').skip(1).map(str::to_owned);
        Ok(words.next().zip(words.next()))
    }
}

/// The empty tree, which every repository has.
pub(super) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Reads `diff-tree -z --raw [--numstat]`: all raw records (`:MODE MODE SHA SHA STATUS`, then the
/// path), then all counts (`ADDED TAB REMOVED TAB PATH`), both in the same order.
fn read_changes(bytes: &[u8]) -> Option<Vec<FileChange>> {
    let mut fields = bytes.split(|b| *b == 0).filter(|field| !field.is_empty());
    let mut changes: Vec<FileChange> = Vec::new();
    let mut counted = 0;
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(b":") {
            let raw = std::str::from_utf8(raw).ok()?;
            let words: Vec<&str> = raw.split(' ').collect();
            let status = match words.get(4)?.bytes().next()? {
                b'A' => ChangeStatus::Added,
                b'D' => ChangeStatus::Deleted,
                b'T' => ChangeStatus::TypeChanged,
                _ => ChangeStatus::Modified,
            };
            changes.push(FileChange {
                path: fields.next()?.to_vec(),
                added: None,
                removed: None,
                status,
                submodule: words[..2].contains(&SUBMODULE),
            });
        } else {
            let mut words = field.splitn(3, |b| *b == b'\t');
            let mut number = || std::str::from_utf8(words.next()?).ok().map(str::parse::<usize>);
            let (added, removed) = (number()?.ok(), number()?.ok());
            let path = words.next()?;
            let change = changes.get_mut(counted).filter(|c| c.path == path)?;
            (change.added, change.removed) = (added, removed);
            counted += 1;
        }
    }
    (counted == 0 || counted == changes.len()).then_some(changes)
}

#[cfg(test)]
mod tests;
