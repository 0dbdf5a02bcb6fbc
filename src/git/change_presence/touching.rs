//! The commits that touch the files of a change, also in later places.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::git::history::read_list;
use crate::git::{GitError, History};

use super::{Change, FileOfChange};

impl History {
    /// The commits after `older` up to `newer` that touch a file of the change, oldest first. For a
    /// followed change, also those that touch it under a later name, and those that touch a file
    /// after it received lines of the change.
    pub(crate) fn touching(
        &self,
        older: &CommitId,
        newer: &CommitId,
        change: &Change,
    ) -> Result<Vec<CommitId>, GitError> {
        let names: Vec<&[u8]> = change.files.iter().flat_map(FileOfChange::names).collect();
        let touching = self.touching_paths([older, newer], &names)?;
        let receivers: Vec<_> = change.files.iter().flat_map(FileOfChange::receivers).collect();
        if receivers.is_empty() {
            return Ok(touching);
        }
        let mut chosen: BTreeSet<CommitId> = touching.into_iter().collect();
        for place in receivers {
            chosen.extend(self.touching_paths([&place.since, newer], &[place.path.as_slice()])?);
        }
        let mut sorted = self.descending(older, newer)?;
        sorted.retain(|commit| chosen.contains(commit));
        Ok(sorted)
    }

    /// The commits after `older` up to `newer` that touch one of these paths, oldest first.
    pub(super) fn touching_paths(
        &self,
        [older, newer]: [&CommitId; 2],
        paths: &[&[u8]],
    ) -> Result<Vec<CommitId>, GitError> {
        let paths = paths.iter().filter_map(|path| std::str::from_utf8(path).ok());
        let paths: Vec<String> = paths.map(literally).collect();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let options = ["--topo-order", "--reverse", "--ancestry-path"];
        let range = [format!("{older}..{newer}"), "--".to_owned()];
        let asked = range.into_iter().chain(paths).collect();
        let (command, printed) = self.rev_list(&options, asked)?;
        read_list(&command, &printed)
    }
}

/// A pathspec that matches this path and no other.
fn literally(path: &str) -> String {
    format!(":(top,literal){path}")
}
