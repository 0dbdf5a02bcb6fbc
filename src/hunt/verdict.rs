//! Writes a verdict down, with what it rests on.

use crate::evaluation::{Judgement, Phase};
use crate::oracle::{Observation, Oracle};
use crate::store::journal::{Event, Judged};

use super::HuntError;

/// Where in a hunt a verdict belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct VerdictContext {
    pub(super) search_number: usize,
    pub(super) phase: Phase,
    /// Commits and steps git thinks are left.
    pub(super) left: Option<(usize, usize)>,
}

/// Appends the verdict to the journal.
pub(super) fn write_down(
    oracle: &mut Oracle,
    seen: &Observation,
    judgement: &Judgement,
    place: VerdictContext,
) -> Result<(), HuntError> {
    let event = Event::Judged(Judged {
        commit: seen.commit.clone(),
        subject: oracle.history.info(&seen.commit)?.subject,
        judgement: judgement.clone(),
        search_number: place.search_number,
        phase: place.phase,
        attempts: seen.attempts(),
        left: place.left,
    });
    Ok(oracle.recorder.event(event)?)
}
