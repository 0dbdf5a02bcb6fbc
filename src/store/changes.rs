//! The diffs and messages of first bad commits and candidates, and the web pages of commits. They
//! are stored when the answer is published, so that a report needs no repository.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, CommitInfo, Forge, TouchedFile};

use super::record_files::read_if_there;
use super::{HuntDir, StoreError, publish};

/// The messages that may name a pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Messages {
    /// The commit's whole message.
    pub commit: String,
    /// The message of the merge that brought the commit to the newer end, if it came by a merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<String>,
}

/// A commit that may be the first bad one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    /// The commit.
    pub info: CommitInfo,
    /// Its first parent.
    pub parent: CommitId,
    /// The files that it touches.
    pub files: Vec<TouchedFile>,
}

impl HuntDir {
    /// Stores the candidates of the answer.
    pub(crate) fn keep_candidates(&self, candidates: &[Candidate]) -> Result<(), StoreError> {
        self.keep_json(CANDIDATES, &candidates)
    }

    /// The stored candidates; empty if there are none.
    pub(crate) fn candidates(&self) -> Result<Vec<Candidate>, StoreError> {
        Ok(self.json(CANDIDATES)?.unwrap_or_default())
    }

    /// Stores the diff of a candidate against its first parent.
    pub(crate) fn keep_candidate_diff(
        &self,
        commit: &CommitId,
        diff: &[u8],
    ) -> Result<(), StoreError> {
        self.keep(&self.candidate_diff_path(commit), diff)
    }

    /// The stored diff of a candidate; `None` if there is none.
    pub(crate) fn candidate_diff(&self, commit: &CommitId) -> Result<Option<Vec<u8>>, StoreError> {
        read_if_there(&self.candidate_diff_path(commit))
    }

    /// Stores the diff of a first bad commit against the parent that it is compared with.
    pub(crate) fn keep_diff(&self, commit: &CommitId, diff: &[u8]) -> Result<(), StoreError> {
        self.keep(&self.diff_path(commit), diff)
    }

    /// The stored diff; `None` if there is none.
    pub(crate) fn diff(&self, commit: &CommitId) -> Result<Option<Vec<u8>>, StoreError> {
        read_if_there(&self.diff_path(commit))
    }

    /// Stores the messages that may name the pull request of a commit.
    pub(crate) fn keep_messages(
        &self,
        commit: &CommitId,
        said: &Messages,
    ) -> Result<(), StoreError> {
        self.keep_json(&format!("changes/{commit}.json"), said)
    }

    /// The stored messages; `None` if there are none.
    pub(crate) fn messages(&self, commit: &CommitId) -> Result<Option<Messages>, StoreError> {
        self.json(&format!("changes/{commit}.json"))
    }

    /// Stores the web pages of this hunt's commits.
    pub(crate) fn keep_forge(&self, forge: &Forge) -> Result<(), StoreError> {
        self.keep_json(FORGE, forge)
    }

    /// The web pages of this hunt's commits, if known.
    pub(crate) fn forge(&self) -> Result<Option<Forge>, StoreError> {
        self.json(FORGE)
    }

    /// Stores the patch that takes the necessary parts of the first bad commit out of the bad
    /// endpoint.
    pub(crate) fn keep_revert(&self, patch: &[u8]) -> Result<(), StoreError> {
        self.keep(&self.revert_path(), patch)
    }

    /// Stores the patch that takes the necessary parts of all first bad commits out of the bad
    /// endpoint.
    pub(crate) fn keep_joint_revert(&self, patch: &[u8]) -> Result<(), StoreError> {
        self.keep(&self.path().join(JOINT_REVERT_PATCH), patch)
    }

    /// The path of [`REVERT_PATCH`]; the file may not exist.
    pub(crate) fn revert_path(&self) -> PathBuf {
        self.path().join(REVERT_PATCH)
    }

    /// Stores the patch that brings the necessary parts of a fix into the bad endpoint.
    pub(crate) fn keep_backport(&self, patch: &[u8]) -> Result<(), StoreError> {
        self.keep(&self.path().join(BACKPORT_PATCH), patch)
    }

    /// Stores the patch that brings the necessary parts of all first fixed commits into the bad
    /// endpoint.
    pub(crate) fn keep_joint_backport(&self, patch: &[u8]) -> Result<(), StoreError> {
        self.keep(&self.path().join(JOINT_BACKPORT_PATCH), patch)
    }

    fn diff_path(&self, commit: &CommitId) -> PathBuf {
        self.path().join(format!("changes/{commit}.diff"))
    }

    fn candidate_diff_path(&self, commit: &CommitId) -> PathBuf {
        self.path().join(format!("changes/{commit}.candidate.diff"))
    }

    fn keep_json(&self, file: &str, data: &impl Serialize) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(data).expect("text is plain data");
        self.keep(&self.path().join(file), &bytes)
    }

    fn keep(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = path.parent().unwrap_or(self.path());
        std::fs::create_dir_all(folder).map_err(StoreError::at(folder))?;
        publish(path, bytes)
    }

    /// `None` if the file is missing or does not parse: no verdict depends on it.
    fn json<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, StoreError> {
        let bytes = read_if_there(&self.path().join(file))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}

const FORGE: &str = "forge.json";

/// The patch that takes the necessary parts of the first bad commit out of the bad endpoint, in a
/// hunt's folder.
pub(crate) const REVERT_PATCH: &str = "revert.patch";
/// The patch that takes the necessary parts of all first bad commits out of the bad endpoint, in a
/// hunt's folder, if there are several such commits.
pub(crate) const JOINT_REVERT_PATCH: &str = "revert-all.patch";
/// The patch that brings the necessary parts of a fix into the bad endpoint, in a hunt's folder.
pub(crate) const BACKPORT_PATCH: &str = "backport.patch";
/// The patch that brings the necessary parts of all first fixed commits into the bad endpoint, in a
/// hunt's folder, if there are several such commits.
pub(crate) const JOINT_BACKPORT_PATCH: &str = "backport-all.patch";
/// All patches that a hunt's folder may have.
pub(crate) const PATCHES: [&str; 4] =
    [REVERT_PATCH, JOINT_REVERT_PATCH, BACKPORT_PATCH, JOINT_BACKPORT_PATCH];
const CANDIDATES: &str = "changes/candidates.json";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_change_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open(folder.path()).unwrap().new_hunt().unwrap();
        let commit: CommitId = "a".repeat(40).parse().unwrap();
        assert_eq!(hunt.diff(&commit).unwrap(), None);
        assert_eq!(hunt.messages(&commit).unwrap(), None);
        assert_eq!(hunt.forge().unwrap(), None);
        hunt.keep_diff(&commit, b"+\xff\n").unwrap();
        assert_eq!(hunt.diff(&commit).unwrap().as_deref(), Some(&b"+\xff\n"[..]));
        let said = Messages { commit: "pad (#1)".to_owned(), merge: None };
        hunt.keep_messages(&commit, &said).unwrap();
        assert_eq!(hunt.messages(&commit).unwrap(), Some(said));
        let forge = Forge::of_remote("git@github.com:ada/engine").unwrap();
        hunt.keep_forge(&forge).unwrap();
        assert_eq!(hunt.forge().unwrap(), Some(forge));
        std::fs::write(hunt.path().join(FORGE), "{").unwrap();
        assert_eq!(hunt.forge().unwrap(), None);
    }
}
