//! Commits that take a change out of the tree and may make its effect in another way.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::git::{FileChange, GitError, History};

use super::{Change, FileOfChange};

impl History {
    /// Whether a merge took the files of the change of `found` from a parent that does not contain
    /// `found`: each file that lacks the change in the merge is as in that parent.
    pub(crate) fn drops_change(
        &self,
        found: &CommitId,
        merge: &CommitId,
        change: &Change,
    ) -> Result<bool, GitError> {
        let is_gone = |file: &&FileOfChange| self.carries_file(merge, file) == Some(false);
        let gone: Vec<&FileOfChange> = change.files.iter().filter(is_gone).collect();
        if gone.is_empty() {
            return Ok(false);
        }
        for parent in self.parents(merge)? {
            let is_same = |file: &&FileOfChange| {
                self.entry_at(merge, &file.path) == self.entry_at(&parent, &file.path)
            };
            if !self.is_ancestor(found, &parent)? && gone.iter().all(is_same) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `commit` lacks the change, `parent` has it, and `commit` alters other files too. A
    /// commit that alters only the files of the change writes it in another way, and one that moves
    /// the lines of the change to another file keeps it.
    pub(crate) fn replaces_elsewhere(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        change: &Change,
    ) -> Result<bool, GitError> {
        let is_gone = |one: &CommitId| self.contains_change(one, change) == Some(false);
        if !is_gone(commit) || is_gone(parent) {
            return Ok(false);
        }
        let altered = self.diff_files(Some(parent), commit)?;
        Ok(!change.touches_all(&altered) && !self.moves_lines([parent, commit], change, &altered))
    }

    /// Whether, for each file that loses the change, all added lines that leave the file arrive in
    /// one other file, and no removed line comes back. `altered`: the files that `commit` alters.
    fn moves_lines(
        &self,
        [parent, commit]: [&CommitId; 2],
        change: &Change,
        altered: &[FileChange],
    ) -> bool {
        let loses = |file: &&FileOfChange| {
            self.carries_file(parent, file) == Some(true)
                && self.carries_file(commit, file) != Some(true)
        };
        let losing: Vec<&FileOfChange> = change.files.iter().filter(loses).collect();
        let is_moved = |file: &&FileOfChange| {
            self.receiver([parent, commit], file, &file.path, altered).is_some()
        };
        !losing.is_empty() && losing.iter().all(is_moved)
    }

    /// Another file that receives all added lines of the change that leave the file at this path.
    /// `None` if there is no such file, if no added line leaves, or if a removed line comes back.
    /// `ends`: the parent, the commit. `altered`: the files that the commit alters.
    pub(super) fn receiver<'a>(
        &self,
        ends: [&CommitId; 2],
        file: &FileOfChange,
        path: &[u8],
        altered: &'a [FileChange],
    ) -> Option<&'a FileChange> {
        let both = |path: &[u8]| ends.map(|one| self.lines(self.entry_at(one, path), file.by));
        let [old, new] = both(path);
        let left: BTreeSet<Vec<u8>> =
            file.added.intersection(&old).filter(|line| !new.contains(*line)).cloned().collect();
        if left.is_empty() || !file.removed.is_disjoint(&new) {
            return None;
        }
        altered.iter().filter(|other| *other.path != *path).find(|other| {
            let [old, new] = both(&other.path);
            left.is_subset(&new) && left.is_disjoint(&old)
        })
    }
}
