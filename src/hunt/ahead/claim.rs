//! Keeps two processes of a hunt from measuring one commit at the same time.

use std::time::{Duration, Instant};

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::oracle::Oracle;
use crate::store::{AheadClaim, HuntDir};

/// Interval at which a worker's claim is tried.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits for the worker that measures the commit, if there is one, takes over what it measured, and
/// keeps other workers from the commit while the result lives.
pub(crate) fn claim(
    oracle: &mut Oracle,
    hunt: &HuntDir,
    commit: &CommitId,
    phase: Phase,
) -> Result<AheadClaim, HuntError> {
    hunt.make_ahead()?;
    let begun = Instant::now();
    let mut is_said = false;
    loop {
        if let Some(claim) = hunt.claim(commit, phase)? {
            oracle.take_over(commit, phase, begun.elapsed().as_secs_f64())?;
            return Ok(claim);
        }
        if !std::mem::replace(&mut is_said, true) {
            oracle.recorder.waits(
                "waiting for another slot, which measures it",
                commit,
                None,
                phase,
            );
        }
        if oracle.stop.within(POLL_INTERVAL) {
            return Err(HuntError::stopped(&oracle.stop));
        }
    }
}
