//! What a hunt may claim of a named commit if no test of the newer end tells whether that end needs
//! the commit: with `--no-localize`, after a limit or a fault of the machine, if the change does
//! not come out of that end, or if that end cannot be built or judged without it. A later commit
//! that was not measured, or that could not be judged, may have undone the change, and the next one
//! made the same again. Equal values with many digits do not exclude this: the same cause gives the
//! same digits.

use std::collections::BTreeSet;

use crate::evaluation::{Backport, CommitId, Culprit, Finding, Outcome, Revert, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;

use super::gained_back;

impl Driver<'_> {
    /// Lowers the confidence in the named commits of which no test of the newer end tells whether
    /// it needs them, if later commits were not measured or could not be judged. In a hunt for a
    /// fix, only if a removal was tried and conflicted.
    pub(crate) fn lower_if_untested(&self, mut finding: Finding) -> Result<Finding, HuntError> {
        let is_asked_for = self.terms().explains_levels() || is_in_conflict(&finding);
        if finding.outcome != Outcome::Culprit || !is_asked_for {
            return Ok(finding);
        }
        let is_asked = self.begun.options.localize;
        let is_tested = |commit: &CommitId| is_asked && self.is_tested_at_end(&finding, commit);
        let commits = finding.culprits.iter().map(|culprit| &culprit.info.commit);
        let untested: Vec<CommitId> =
            commits.filter(|commit| !is_tested(commit)).cloned().collect();
        if untested.is_empty() {
            return Ok(finding);
        }
        let known = self.known_at_all()?;
        let [_, newer] = self.begun.ends();
        gained_back::doubt(&mut finding, |commit| !untested.contains(commit));
        let is_untested = |one: &&mut Culprit| untested.contains(&one.info.commit);
        for culprit in finding.culprits.iter_mut().filter(is_untested) {
            let later = self.oracle.history.descending(&culprit.info.commit, newer)?;
            let later = self.read_by_builds(&culprit.info.commit, &later)?;
            let is_open = |one: &&CommitId| *one != newer && !known.contains(*one);
            lower(culprit, later.iter().filter(is_open).count());
        }
        Ok(finding)
    }

    /// The commits with a verdict, good or bad, and those that were compared to find a mend.
    fn known_at_all(&self) -> Result<BTreeSet<CommitId>, HuntError> {
        let is_told = |verdict: &Verdict| matches!(verdict, Verdict::Good | Verdict::Bad);
        let verdicts = self.last_verdicts()?.into_iter();
        let judged = verdicts.filter(|(_, verdict)| is_told(verdict)).map(|(commit, _)| commit);
        Ok(judged.chain(self.compared.iter().cloned()).collect())
    }
}

/// Whether the change of the only named commit does not come out of the newer end, and no test
/// shows that the older end becomes like the newer one with this change.
fn is_in_conflict(finding: &Finding) -> bool {
    finding.culprits.len() == 1
        && finding.cause.as_ref().is_some_and(|cause| {
            matches!(cause.revert, Some(Revert::Conflict(_)))
                && cause.backport != Some(Backport::Heals)
        })
}

/// Lowers the confidence in a commit if so many later commits were not measured or judged.
fn lower(culprit: &mut Culprit, unmeasured: usize) {
    if unmeasured > 0 {
        lower_confidence(culprit);
        culprit.doubts.unmeasured_after = Some(unmeasured);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evaluation::{Cause, CauseEnd};
    use crate::hunt::open_doubt::MOST_CERTAIN;
    use crate::oracle::fixture::{commit, culprit};

    #[test]
    fn a_fix_that_does_not_come_out_is_untested_unless_it_heals_the_bad_end() {
        let found = |revert, backport| {
            let cause = Cause {
                commit: commit('5'),
                parent: commit('4'),
                sets: Vec::new(),
                end: CauseEnd::NotSeparable("a test".to_owned()),
                dependents: Vec::new(),
                trials: Vec::new(),
                without: None,
                roles: BTreeMap::new(),
                revert: Some(revert),
                broken_too: None,
                in_part: false,
                backport,
            };
            let finding = Finding::plain(Outcome::Culprit, "5 is the first fixed commit");
            let (culprits, cause) = (vec![culprit('5', '4')], Some(cause));
            is_in_conflict(&Finding { culprits, cause, ..finding })
        };
        let conflict = || Revert::Conflict("a conflict".to_owned());
        assert!(found(conflict(), None) && found(conflict(), Some(Backport::StillBad)));
        assert!(!found(conflict(), Some(Backport::Heals)) && !found(Revert::BreaksAgain, None));
    }

    #[test]
    fn the_confidence_falls_only_if_a_later_commit_was_not_measured() {
        let mut found = Culprit { confidence: 0.995, ..culprit('5', '4') };
        lower(&mut found, 0);
        assert_eq!((found.confidence, found.doubts.unmeasured_after), (0.995, None));
        lower(&mut found, 3);
        assert_eq!((found.confidence, found.doubts.unmeasured_after), (MOST_CERTAIN, Some(3)));
    }
}
