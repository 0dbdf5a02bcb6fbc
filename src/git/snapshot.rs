//! A commit's tree, as far as this clone has its objects.
//!
//! A search through years of history must not make a partial clone fetch everything. So git2, which
//! fetches nothing, reads the trees, and a missing object counts as unknown.

use git2::{ErrorCode, ObjectType, Oid};

use crate::evaluation::CommitId;

use super::{GitError, History};

/// The object name of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BlobId(Oid);

/// The content of a commit's tree, without names that are not UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Regular files by their paths from the top.
    pub files: Vec<(String, BlobId)>,
    /// Symbolic links.
    pub links: Vec<String>,
    /// Paths of submodules.
    pub submodules: Vec<String>,
}

/// The type of a path in a commit's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// The path does not exist.
    Nothing,
    /// A file or a link.
    File(BlobId),
    /// A folder or a submodule.
    Other,
    /// This clone lacks a folder on the way to the path.
    Unknown,
}

impl EntryKind {
    /// Whether the path may be a folder.
    pub(crate) fn may_be_a_folder(self) -> bool {
        matches!(self, Self::Other | Self::Unknown)
    }
}

/// Runs `read` while libgit2 does not hash the objects that it reads, as git does not either. A
/// search through years of history would hash hundreds of megabytes.
pub(crate) fn without_hashing<T>(read: impl FnOnce() -> T) -> T {
    git2::opts::strict_hash_verification(false);
    let result = read();
    git2::opts::strict_hash_verification(true);
    result
}

impl History {
    /// The commit's tree; `None` if this clone lacks a part of it.
    pub(crate) fn snapshot(&self, id: &CommitId) -> Result<Option<Snapshot>, GitError> {
        let failed =
            |source| GitError::Library { what: format!("the tree of commit {id}"), source };
        let mut snapshot = Snapshot::default();
        let mut folders = vec![(String::new(), self.commit(id)?.tree)];
        while let Some((folder, oid)) = folders.pop() {
            let tree = match self.objects.find_tree(oid) {
                Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
                tree => tree.map_err(failed)?,
            };
            for entry in &tree {
                let Ok(name) = entry.name() else { continue };
                let path = format!("{folder}{name}");
                match (entry.kind(), entry.filemode()) {
                    (Some(ObjectType::Tree), _) => folders.push((format!("{path}/"), entry.id())),
                    (Some(ObjectType::Blob), 0o120_000) => snapshot.links.push(path),
                    (Some(ObjectType::Blob), _) => snapshot.files.push((path, BlobId(entry.id()))),
                    (Some(ObjectType::Commit), _) => snapshot.submodules.push(path),
                    _ => {}
                }
            }
        }
        Ok(Some(snapshot))
    }

    /// The type of a path in the commit's tree.
    pub(crate) fn at(&self, id: &CommitId, path: &str) -> Result<EntryKind, GitError> {
        let mut oid = self.commit(id)?.tree;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let tree = match self.objects.find_tree(oid) {
                Err(error) if error.code() == ErrorCode::NotFound => return Ok(EntryKind::Unknown),
                tree => tree.map_err(|source| GitError::Library {
                    what: format!("the tree of commit {id}"),
                    source,
                })?,
            };
            let Some(entry) = tree.get_name(part) else { return Ok(EntryKind::Nothing) };
            oid = entry.id();
            match (parts.peek().is_some(), entry.kind()) {
                (true, Some(ObjectType::Tree)) => {}
                (true, _) => return Ok(EntryKind::Nothing),
                (false, Some(ObjectType::Blob)) => return Ok(EntryKind::File(BlobId(oid))),
                (false, _) => return Ok(EntryKind::Other),
            }
        }
        Ok(EntryKind::Nothing)
    }

    /// A file's content; `None` if this clone lacks it or it is longer than `longest` bytes.
    pub(crate) fn blob(&self, id: BlobId, longest: u64) -> Option<Vec<u8>> {
        let about = self.objects.odb().ok()?.read_header(id.0).ok()?;
        if about.0 as u64 > longest {
            return None;
        }
        Some(self.objects.find_blob(id.0).ok()?.content().to_vec())
    }

    /// A commit and its first parents, the newest first, as far as this clone has them.
    pub(crate) fn first_parents(&self, newest: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let call = self.repository().shared_call().args(["rev-list", "--first-parent"]);
        super::history::commit_list(call.arg(newest.as_str()).arg("--"))
    }

    /// Name and tip of the main branch, if the tip is a descendant of `here`. Tries the upstream,
    /// the remote's HEAD, and the usual branch names.
    pub(crate) fn ahead_of(&self, here: &CommitId) -> Result<Option<(String, CommitId)>, GitError> {
        let names = [
            "@{upstream}",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/main",
            "refs/remotes/origin/master",
            "refs/heads/main",
            "refs/heads/master",
        ];
        for name in names {
            let Ok(tip) = self.resolve(name) else { continue };
            if tip != *here && self.is_ancestor(here, &tip)? {
                let short = name.trim_start_matches("refs/").trim_start_matches("remotes/");
                return Ok(Some((short.trim_start_matches("heads/").to_owned(), tip)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
