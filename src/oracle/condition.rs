//! Which overrides hold at a commit.

use std::collections::BTreeMap;

use crate::config::{Condition, Config};
use crate::evaluation::CommitId;
use crate::git::{GitError, History};

use super::{Oracle, OracleError};

/// The commits that the conditions of a configuration name.
pub fn revisions_of(
    config: &Config,
    history: &History,
) -> Result<BTreeMap<String, CommitId>, GitError> {
    let named = config.overrides.iter().flat_map(|when| [&when.has_ancestor, &when.lacks_ancestor]);
    named.flatten().map(|name| Ok((name.clone(), history.resolve(name)?))).collect()
}

impl Oracle {
    /// Whether an override's condition holds at a commit.
    pub(super) fn holds(
        &self,
        commit: &CommitId,
        condition: &Condition,
    ) -> Result<bool, OracleError> {
        let history = &self.history;
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
        let ancestor = match self.revisions.get(revision) {
            Some(known) => known.clone(),
            None => self.history.resolve(revision)?,
        };
        Ok(self.history.is_ancestor(&ancestor, commit)? == wanted)
    }
}
