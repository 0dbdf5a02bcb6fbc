//! Commits without a change on the line of first parents, if a branch kept the change meanwhile.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::{Change, CommitsWithoutChange};

impl History {
    /// The commits without the change on the line of first parents from `newer` to `found`, oldest
    /// first. A branch that kept the change explains nothing if its merge took the files of the
    /// main line. If a merge took a file from a side that kept the change (`kept`), commits before
    /// that merge do not count. Empty if the line does not lead to `found`.
    pub(super) fn main_line_absences(
        &self,
        [found, newer]: [&CommitId; 2],
        change: &Change,
        kept: &BTreeSet<CommitId>,
        is_gone: impl Fn(&CommitId) -> bool,
    ) -> Result<Vec<CommitsWithoutChange>, GitError> {
        let after: BTreeSet<CommitId> = self.descending(found, newer)?.into_iter().collect();
        let mut line = Vec::new();
        let mut at = newer.clone();
        while at != *found {
            let parents = self.parents(&at)?;
            let Some((first, others)) = parents.split_first() else { return Ok(Vec::new()) };
            if first != found && !after.contains(first) {
                return Ok(Vec::new());
            }
            let is_taken_from = |side: &CommitId| {
                kept.contains(side)
                    && change.files.iter().any(|file| {
                        let here = self.entry_at(&at, &file.path);
                        here == self.entry_at(side, &file.path)
                            && here != self.entry_at(first, &file.path)
                    })
            };
            let ends_here = others.iter().any(is_taken_from);
            line.push(std::mem::replace(&mut at, first.clone()));
            if ends_here {
                break;
            }
        }
        let mut absences: Vec<CommitsWithoutChange> = Vec::new();
        let mut before = at;
        let mut was_gone = false;
        for commit in line.into_iter().rev() {
            let is_gone = is_gone(&commit);
            if !is_gone {
                before = commit;
            } else if let Some(absence) = absences.last_mut().filter(|_| was_gone) {
                absence.commits.push(commit);
            } else {
                let before = before.clone();
                absences.push(CommitsWithoutChange { before, commits: vec![commit] });
            }
            was_gone = is_gone;
        }
        Ok(absences)
    }
}
