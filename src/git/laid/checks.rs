//! Checks the patches and overlays of a configuration before a hunt begins.

use crate::evaluation::CommitId;
use crate::git::changes::EMPTY_TREE;
use crate::git::command::LONGEST_LIST;
use crate::git::error::io_error;
use crate::git::{GitError, History, pathspec};

use super::patch_of;

impl History {
    /// Checks the patterns that select files of `from`. Fails if a pattern matches nothing or a
    /// submodule.
    pub(crate) fn check_layer(&self, from: &CommitId, paths: &[String]) -> Result<(), GitError> {
        let index = tempfile::NamedTempFile::new().map_err(io_error("make", "an index"))?;
        // Git does not accept an empty file as an index, so git creates the file.
        let place = index.into_temp_path();
        let call = || self.repository().shared_call().env("GIT_INDEX_FILE", &place);
        std::fs::remove_file(&place).map_err(io_error("remove", &*place))?;
        call().args(["read-tree", from.as_str()]).ok()?;
        for path in paths {
            let listed = call().args(["ls-files", "--stage", "-z", "--", &pathspec(path)]);
            let said = listed.capture(LONGEST_LIST).ok()?.stdout;
            if said.is_empty() {
                let (path, from) = (path.clone(), from.clone());
                return Err(GitError::NothingToLay { path, from });
            }
            // MODE SP OBJECT SP STAGE TAB PATH
            let submodule = said.split(|b| *b == 0).find(|record| record.starts_with(b"160000 "));
            if let Some(record) = submodule {
                let path = record.splitn(2, |b| *b == b'\t').nth(1).unwrap_or_default();
                let path = String::from_utf8_lossy(path).into_owned();
                return Err(GitError::SubmoduleToLay { path, from: from.clone() });
            }
        }
        Ok(())
    }

    /// The complete change of a commit against its first parent, as a patch.
    pub(crate) fn as_patch(&self, commit: &CommitId) -> Result<Vec<u8>, GitError> {
        let info = self.info(commit)?;
        let parent = match info.parents.first() {
            Some(parent) => parent.as_str(),
            None if info.is_root => EMPTY_TREE,
            None => {
                let said = "its parent is not in this shallow clone".to_owned();
                return Err(GitError::NotAPatch { name: commit.short().to_owned(), said });
            }
        };
        patch_of(self.repository().shared_call(), parent, commit.as_str())
    }

    /// Fails if `patch` is not a valid patch or changes nothing.
    pub(crate) fn check_patch(&self, name: &str, patch: &[u8]) -> Result<(), GitError> {
        let file = tempfile::NamedTempFile::new().map_err(io_error("make", "a patch"))?;
        std::fs::write(file.path(), patch).map_err(io_error("write", file.path()))?;
        let call = self.repository().shared_call().args(["apply", "--numstat", "-z", "--"]);
        let output = call.arg(file.path()).run()?;
        if output.code == 0 && !output.stdout.is_empty() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("the patch is empty");
        let said = said.trim_start_matches("error: ").trim_start_matches("fatal: ").to_owned();
        Err(GitError::NotAPatch { name: name.to_owned(), said })
    }
}
