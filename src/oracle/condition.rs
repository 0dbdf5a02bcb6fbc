//! Which conditions hold at a commit.

use crate::config::Condition;
use crate::evaluation::CommitId;
use crate::git::GitError;

use super::{Oracle, OracleError};

impl Oracle {
    /// Whether a condition holds at a commit.
    pub(super) fn holds(
        &self,
        commit: &CommitId,
        condition: &Condition,
    ) -> Result<bool, OracleError> {
        let (history, commit) = (&self.engine.history, self.engine.commit(commit));
        let has = |path: &Option<String>, wanted: bool| -> Result<bool, GitError> {
            path.as_ref().map_or(Ok(true), |path| Ok(history.path_exists(commit, path)? == wanted))
        };
        let contains = match &condition.contains {
            Some((path, text)) => history.file_contains(commit, path, text)?,
            None => true,
        };
        Ok(contains
            && has(&condition.exists, true)?
            && has(&condition.missing, false)?
            && self.descends(commit, condition.has_ancestor.as_deref(), true)?
            && self.descends(commit, condition.lacks_ancestor.as_deref(), false)?)
    }

    fn descends(
        &self,
        commit: &CommitId,
        revision: Option<&str>,
        wanted: bool,
    ) -> Result<bool, OracleError> {
        let Some(revision) = revision else { return Ok(true) };
        let ancestor = self.pinned(revision)?;
        Ok(self.engine.history.is_ancestor(&ancestor, commit)? == wanted)
    }
}
