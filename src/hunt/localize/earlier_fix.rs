//! In a hunt for a fix: an earlier commit that is good already, if a fix does not apply to the bad
//! end, or if that end has it.

use crate::evaluation::{Backport, CommitId, Finding, Outcome, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::places::{MOST_LOOKS, spread};
use super::undone::{paths_of, unsettled};

impl Driver<'_> {
    /// In a hunt for a fix: looks for an earlier commit that is good already. Does so only if the
    /// fix does not apply to the bad end, or if the bad end has it already.
    pub(super) fn fixed_before(
        &mut self,
        finding: &Finding,
    ) -> Result<Option<CommitId>, HuntError> {
        let Some(cause) = unsettled(finding, |cause| {
            matches!(cause.backport, Some(Backport::Conflict(_) | Backport::Present))
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
        for place in &spread(places, MOST_LOOKS) {
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
