//! In a hunt for a fix: an earlier commit that is good already, if a fix does not apply to the bad
//! end, if that end has it, or if that end with the fix does not tell what the fix does there.

use crate::evaluation::{Backport, CommitId, Finding, Outcome, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::places::{MOST_LOOKS, spread_with_ends};
use super::undone::{paths_of, unsettled};

impl Driver<'_> {
    /// In a hunt for a fix: looks for an earlier commit that is good already. Does so only if the
    /// fix does not apply to the bad end, if the bad end has it already, or if a test of the bad
    /// end with it tells nothing.
    pub(super) fn fixed_before(
        &mut self,
        finding: &Finding,
    ) -> Result<Option<CommitId>, HuntError> {
        let Some(cause) = unsettled(finding, |cause| {
            let Some(backport) = &cause.backport else { return false };
            !backport.tells() && !matches!(backport, Backport::Stopped(_))
        }) else {
            return Ok(None);
        };
        let targets = self.targets_of_looks()?;
        if targets.is_empty() {
            return Ok(None);
        }
        let [older, _] = self.begun.ends().map(CommitId::clone);
        let history = &self.oracle.history;
        let change = history.change_in(&cause.parent, &cause.commit, &paths_of(cause))?;
        let mut places = Vec::new();
        for one in history.touching(&older, &cause.parent, &change)? {
            for parent in history.parents(&one)? {
                if parent != older && history.is_ancestor(&older, &parent)? {
                    places.push(parent);
                }
            }
        }
        for place in &spread_with_ends(places, MOST_LOOKS) {
            if self.repeatedly_judged(Verdict::Good, place, &targets)? {
                return Ok(Some(place.clone()));
            }
        }
        Ok(None)
    }
}

/// Turns the finding into candidates if `at`, an earlier commit, is good already: the fix is one of
/// the commits up to it.
pub(super) fn as_candidates(
    finding: Finding,
    at: &CommitId,
    bad: &CommitId,
    candidates: Vec<CommitId>,
) -> Finding {
    let fix = match candidates.as_slice() {
        [only] => only.short().to_owned(),
        several => format!("one of {} earlier commits", several.len()),
    };
    let summary = format!(
        "{} was good before {}: the fix that the bad end needs is {fix}",
        at.short(),
        finding.culprit().map_or("", |culprit| culprit.info.commit.short()),
    );
    let next = format!(
        "`bisect-ppl start --find-fix --bad {} --good {}` searches these commits",
        bad.short(),
        at.short()
    );
    Finding {
        candidates,
        next: vec![next],
        cause: finding.cause,
        ..Finding::plain(Outcome::Candidates, summary)
    }
}
