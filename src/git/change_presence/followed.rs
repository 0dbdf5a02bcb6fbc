//! Follows the files and the lines of a change through later commits. A commit may rename the file,
//! or move the lines to another one; the old path then says nothing about the change.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use git2::Oid;

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::later_place::LaterPlace;
use super::{Change, FileOfChange, LineComparison, MOST_FILES};

/// Maximum number of later places of one file.
const MOST_PLACES: usize = 8;

/// The renamed files of commits, by parent and commit: the old and the new path of each.
type Renames = BTreeMap<[CommitId; 2], Vec<[Vec<u8>; 2]>>;

impl Change {
    /// The later commits that moved lines of the change to another file.
    pub(crate) fn moves(&self) -> impl Iterator<Item = &CommitId> {
        self.files.iter().flat_map(FileOfChange::receivers).map(|place| &place.since)
    }
}

impl FileOfChange {
    /// The file's path, and all later ones.
    pub(super) fn paths(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&*self.path).chain(self.later.iter().map(|place| &*place.path))
    }

    /// The file's path, and its later names.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let later = self.later.iter().filter(|place| place.is_name);
        std::iter::once(&*self.path).chain(later.map(|place| &*place.path))
    }

    /// The other files to which later commits moved lines of the change.
    pub(super) fn receivers(&self) -> impl Iterator<Item = &LaterPlace> {
        self.later.iter().filter(|place| !place.is_name)
    }
}

impl History {
    /// The change of `commit` against `parent`, followed to `newer`.
    pub(crate) fn change_until(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        newer: &CommitId,
    ) -> Result<Change, GitError> {
        self.followed(self.change(parent, commit)?, commit, newer)
    }

    /// The change with all of its files, followed to `newer`.
    pub(crate) fn whole_change_until(
        &self,
        parent: &CommitId,
        commit: &CommitId,
        newer: &CommitId,
    ) -> Result<Change, GitError> {
        self.followed(self.whole_change(parent, commit)?, commit, newer)
    }

    /// The change of `older`, with the places to which the commits up to `newer` took its files and
    /// lines. Each commit is compared with its parents: both ends may differ too much to show a
    /// rename. A file gets no later places if `newer` has its change at the original path. At most
    /// [`MOST_FILES`] files are followed.
    pub(crate) fn followed(
        &self,
        mut change: Change,
        older: &CommitId,
        newer: &CommitId,
    ) -> Result<Change, GitError> {
        let mut renames = Renames::new();
        // Each file whose change is no longer at the original path costs calls of git.
        for file in change.files.iter_mut().take(MOST_FILES) {
            file.later.clear();
            let later = self.later_places([older, newer], file, &mut renames)?;
            file.later = later;
        }
        Ok(change)
    }

    fn later_places(
        &self,
        ends: [&CommitId; 2],
        file: &FileOfChange,
        renames: &mut Renames,
    ) -> Result<Vec<LaterPlace>, GitError> {
        let [_, newer] = ends;
        let is_there = self.entry_at(newer, &file.path).is_some();
        let mut places: Vec<LaterPlace> = Vec::new();
        if file.after.is_none() || (is_there && self.carries_file(newer, file) == Some(true)) {
            return Ok(places);
        }
        let mut paths = vec![(file.path.clone(), true)];
        let mut next = 0;
        while let Some((path, is_own)) = paths.get(next).cloned() {
            next += 1;
            for commit in self.touching_paths(ends, &[path.as_slice()])? {
                for parent in self.parents(&commit)? {
                    let sides = [&parent, &commit];
                    let Some((to, is_rename)) = self.next_place(sides, file, &path, renames)?
                    else {
                        continue;
                    };
                    if places.len() < MOST_PLACES && paths.iter().all(|(known, _)| *known != to) {
                        let is_name = is_own && is_rename;
                        paths.push((to.clone(), is_name));
                        places.push(LaterPlace { path: to, since: commit.clone(), is_name });
                    }
                }
            }
        }
        Ok(places)
    }

    /// Where a commit takes the file at this path, or the lines of the change that leave it, and
    /// whether it renames the file. `ends`: the commit's parent, and the commit.
    fn next_place(
        &self,
        ends: [&CommitId; 2],
        file: &FileOfChange,
        path: &[u8],
        renames: &mut Renames,
    ) -> Result<Option<(Vec<u8>, bool)>, GitError> {
        let [before, after] = ends.map(|one| self.entry_at(one, path));
        if before.is_none() || before == after {
            return Ok(None);
        }
        if after.is_none() {
            let pairs = self.renamed(ends, renames)?;
            if let Some([_, new]) = pairs.iter().find(|[old, _]| old == path) {
                return Ok(Some((new.clone(), true)));
            }
        }
        if file.by != LineComparison::Text || file.added.is_empty() {
            return Ok(None);
        }
        let [old, new] = [before, after].map(|blob| self.lines(blob, file.by));
        if file.added.intersection(&old).all(|line| new.contains(line)) {
            return Ok(None);
        }
        let [parent, commit] = ends;
        let altered = self.diff_files(Some(parent), commit)?;
        let receiver = self.receiver(ends, file, path, &altered);
        Ok(receiver.map(|other| (other.path.clone(), false)))
    }

    /// The files that a commit renames, from `renames` if they are known.
    fn renamed<'a>(
        &self,
        ends: [&CommitId; 2],
        renames: &'a mut Renames,
    ) -> Result<&'a [[Vec<u8>; 2]], GitError> {
        let known = match renames.entry(ends.map(CommitId::clone)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let [parent, commit] = ends;
                let files = self.changed_files(parent, commit)?;
                let pairs = files.iter().filter_map(|file| {
                    let old = file.old.as_ref().filter(|old| old.path != file.path())?;
                    Some([old.path.clone(), file.path().to_vec()])
                });
                unknown.insert(pairs.collect())
            }
        };
        Ok(known.as_slice())
    }

    /// The file of the change in the tree of `commit`, also under a later name.
    pub(super) fn version(&self, commit: &CommitId, file: &FileOfChange) -> Option<Oid> {
        file.names().find_map(|path| self.entry_at(commit, path))
    }

    /// Whether a file that received lines of the change has at least half of its added lines.
    pub(super) fn is_carried_elsewhere(&self, commit: &CommitId, file: &FileOfChange) -> bool {
        file.receivers().any(|place| {
            let here = self.entry_at(commit, &place.path);
            here.is_some() && file.has_most_added(&self.lines(here, file.by))
        })
    }

    /// Whether `commit` alters a file that received lines of the change before. `parents`: those of
    /// `commit`.
    pub(super) fn edits_receiver(
        &self,
        commit: &CommitId,
        parents: &[CommitId],
        change: &Change,
    ) -> Result<bool, GitError> {
        for place in change.files.iter().flat_map(FileOfChange::receivers) {
            let here = self.entry_at(commit, &place.path);
            let is_altered = |parent: &CommitId| self.entry_at(parent, &place.path) != here;
            if parents.iter().any(is_altered) && self.is_ancestor(&place.since, commit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a file of a followed change is gone at `newer`, and nothing tells where its lines
    /// went: another file may have them, rewritten. A file that the change added does not count:
    /// without it, the tree is as before the change.
    pub(crate) fn is_lost(&self, newer: &CommitId, change: &Change) -> bool {
        change.files.iter().any(|file| {
            file.before.is_some()
                && file.after.is_some()
                && self.version(newer, file).is_none()
                && file.receivers().next().is_none()
                && !self.is_moved(newer, file)
        })
    }
}

#[cfg(test)]
mod tests;
