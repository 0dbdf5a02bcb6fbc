//! What else differs between a first bad commit and its worst parent, found without being asked.

use crate::differ;
use crate::evaluation::{CommitId, DifferenceIn, Differences};

use super::HuntError;
use super::driver::Driver;

impl Driver<'_> {
    /// Compares what is known of both.
    pub(super) fn differences(
        &self,
        parent: &CommitId,
        commit: &CommitId,
    ) -> Result<Differences, HuntError> {
        let mut found = Vec::new();
        let mut compared = Vec::new();
        let history = &self.oracle.history;
        if let Some(change) = history.changed_lines(parent, commit, &differ::pathspecs())? {
            found.extend(differ::constants(&change));
            compared.push(DifferenceIn::Constant);
        }
        Ok(Differences::new(found, compared))
    }
}
