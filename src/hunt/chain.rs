//! One path of history between two commits.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;

use super::HuntError;
use super::driver::Driver;

impl Driver<'_> {
    /// The commits after `older` up to `newer`, oldest first, along one path. Takes the first
    /// parent where it leads to `older`.
    pub(crate) fn chain(
        &self,
        older: &CommitId,
        newer: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let descendants: BTreeSet<CommitId> =
            history.descending(older, newer)?.into_iter().collect();
        let mut chain = Vec::new();
        let mut at = newer.clone();
        while at != *older && descendants.contains(&at) {
            let parents = history.parents(&at)?;
            chain.push(at);
            let leads = |one: &CommitId| one == older || descendants.contains(one);
            let Some(parent) = parents.into_iter().find(leads) else { break };
            at = parent;
        }
        chain.reverse();
        Ok(chain)
    }
}
