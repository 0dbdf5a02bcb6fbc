//! The difference that takes a commit's change out of a later tree.
//!
//! A patch that removes a file counts as applied already where the path is free. So a file that the
//! commit added and that later commits renamed is removed under its later name.

use crate::evaluation::{Cause, CommitId, Culprit, EntryContent, EntryFile, TreeEntry};
use crate::git::{AddedFile, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::change::{Change, Part};

/// How to take a commit's change out of a later tree.
pub(super) enum Reversal {
    /// Apply the difference from the first tree to the second one.
    Trees([String; 2]),
    /// Nothing of it comes out: lines that it added are in another file. Why, in words.
    Conflict(String),
}

/// What the newer end has of the files that a commit added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddedFiles {
    /// No such file, or each one as it was added or not at all.
    AsAdded,
    /// One that later commits edited. Its removal also takes out what they added to it.
    Edited,
    /// One that later commits renamed and edited.
    RenamedAndEdited,
    /// Only lines in another file. Nothing of the change comes out of the end.
    InOtherFile,
}

impl AddedFiles {
    /// Whether the end has lines of such a file in a file with another name, and not as they were
    /// added.
    pub(super) fn are_elsewhere(self) -> bool {
        matches!(self, Self::RenamedAndEdited | Self::InOtherFile)
    }
}

impl Driver<'_> {
    /// How to take a commit's change out of `end`, except for the parts in `kept`. If later commits
    /// moved lines of the change to another file, these lines stay at `end` too.
    pub(super) fn reversal(
        &self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        kept: &[Part],
    ) -> Result<Reversal, HuntError> {
        self.reversal_with(end, culprit, change, kept, [Vec::new(), Vec::new()])
    }

    /// The same as [`Self::reversal`], with more files in both trees: `laid_before` in the tree
    /// before the change, `laid_after` in the tree with it.
    pub(super) fn reversal_with(
        &self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        kept: &[Part],
        [laid_before, laid_after]: [Vec<TreeEntry>; 2],
    ) -> Result<Reversal, HuntError> {
        let (parent, commit) = (&culprit.parent, &culprit.info.commit);
        let mut before = change.entries(kept)?;
        let (mut after, mut inside) = (Vec::new(), None);
        let added = change.added_without(&before);
        let paths: Vec<&[u8]> = added.iter().map(|side| side.path.as_slice()).collect();
        let places = self.oracle.history.added_elsewhere([parent, commit, end], &paths)?;
        for (path, place) in places {
            let names = match place {
                AddedFile::Gone => continue,
                AddedFile::Renamed(names) => names,
                AddedFile::Inside => {
                    after.push(TreeEntry { path: path.clone(), file: None });
                    inside = Some(path);
                    continue;
                }
            };
            let Some(side) = added.iter().find(|side| side.path == path) else { continue };
            for name in names {
                let content = EntryContent::Object(side.object.clone());
                let file = Some(EntryFile { mode: side.mode.clone(), content });
                before.push(TreeEntry { path: name.clone(), file: None });
                after.push(TreeEntry { path: name, file });
            }
            after.push(TreeEntry { path, file: None });
        }
        before.extend(laid_before);
        after.extend(laid_after);
        let recipes = &self.oracle.recipes;
        let without = recipes.tree_with(parent, before)?;
        let whole = recipes.tree_with(commit, after)?;
        Ok(match inside {
            Some(path) if whole == without => {
                let path = String::from_utf8_lossy(&path);
                Reversal::Conflict(format!("the content of {path} is in another file there"))
            }
            _ => Reversal::Trees([whole, without]),
        })
    }

    /// What the newer end has of the files that a commit added. `of_effects`: only those with a
    /// part of this cause, see [`super::undone::cause_of_effects`].
    pub(super) fn added_files(
        &self,
        culprit: &Culprit,
        of_effects: Option<&Cause>,
    ) -> Result<AddedFiles, HuntError> {
        let (parent, commit) = (&culprit.parent, &culprit.info.commit);
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, parent, culprit)?;
        let whole = change.whole();
        let taken = of_effects.map(|cause| change.taken(cause));
        let kept = change.without(&whole, taken.as_ref().unwrap_or(&whole))?;
        let [_, end] = self.begun.ends();
        if matches!(self.reversal(end, culprit, &change, &kept)?, Reversal::Conflict(_)) {
            return Ok(AddedFiles::InOtherFile);
        }
        let entries = change.entries(&kept)?;
        let added = change.added_without(&entries);
        let paths: Vec<&[u8]> = added.iter().map(|side| side.path.as_slice()).collect();
        let is_other =
            |path: &[u8], name: &[u8]| history.has_other_content([commit, end], path, name);
        for (path, place) in history.added_elsewhere([parent, commit, end], &paths)? {
            if let AddedFile::Renamed(names) = place
                && names.iter().any(|name| is_other(&path, name))
            {
                return Ok(AddedFiles::RenamedAndEdited);
            }
        }
        let is_edited = paths.iter().any(|path| is_other(path, path));
        Ok(if is_edited { AddedFiles::Edited } else { AddedFiles::AsAdded })
    }
}
