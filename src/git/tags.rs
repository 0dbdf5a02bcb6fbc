//! Which tags point at a commit.

use crate::evaluation::CommitId;

use super::{GitError, Repository};

impl Repository {
    /// Whether a tag, annotated or not, is exactly at the commit.
    pub(crate) fn has_tag(&self, commit: &CommitId) -> Result<bool, GitError> {
        let tags = ["for-each-ref", "--count=1", "--points-at", commit.as_str(), "refs/tags"];
        Ok(!self.shared_call().args(tags).run()?.stdout.is_empty())
    }
}
