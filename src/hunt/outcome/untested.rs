//! What a hunt may claim of a named commit if no test of the newer end tells whether that end needs
//! the commit: with `--no-localize`, after a limit or a fault of the machine, if the change does
//! not come out of that end, or if that end cannot be built or judged without it. A later commit
//! that was not measured, or that could not be judged, may have undone the change, and the next one
//! made the same again. Equal values with many digits do not exclude this: the same cause gives the
//! same digits. In a hunt for a fix, an earlier commit may have fixed the same, unless the bad end
//! is judged with the fix; and in noise, a further fix may be needed.

use std::collections::BTreeSet;

use crate::evaluation::{Account, Backport, CommitId, Culprit, Finding, Outcome, Revert, Verdict};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;

use super::gained_back;
use super::unexplained::SURE;

impl Driver<'_> {
    /// Lowers the confidence in the named commits of which no test of the newer end tells whether
    /// it needs them, if later commits were not measured or could not be judged. In a hunt for a
    /// fix, only if a removal was tried and conflicted, or does not tell.
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

    /// In a hunt for a fix: lowers the confidence in the named commits if a test of the bad end
    /// with them was tried and tells nothing, and earlier commits were not measured or could not be
    /// judged. One of these may have fixed the same, and another one broken it again.
    pub(crate) fn lower_if_fix_is_untold(
        &self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        if finding.outcome != Outcome::Culprit || !is_fix_untold(&finding) {
            return Ok(finding);
        }
        let known = self.known_at_all()?;
        let [older, _] = self.begun.ends();
        for culprit in &mut finding.culprits {
            let range = Range::between(older, &culprit.parent);
            let earlier = self.oracle.history.commits(&range)?;
            let earlier = self.read_by_builds(older, &earlier)?;
            lower_by_earlier(culprit, earlier.iter().filter(|one| !known.contains(*one)).count());
        }
        Ok(finding)
    }

    /// In a hunt for a fix in noise: lowers the confidence in the named commits if what they leave
    /// of a metric may be more than the tolerance. No test tells whether the bad end is good with
    /// these fixes then, so a further one may be needed.
    pub(crate) fn lower_if_rest_is_open(&self, mut finding: Finding) -> Finding {
        if finding.outcome == Outcome::Culprit && !self.terms().aim().is_regression() {
            lower_by_rest(&mut finding);
        }
        finding
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
/// shows that the older end becomes like the newer one with this change. So it is if that end is
/// like neither end without the change: then the older end tells nothing of the newer one.
fn is_in_conflict(finding: &Finding) -> bool {
    finding.culprits.len() == 1
        && finding.cause.as_ref().is_some_and(|cause| {
            cause.revert == Some(Revert::Unlike)
                || matches!(cause.revert, Some(Revert::Conflict(_)))
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

/// Whether the bad end was tested with the fix, or with all named ones, and this tells nothing: the
/// fix does not apply there, or that end is like neither end with it.
fn is_fix_untold(finding: &Finding) -> bool {
    let backport = if finding.culprits.len() > 1 {
        finding.joint_backport.as_ref().map(|joint| &joint.backport)
    } else {
        finding.cause.as_ref().and_then(|cause| cause.backport.as_ref())
    };
    backport.is_some_and(|backport| !backport.tells())
}

/// Lowers the confidence in a fix if so many earlier commits were not measured or judged.
fn lower_by_earlier(culprit: &mut Culprit, unmeasured: usize) {
    if unmeasured > 0 {
        lower_confidence(culprit);
        culprit.doubts.unmeasured_before = Some(unmeasured);
    }
}

/// Lowers the confidence in the fixes that move a metric of which more than the tolerance may be
/// left, unless a test shows that the bad end is good with the named fixes.
fn lower_by_rest(finding: &mut Finding) {
    let single = finding.cause.as_ref().and_then(|cause| cause.backport.as_ref());
    let joint = finding.joint_backport.as_ref().map(|joint| &joint.backport);
    let told = if finding.culprits.len() > 1 { joint } else { single };
    if told == Some(&Backport::Heals) {
        return;
    }
    for account in finding.accounts.iter().filter(|account| is_rest_open(account)) {
        let metric = &account.metric;
        let own = finding.culprits.iter_mut();
        own.filter(|one| one.effect_on(metric).is_some()).for_each(lower_confidence);
        finding.notes.push(format!(
            "by these runs, what is left of {metric} may be more than the tolerance: another fix \
             may be needed too"
        ));
    }
}

/// Whether in noise the rest of an account, with two standard errors, exceeds the tolerance.
fn is_rest_open(account: &Account) -> bool {
    let reach = |error: f64| account.left() + SURE * error;
    account.error.is_some_and(|error| reach(error) > account.limit.max(0.0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evaluation::{Cause, CauseEnd, JointBackport};
    use crate::hunt::open_doubt::MOST_CERTAIN;
    use crate::oracle::fixture::{account, commit, culprit, effect};

    /// A finding of one fix, with what the tests of the ends showed.
    fn fixed(revert: Revert, backport: Option<Backport>) -> Finding {
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
        Finding { culprits, cause, ..finding }
    }

    #[test]
    fn a_fix_is_untold_unless_the_bad_end_is_judged_with_it() {
        let is_untold = |backport| is_fix_untold(&fixed(Revert::BreaksAgain, backport));
        assert!(!is_untold(None), "the bad end was not tested");
        assert!(!is_untold(Some(Backport::Heals)) && !is_untold(Some(Backport::StillBad)));
        let conflict = Backport::Conflict("a conflict".to_owned());
        let other = Backport::BreaksOther("tps goes from 40 to 9".to_owned());
        for open in [Backport::Unlike, Backport::Unknown, Backport::Present, conflict, other] {
            assert!(is_untold(Some(open.clone())), "{open:?}");
        }
        let several = |backport| {
            let finding = fixed(Revert::BreaksAgain, Some(Backport::Unlike));
            let culprits = vec![culprit('3', '2'), culprit('5', '4')];
            let joint_backport = Some(JointBackport { backport, trial: None });
            is_fix_untold(&Finding { culprits, joint_backport, ..finding })
        };
        assert!(!several(Backport::Heals) && several(Backport::Unlike));
        let mut fix = Culprit { confidence: 0.995, ..culprit('5', '4') };
        lower_by_earlier(&mut fix, 0);
        assert_eq!((fix.confidence, fix.doubts.unmeasured_before), (0.995, None));
        lower_by_earlier(&mut fix, 3);
        assert_eq!((fix.confidence, fix.doubts.unmeasured_before), (MOST_CERTAIN, Some(3)));
    }

    #[test]
    fn in_noise_a_fix_is_less_certain_if_its_account_may_leave_more_than_the_tolerance() {
        let confidence = |explained: f64, error: Option<f64>, backport| {
            let mut finding = fixed(Revert::BreaksAgain, backport);
            let effects = vec![effect(7.0, 7.0 + explained, 0.1)];
            finding.culprits = vec![Culprit { confidence: 0.9996, effects, ..culprit('5', '4') }];
            finding.accounts = vec![Account { error, ..account(0.5, explained) }];
            lower_by_rest(&mut finding);
            assert_eq!(finding.notes.len(), usize::from(finding.culprits[0].confidence < 0.99));
            Some(finding.culprits[0].confidence)
        };
        assert_eq!(confidence(0.48, Some(0.03), None), Some(0.9996));
        assert_eq!(confidence(0.48, Some(0.05), None), Some(MOST_CERTAIN));
        assert_eq!(confidence(0.48, Some(0.05), Some(Backport::Heals)), Some(0.9996));
        assert_eq!(confidence(0.48, None, None), Some(0.9996));
    }

    #[test]
    fn a_fix_that_does_not_come_out_is_untested_unless_it_heals_the_bad_end() {
        let found = |revert, backport| is_in_conflict(&fixed(revert, backport));
        let conflict = || Revert::Conflict("a conflict".to_owned());
        assert!(found(conflict(), None) && found(conflict(), Some(Backport::StillBad)));
        assert!(!found(conflict(), Some(Backport::Heals)) && !found(Revert::BreaksAgain, None));
        assert!(found(Revert::Unlike, Some(Backport::Heals)));
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
