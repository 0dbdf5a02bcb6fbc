//! If no test tells whether an endpoint has the cause, measures the commits that touch the cause's
//! files. Such a commit may undo the change by hand, and another commit may do the same again.

use crate::evaluation::{Backport, Cause, CommitId, Finding, Outcome, Revert, Verdict};
use crate::git::Change;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::step;

/// Maximum number of measured commits.
const MOST_LOOKS: usize = 6;

impl Driver<'_> {
    /// Looks for a later commit at which the main first bad commit's change has no effect any more.
    /// Does so once for each found commit, and only if the revert does not apply to the newer end or
    /// cannot be judged there, or, in a hunt for a fix, changes nothing there.
    pub(crate) fn undone_by_hand(
        &mut self,
        finding: &Finding,
    ) -> Result<Option<(CommitId, CommitId)>, HuntError> {
        let Some(cause) = unsettled(finding, |cause| match &cause.revert {
            Some(Revert::Conflict(_) | Revert::Unknown) => true,
            Some(Revert::StillBad) => cause.in_part,
            // For a regression (no backport), `unless_contradicted` withdraws such an answer.
            Some(Revert::Absent) => cause.backport.is_some(),
            _ => false,
        }) else {
            return Ok(None);
        };
        if self.undone.contains_key(&cause.commit) || self.limit.is_some() {
            return Ok(None);
        }
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let change = self.change_of(cause)?;
        let touching = self.oracle.history.touching(&cause.commit, &newer, &change)?;
        let places: Vec<CommitId> = touching.into_iter().filter(|one| *one != newer).collect();
        let older = self.terms().older();
        let place = self.first_with(older, &spread(places))?;
        Ok(place.map(|place| (cause.commit.clone(), place)))
    }

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
        let [older, _] = self.begun.ends().map(CommitId::clone);
        let change = self.change_of(cause)?;
        let history = &self.oracle.history;
        let mut places = Vec::new();
        for one in history.touching(&older, &cause.parent, &change)? {
            for parent in history.parents(&one)? {
                if parent != older && history.is_ancestor(&older, &parent)? {
                    places.push(parent);
                }
            }
        }
        self.first_with(Verdict::Good, &spread(places))
    }

    /// The main first bad commit's change, limited to the files that have a part of the cause.
    fn change_of(&self, cause: &Cause) -> Result<Change, HuntError> {
        let parts = cause.sets.iter().flat_map(|set| &set.parts);
        let paths: Vec<&str> = parts.map(|part| part.path.as_str()).collect();
        Ok(self.oracle.history.change_in(&cause.parent, &cause.commit, &paths)?)
    }

    /// The first of these commits that has this verdict, also when it is measured again. Judges
    /// only by targets that a few runs of one commit decide.
    fn first_with(
        &mut self,
        verdict: Verdict,
        places: &[CommitId],
    ) -> Result<Option<CommitId>, HuntError> {
        let (mut targets, _) = self.sought()?;
        targets.retain(|target| step::is_judged_alone(target, self.begun.options.search));
        if targets.is_empty() {
            return Ok(None);
        }
        for place in places {
            if self.judge(place, &targets)?.verdict == verdict
                && self.repeats_as(verdict, place, &targets)?.is_some()
            {
                return Ok(Some(place.clone()));
            }
        }
        Ok(None)
    }
}

/// The cause of the found commit, if the finding names a commit and `is_open` holds.
fn unsettled(finding: &Finding, is_open: impl Fn(&Cause) -> bool) -> Option<&Cause> {
    let cause = finding.cause.as_ref()?;
    (finding.outcome == Outcome::Culprit && is_open(cause)).then_some(cause)
}

/// At most [`MOST_LOOKS`] of these commits, evenly spread, with the first and the last.
fn spread(commits: Vec<CommitId>) -> Vec<CommitId> {
    if commits.len() <= MOST_LOOKS {
        return commits;
    }
    let place = |number: usize| number * (commits.len() - 1) / (MOST_LOOKS - 1);
    (0..MOST_LOOKS).map(|number| commits[place(number)].clone()).collect()
}

/// Turns the finding into candidates if `at`, an earlier commit, is good already: the fix is one of
/// the commits up to it.
pub(super) fn earlier_fix(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn few_commits_are_measured_and_the_first_and_last_are_among_them() {
        let all: Vec<CommitId> = "0123456789abc".chars().map(commit).collect();
        let chosen = spread(all.clone());
        assert_eq!(chosen.len(), MOST_LOOKS);
        assert_eq!((chosen.first(), chosen.last()), (all.first(), all.last()));
        assert_eq!(spread(all[..3].to_vec()), all[..3]);
    }
}
