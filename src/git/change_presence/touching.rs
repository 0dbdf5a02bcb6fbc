//! The commits that touch the files of a change, also under later names.

use crate::evaluation::CommitId;
use crate::git::history::commit_list;
use crate::git::{GitError, History};

use super::{Change, FileOfChange, literally};

impl History {
    /// The commits after `older` up to `newer` that touch a file of the change, oldest first. If the
    /// file has another name at `newer`, also those that touch it under this name.
    pub(crate) fn touching(
        &self,
        older: &CommitId,
        newer: &CommitId,
        change: &Change,
    ) -> Result<Vec<CommitId>, GitError> {
        let mut paths = change.pathspecs();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        paths.extend(self.later_names(older, newer, change)?);
        let call = self.repository().shared_call().args(["rev-list", "--topo-order", "--reverse"]);
        let call = call.args(["--ancestry-path".to_owned(), format!("{older}..{newer}")]);
        commit_list(call.arg("--").args(paths))
    }

    /// Pathspecs of the names that files of the change got after `older`.
    fn later_names(
        &self,
        older: &CommitId,
        newer: &CommitId,
        change: &Change,
    ) -> Result<Vec<String>, GitError> {
        let is_gone = |file: &&FileOfChange| {
            file.after.is_some() && self.entry_at(newer, &file.path).is_none()
        };
        let gone: Vec<_> = change.files.iter().filter(is_gone).collect();
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let is_gone = |old: &str| gone.iter().any(|file| file.path == old.as_bytes());
        let renamed = self.changed_files(older, newer)?.into_iter();
        let renamed = renamed.filter(|file| file.renamed_from().is_some_and(|old| is_gone(&old)));
        Ok(renamed.map(|file| literally(&file.shown_path())).collect())
    }
}
