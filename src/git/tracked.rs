//! The files that git tracks in the user's checkout.

use std::path::PathBuf;

use super::command::Call;
use super::raw_path::os;
use super::{GitError, Repository};

impl Repository {
    /// All paths in the index of the user's worktree, with those of checked-out submodules;
    /// relative to its top, sorted. Empty in a bare repository.
    pub(crate) fn tracked_files(&self) -> Result<Vec<PathBuf>, GitError> {
        let Some(top) = self.top() else { return Ok(Vec::new()) };
        let call = Call::in_worktree(self.git_dir(), top);
        let said = call.args(["ls-files", "-z", "--recurse-submodules"]).ok()?.stdout;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut paths: Vec<PathBuf> = names.map(|name| os(name).into()).collect();
        paths.sort();
        // A path with a merge conflict is listed three times.
        paths.dedup();
        Ok(paths)
    }
}
