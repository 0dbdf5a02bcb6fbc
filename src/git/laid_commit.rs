//! The commit that HEAD names while a modified tree is checked out.
//!
//! Builds and runs ask git whether files differ from HEAD (`git describe --dirty`,
//! `git diff --quiet HEAD`, `git status`), and some then behave in another way. If a modified tree
//! looked dirty, every test with such a tree would differ from the commits for this reason alone.

use std::fs::File;
use std::path::PathBuf;

use git2::{ErrorCode, ObjectType, Odb, Oid};

use crate::evaluation::CommitId;
use crate::files;

use super::commit::{commit_id, object_id};
use super::history::open_bare;
use super::overlay::LaidTree;
use super::{GitError, Repository};

/// The headers that our commit has of the commit below it. Without its signature: that is for
/// another text.
const KEPT_HEADERS: [&[u8]; 3] = [b"author ", b"committer ", b"encoding "];

impl LaidTree {
    /// The commit with this tree on top of `commit`, with the same author, dates and message; or
    /// `commit`, if the tree is its own. Its name depends only on the tree and on
    /// `commit`, so every process makes the same one.
    ///
    /// Writes the commit and the new objects of its tree into the user's repository. Git in a build
    /// finds no others, and a `git gc` of the user fails at an index whose tree is missing. No
    /// reference leads to them but HEAD of our worktree, so `git gc` removes them in time. We do
    /// not: the user may commit the same files meanwhile, as a revert does.
    pub(super) fn committed(
        &self,
        repository: &Repository,
        commit: &CommitId,
    ) -> Result<CommitId, GitError> {
        let common = repository.common_dir();
        let failed = |source: git2::Error| {
            if files::is_full(common) {
                let (command, said) = ("git commit-tree".to_owned(), source.message().to_owned());
                return GitError::NoSpace { command, said };
            }
            let what = format!("a modified tree of commit {commit}");
            GitError::Library { what, source }
        };
        let user = open_bare(common)?;
        let to = user.odb().map_err(failed)?;
        let below = to.read(object_id(commit)).map_err(failed)?;
        if has_tree(below.data(), self.id()) {
            return Ok(commit.clone());
        }
        let text = child(below.data(), commit, self.id());
        let tree = Oid::from_str(self.id()).map_err(failed)?;
        let made = Oid::hash_object(ObjectType::Commit, &text).map_err(failed)?;
        if !(to.exists(made) && to.exists(tree)) {
            let scratch = open_bare(self.objects.parent().unwrap_or(&self.objects))?;
            let from = scratch.odb().map_err(failed)?;
            let folder = common.join("objects");
            let copier = ObjectCopier { scratch: &scratch, from, to: &to, folder };
            copier.copy(tree).map_err(failed)?;
            copier.write(ObjectType::Commit, &text).map_err(failed)?;
        }
        Ok(commit_id(made))
    }
}

/// Copies objects from our repository of modified trees into the user's.
struct ObjectCopier<'a> {
    scratch: &'a git2::Repository,
    from: Odb<'a>,
    to: &'a Odb<'a>,
    /// The user's folder of objects.
    folder: PathBuf,
}

impl ObjectCopier<'_> {
    /// Copies a file or a tree. What a tree contains comes before it, so a tree that is there is
    /// whole.
    fn copy(&self, id: Oid) -> Result<(), git2::Error> {
        if self.to.exists(id) {
            return Ok(());
        }
        let object = match self.from.read(id) {
            // A partial clone may lack files that the tree names.
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(()),
            other => other?,
        };
        if object.kind() == ObjectType::Tree {
            let tree = self.scratch.find_tree(id)?;
            for entry in &tree {
                // The commit of a submodule is in another repository.
                if entry.kind() != Some(ObjectType::Commit) {
                    self.copy(entry.id())?;
                }
            }
        }
        self.write(object.kind(), object.data())
    }

    /// Writes an object. Git fails at one that a crash of the machine left empty, so the file is
    /// synced, as git does; libgit2 does it only if that is configured.
    fn write(&self, kind: ObjectType, data: &[u8]) -> Result<(), git2::Error> {
        let name = self.to.write(kind, data)?.to_string();
        let (folder, file) = name.split_at(2);
        if let Ok(file) = File::open(self.folder.join(folder).join(file)) {
            // Best effort: git's own setting may leave it out too.
            let _ = file.sync_all();
        }
        Ok(())
    }
}

/// Whether the commit with this text has this tree.
fn has_tree(text: &[u8], tree: &str) -> bool {
    text.strip_prefix(b"tree ").is_some_and(|rest| rest.starts_with(tree.as_bytes()))
}

/// The text of a commit with this tree and the parent `commit`, whose own text is `below`.
fn child(below: &[u8], commit: &CommitId, tree: &str) -> Vec<u8> {
    let mut text = format!("tree {tree}\nparent {commit}\n").into_bytes();
    let mut rest = below;
    let mut is_kept = false;
    while !rest.is_empty() && !rest.starts_with(b"\n") {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        // A line that begins with a space continues the header above it.
        if !line.starts_with(b" ") {
            is_kept = KEPT_HEADERS.iter().any(|header| line.starts_with(header));
        }
        if is_kept {
            text.extend_from_slice(line);
        }
        rest = after;
    }
    text.extend_from_slice(rest);
    text
}

#[cfg(test)]
mod tests;
