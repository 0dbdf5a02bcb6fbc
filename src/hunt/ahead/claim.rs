//! Keeps two processes of a hunt from measuring one commit at the same time.

use std::time::{Duration, Instant};

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::oracle::Oracle;
use crate::store::{AheadClaim, HuntDir};

/// Interval between two tries to lock a commit that a worker measures.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Locks a commit, so that no worker measures it as long as the returned value lives. If a worker
/// measures the commit now, waits for its end. Then takes over what workers measured there.
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
        // A job that waits for a finished build comes first: it has a node and the build.
        if let Some(claim) = hunt.claim(commit, phase)?
            && !hunt.is_builder_awaited(commit, phase)?
        {
            oracle.take_over(commit, phase, begun.elapsed().as_secs_f64())?;
            return Ok(claim);
        }
        if !std::mem::replace(&mut is_said, true) {
            hunt.want(commit, phase)?;
            let why = format!("waiting for {}, which is measured ahead", commit.short());
            oracle.recorder.waits(&why, commit, None, phase);
        }
        if oracle.stop.within(POLL_INTERVAL) {
            return Err(HuntError::stopped(&oracle.stop));
        }
    }
}
