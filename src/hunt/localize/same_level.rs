//! Up to which difference a test leaves the level of an endpoint as it is. Pure.

use crate::evaluation::GuardTarget;

/// A test leaves an endpoint's level unchanged if it moves by no more than this share of the
/// tolerance.
const SAME: f64 = 0.5;

/// The same as a share of the steps that the test takes out. The larger of the two counts.
pub(super) const SAME_OF_STEPS: f64 = 0.1;

/// Up to this difference, an endpoint's level counts as unchanged by a test that takes these steps
/// out of it. In the metric's unit, as `steps`.
pub(super) fn same_level(target: &GuardTarget, steps: f64) -> f64 {
    f64::max(SAME * target.limit, SAME_OF_STEPS * steps.abs()).max(0.0)
}
