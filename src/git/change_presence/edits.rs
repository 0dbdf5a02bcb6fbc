//! The commits that edit the lines of a change, or what other commits made of them.

use std::collections::BTreeMap;

use git2::{DiffOptions, FileFavor, MergeFileInput, MergeFileOptions, Oid, Patch};

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::{Change, FileOfChange};

/// Largest file to merge, bytes.
const LARGEST: usize = 8 << 20;

/// Ends each version of a file, so that all of them have a last line in common.
const END: &[u8] = b"\n(end)\n";

/// What a revert of the change alters in a version of a file: the lines that the revert removes and
/// adds, without their places. If later commits edited lines of the change, the revert removes the
/// edited lines.
pub(super) type RevertedLines = Vec<(char, Vec<u8>)>;

impl History {
    /// Those of `commits` that edit the lines of the change, also after other commits edited these
    /// lines. At such a commit, a revert of the change alters other lines than at a parent. A
    /// commit counts too in each of these cases:
    /// - It alters a file of the change that cannot be merged, such as a binary or a new one.
    /// - It does not have a file of the change.
    /// - It alters a file that received lines of the change before.
    pub(crate) fn editing(
        &self,
        commits: &[CommitId],
        change: &Change,
    ) -> Result<Vec<CommitId>, GitError> {
        let mut editing = Vec::new();
        // Neighbours have the same version.
        let mut known: Vec<BTreeMap<Oid, Option<RevertedLines>>> =
            vec![BTreeMap::new(); change.files.len()];
        for commit in commits {
            let parents = self.parents(commit)?;
            let edits = change.files.iter().zip(&mut known).any(|(file, known)| {
                let mut reverted = |one: Oid| -> Option<RevertedLines> {
                    known.entry(one).or_insert_with(|| self.reverted_lines(one, file)).clone()
                };
                let here = self.version(commit, file);
                let others = parents.iter().map(|parent| self.version(parent, file));
                others.filter(|there| here.is_none() || *there != here).any(|there| {
                    let [here, there] = [here, there].map(|one| one.and_then(&mut reverted));
                    here.is_none() || here != there
                })
            });
            if edits || self.edits_receiver(commit, &parents, change)? {
                editing.push(commit.clone());
            }
        }
        Ok(editing)
    }

    /// What a revert of the file's change alters in this version of the file; `None` if the file
    /// is new, or if a version is binary, large or missing.
    pub(super) fn reverted_lines(
        &self,
        version: Oid,
        file: &FileOfChange,
    ) -> Option<RevertedLines> {
        let (after, before) = (self.mergeable(file.after?)?, self.mergeable(file.before?)?);
        let here = self.mergeable(version)?;
        let [base, ours, theirs] = [&after, &here, &before].map(|content| {
            let mut input = MergeFileInput::new();
            input.content(content).path("a file");
            input
        });
        let mut options = MergeFileOptions::new();
        options.favor(FileFavor::Theirs);
        let merged = git2::merge_file(&base, &ours, &theirs, Some(&mut options)).ok()?;
        if !merged.is_automergeable() {
            return None;
        }
        if merged.content() == here {
            return Some(Vec::new());
        }
        let mut options = DiffOptions::new();
        options.context_lines(0);
        let patch =
            Patch::from_buffers(&here, None, merged.content(), None, Some(&mut options)).ok()?;
        let mut lines = Vec::new();
        for hunk in 0..patch.num_hunks() {
            for line in 0..patch.num_lines_in_hunk(hunk).ok()? {
                let line = patch.line_in_hunk(hunk, line).ok()?;
                lines.push((line.origin(), line.content().to_vec()));
            }
        }
        Some(lines)
    }

    /// The content of a text file, with an end of its own.
    pub(super) fn mergeable(&self, blob: Oid) -> Option<Vec<u8>> {
        let blob = self.objects.find_blob(blob).ok()?;
        let is_text = !blob.is_binary() && blob.size() <= LARGEST;
        is_text.then(|| [blob.content(), END].concat())
    }
}
