//! Writes a verdict and its runs to the journal.

use crate::evaluation::{Judgement, Phase};
use crate::oracle::{Observation, Oracle};
use crate::store::journal::{Event, Judged};

use super::HuntError;

/// The part of a hunt to which a verdict belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerdictContext {
    pub(crate) search_number: usize,
    pub(crate) phase: Phase,
    /// Commits and steps left, as git estimates them.
    pub(crate) left: Option<(usize, usize)>,
}

/// Appends the verdict to the journal.
pub(crate) fn write_down(
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
