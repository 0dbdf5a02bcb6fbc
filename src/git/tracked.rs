//! The files of the user's checkout that git tracks, and those that it does not.

use std::path::PathBuf;

use super::command::{Call, LONGEST_LIST};
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

    /// The files of the user's checkout that git does not track, also those that it ignores;
    /// relative to its top, sorted. Folders in which git tracks nothing are left out, such as those
    /// of builds. Empty in a bare repository.
    pub(crate) fn untracked_files(&self) -> Result<Vec<PathBuf>, GitError> {
        let Some(top) = self.top() else { return Ok(Vec::new()) };
        let call = Call::in_worktree(self.git_dir(), top);
        let call = call.args(["ls-files", "-z", "--others", "--directory"]);
        let said = call.capture(LONGEST_LIST).ok()?.stdout;
        let names = said.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let files = names.filter(|name| !name.ends_with(b"/"));
        let mut paths: Vec<PathBuf> = files.map(|name| os(name).into()).collect();
        paths.sort();
        Ok(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::{Fixture, write};

    #[test]
    fn ignored_files_are_untracked_and_folders_of_builds_are_left_out() {
        let fixture = Fixture::new();
        fixture.commit("first", &[(".gitignore", "out/\n*.mk\n"), ("d/a", "1")]);
        for path in ["local.mk", "d/new.txt", "out/x.txt", "new/y.txt"] {
            write(&fixture.user().join(path), "1");
        }
        let found = fixture.repository().untracked_files().unwrap();
        assert_eq!(found, ["d/new.txt", "local.mk"].map(PathBuf::from));
    }
}
