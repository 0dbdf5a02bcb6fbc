//! Which of some commits contain which others. Pure.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;

/// Pairs of a commit and an older one that it contains, among the commits that an account is about.
#[derive(Debug, Default)]
pub(super) struct Lineage(BTreeSet<[CommitId; 2]>);

impl Lineage {
    /// The lineage of these pairs, the newer commit first.
    pub(super) fn of(pairs: impl IntoIterator<Item = [CommitId; 2]>) -> Self {
        Self(pairs.into_iter().collect())
    }

    /// Whether a commit is or contains an older one. False for commits that the lineage does not
    /// know.
    pub(super) fn contains(&self, commit: &CommitId, older: &CommitId) -> bool {
        commit == older || self.0.contains(&[commit.clone(), older.clone()])
    }
}
