//! What git tracks in the user's checkout.

use std::path::PathBuf;

use super::changes::os;
use super::command::Call;
use super::{GitError, Repository};

impl Repository {
    /// Every path in the index of the user's worktree, those of checked out submodules
    /// included, from its top; sorted. In a bare repository there is none.
    pub fn tracked_files(&self) -> Result<Vec<PathBuf>, GitError> {
        let Some(top) = self.top() else { return Ok(Vec::new()) };
        let call = Call::in_worktree(self.git_dir(), top);
        let said = call.args(["ls-files", "-z", "--recurse-submodules"]).ok()?.stdout;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut paths: Vec<PathBuf> = names.map(|name| os(name).into()).collect();
        paths.sort();
        // A path that is being merged stands there three times.
        paths.dedup();
        Ok(paths)
    }
}
