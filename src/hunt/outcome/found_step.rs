//! A found commit with its search range and its runs: the input of the checks whether its change
//! lasts.

use crate::evaluation::{Culprit, Target};
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

/// A found commit, and the search range for which it is checked.
pub(crate) struct FoundStep<'a> {
    pub(crate) search_range: &'a SearchRange,
    pub(crate) culprit: &'a Culprit,
    /// What was measured on the bad side of its step.
    pub(crate) seen: &'a Observation,
}

/// Whether the found commit is worse than the bad end of its search range by more than the
/// tolerance, so that a later commit mended at least part of it.
pub(crate) fn is_beyond_the_end(step: &FoundStep<'_>) -> bool {
    step.search_range.targets.iter().any(|target| {
        let Target::Guard(target) = target else { return false };
        let own = step.seen.level(&target.guard.metric).and_then(|level| level.number());
        let levels = target.bad.number().zip(own);
        levels.is_some_and(|(end, own)| target.guard.is_worse_by(end, own, target.limit.max(0.0)))
    })
}
