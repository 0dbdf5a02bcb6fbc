//! The samples of a commit for a target in noise.

use crate::config::Config;
use crate::evaluation::{GuardTarget, NoiseKind, SkipReason};
use crate::oracle::{Observation, RunSample, run_sample, skip_reason};

/// The samples of a commit on the oriented scale (larger is worse), or why there are none.
pub(crate) fn samples(
    seen: &Observation,
    target: &GuardTarget,
    config: &Config,
) -> Result<Vec<f64>, (SkipReason, String)> {
    if let Some(failure) = &seen.build_failure {
        return Err((skip_reason(failure.kind), failure.detail.clone()));
    }
    // A hunt for runs that differ compares each run with the first one. The first one gives no
    // sample.
    let places = usize::from(is_spread(target))..seen.of(&target.guard.metric.measure).len();
    places
        .map(|place| match run_sample(seen, target, place, config) {
            RunSample::Sample(x) => Ok(x),
            RunSample::Untestable(why, reason) => Err((why, reason)),
        })
        .collect()
}

/// Whether the target is the share of repeated runs that differ.
pub(crate) fn is_spread(target: &GuardTarget) -> bool {
    target.noise.is_some_and(|noise| noise.kind == NoiseKind::Differs)
}
