//! A fall of the level at a merge that only brings in the improvement of a branch.

use crate::evaluation::{CommitId, Metric};

/// A merge's level falls from that of one parent exactly as much as the level of a merged branch
/// fell from its base to its tip. Only where levels repeat.
#[derive(Clone, Debug)]
pub(crate) struct BroughtFall {
    pub(crate) metric: Metric,
    /// The parent from which the level falls.
    pub(crate) before: CommitId,
    pub(crate) merge: CommitId,
    /// The parent at the tip of the branch.
    pub(crate) tip: CommitId,
    /// The fall, in the metric's unit.
    pub(crate) amount: f64,
}
