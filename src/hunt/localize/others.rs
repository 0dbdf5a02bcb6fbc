//! The causes inside the other first bad commits, after that of the main one, and the bad endpoint
//! without all of these causes.

use crate::evaluation::{
    Cause, CauseEnd, ChangePart, CommitId, Culprit, Finding, JointRevert, Revert, TrialOf, Verdict,
};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::note_limit;
use crate::store::journal::Event;

use super::change::Change;
use super::isolation::Rank;
use super::revert::{Patched, shows};
use super::trials::{MOST_TRIALS, trial};
use super::unknown;

/// The reverts of all causes.
#[derive(Default)]
struct AllReverts {
    /// One pair of trees for each reverted commit, the last commit first. The difference of a pair
    /// reverts the commit's cause.
    differences: Vec<[String; 2]>,
    /// The reverted parts.
    parts: Vec<ChangePart>,
}

impl Driver<'_> {
    /// Adds to a finding the causes inside its other first bad commits. They share the budget of the
    /// main commit's cause, which comes first.
    pub(crate) fn localize_others(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(main) = self.main_to_ask(&finding).map(|main| main.info.clone()) else {
            return Ok(finding);
        };
        // If the machine failed at the main commit, it is not asked again.
        let Some(first) = finding.cause.as_ref().filter(|cause| !is_stopped(cause)) else {
            return Ok(finding);
        };
        let mut made = first.tests_of_parts();
        let others: Vec<Culprit> =
            finding.culprits.iter().filter(|one| one.info != main).cloned().collect();
        for culprit in &others {
            if self.limit.is_some() {
                break;
            }
            let cause = if let Some(why) = self.over_budget(culprit, made)? {
                unknown(culprit, why)
            } else {
                let rank = Rank::Other { most_trials: MOST_TRIALS - made };
                self.cause_or_reason(culprit, rank, &mut finding)?
            };
            made += cause.tests_of_parts();
            let is_over = is_stopped(&cause);
            finding.other_causes.push(cause);
            if is_over {
                break;
            }
        }
        let is_known = finding.other_causes.len() == others.len();
        if !others.is_empty() && is_known && self.limit.is_none() {
            let joint = match self.joint_revert(&finding) {
                Err(error) if self.must_end(&error) => return Err(error),
                Err(fault) => {
                    note_limit(&mut finding, &fault);
                    Some(JointRevert { revert: Revert::Stopped(fault.to_string()), trial: None })
                }
                Ok(joint) => joint,
            };
            finding.joint_revert = joint;
        }
        Ok(finding)
    }

    /// Why the budget allows no test of parts of this commit; `None` if it does. `made`: the tests
    /// that other commits took.
    fn over_budget(&self, culprit: &Culprit, made: usize) -> Result<Option<String>, HuntError> {
        let commit = &culprit.info.commit;
        let is_begun = self.hunt.entries()?.iter().any(
            |entry| matches!(&entry.event, Event::Localizing { commit: one, .. } if one == commit),
        );
        // A resumed hunt repeats what it has tested before, whatever the time.
        if made < MOST_TRIALS && (is_begun || !self.is_late()?) {
            return Ok(None);
        }
        // `localize` asks what made something worse.
        let is_regression = self.terms().aim().is_regression();
        let advice = is_regression
            .then(|| format!("; `bisect-ppl localize {}` looks for it", commit.short()));
        let advice = advice.unwrap_or_default();
        Ok(Some(format!("the tests of the other commits took the whole budget{advice}")))
    }

    /// Judges the bad endpoint without the causes of all first bad commits, the last one reverted
    /// first. `None` if a cause is not known, or if no target can be judged there.
    fn joint_revert(&mut self, finding: &Finding) -> Result<Option<JointRevert>, HuntError> {
        let (whole, others) = self.sought()?;
        let targets = self.judged_alone(&whole);
        if !self.terms().aim().is_regression() || targets.is_empty() {
            return Ok(None);
        }
        let Some(AllReverts { differences, parts }) = self.all_reverts(finding)? else {
            return Ok(None);
        };
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let untested = |revert| Ok(Some(JointRevert { revert, trial: None }));
        let (recipe, patch) = match self.patched(&end, &differences)? {
            Patched::Conflict(said) => return untested(Revert::Conflict(said)),
            Patched::Same => return untested(Revert::Absent),
            Patched::Done { recipe, patch } => (recipe, patch),
        };
        self.hunt.keep_joint_revert(&patch)?;
        let Some((judgement, seen)) = self.judge_end(&end, &recipe, &targets)? else {
            return Ok(None);
        };
        let verdict = judgement.verdict;
        let mut trial =
            trial(TrialOf::AllReverted, parts, shows(verdict), judgement.reason, &seen, &targets);
        if seen.build_failure.is_some() {
            trial.attempts = self.failed_build(&end, &recipe)?;
        }
        let is_written = self.hunt.entries()?.iter().any(
            |entry| matches!(&entry.event, Event::Trial(known) if known.is_of_same_build(&trial)),
        );
        if !is_written {
            self.oracle.recorder.event(Event::Trial(Box::new(trial.clone())))?;
        }
        let revert = match verdict {
            Verdict::Good => match self.broken_beside(&end, &recipe, &others)? {
                Some(what) => Revert::BreaksOther(what),
                None if targets.len() < whole.len() => Revert::HealsPart,
                None => Revert::Heals,
            },
            Verdict::Bad => Revert::StillBad,
            Verdict::Skip | Verdict::Unknown => Revert::Unknown,
        };
        Ok(Some(JointRevert { revert, trial: Some(trial) }))
    }

    /// The reverts of all causes. `None` if a cause is not known.
    fn all_reverts(&self, finding: &Finding) -> Result<Option<AllReverts>, HuntError> {
        let history = History::open(self.oracle.history.repository())?;
        let mut reverts = AllReverts::default();
        for culprit in finding.culprits.iter().rev() {
            let mut all = finding.cause.iter().chain(&finding.other_causes);
            let cause = all.find(|cause| cause.commit == culprit.info.commit);
            let Some(cause) = cause.filter(|cause| !cause.end.is_without_answer()) else {
                return Ok(None);
            };
            let change = Change::of(&history, &cause.parent, culprit)?;
            // Parts that are not known to make the step are not reverted one by one.
            let parts = match cause.end {
                CauseEnd::Budget => change.whole(),
                _ => change.named(cause.parts()),
            };
            let rest = change.without(&change.whole(), &parts)?;
            let [without, whole] = self.step_trees(culprit, &change, &rest)?;
            reverts.differences.push([whole, without]);
            reverts.parts.extend(parts.iter().map(|part| change.shown(*part)));
        }
        Ok(Some(reverts))
    }
}

/// Whether a fault of the machine ended the tests.
fn is_stopped(cause: &Cause) -> bool {
    matches!(cause.end, CauseEnd::Stopped(_))
}
