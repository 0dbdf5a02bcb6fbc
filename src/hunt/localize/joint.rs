//! The endpoints with and without the causes inside all first bad commits, if there are several.
//!
//! For a regression, the bad endpoint without all causes should be good. For a fix, the good
//! endpoint without them should be bad, and the bad endpoint with them good.

use crate::evaluation::{
    Aim, Backport, Cause, ChangePart, CommitId, Culprit, Finding, GuardTarget, JointBackport,
    JointRevert, Revert, Target, Trial, TrialOf,
};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::note_limit;
use crate::store::journal::Event;

use super::change::Change;
use super::contradiction;
use super::end_levels::by_levels;
use super::lost_step::OwnStep;
use super::pairs::has_told;
use super::reversal::Reversal;
use super::revert::EndTest;

/// What the tests take out of the change of a commit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The cause of its largest effect.
    Causes,
    /// The same, and of a commit with several effects the whole change.
    AllEffects,
}

/// The causes inside all first bad commits.
#[derive(Default)]
struct AllCauses {
    /// For each commit, in order of history: its tree without its cause, and its tree as it is.
    steps: Vec<[String; 2]>,
    /// In the same order, the differences that take these causes out of the newer end.
    reversals: Vec<[String; 2]>,
    /// Why a cause does not come out of the newer end, in words.
    conflict: Option<String>,
    parts: Vec<ChangePart>,
}

impl Driver<'_> {
    /// Adds to a finding what the endpoints show with and without the causes inside all first bad
    /// commits. Adds nothing if a cause is not known, or if no target can be judged by a few runs.
    pub(super) fn test_jointly(&mut self, finding: &mut Finding) -> Result<(), HuntError> {
        let (whole, _) = self.sought()?;
        let targets = self.judged_alone(&whole);
        if targets.is_empty() {
            return Ok(());
        }
        let Some(mut causes) = self.all_causes(finding, Extent::Causes)? else { return Ok(()) };
        let stopped = |why: String| JointRevert { revert: Revert::Stopped(why), trial: None };
        let revert = self.joint_revert(&causes, &targets, &finding.culprits);
        finding.joint_revert = self.or_stopped(finding, revert, stopped)?;
        if let Some(all) = self.causes_with_other_effects(finding, &causes, &whole)? {
            let revert = self.joint_revert(&all, &targets, &finding.culprits);
            let revert = self.or_stopped(finding, revert, stopped)?;
            if revert.as_ref().is_some_and(|joint| joint.revert.is_tested()) {
                (finding.joint_revert, causes) = (revert, all);
            }
        }
        if self.terms().aim().is_regression() || self.limit.is_some() {
            return Ok(());
        }
        let backport = self.joint_backport(causes, &targets);
        finding.joint_backport = self.or_stopped(finding, backport, |why| JointBackport {
            backport: Backport::Stopped(why),
            trial: None,
        })?;
        Ok(())
    }

    /// The result of a test. If a fault of the machine ended the test: `stopped`, with the fault.
    fn or_stopped<T>(
        &self,
        finding: &mut Finding,
        tested: Result<Option<T>, HuntError>,
        stopped: impl FnOnce(String) -> T,
    ) -> Result<Option<T>, HuntError> {
        match tested {
            Err(fault) if !self.must_end(&fault) => {
                note_limit(finding, &fault);
                Ok(Some(stopped(fault.to_string())))
            }
            other => other,
        }
    }

    /// Whether a test of the newer end tells whether this end needs a named commit.
    pub(crate) fn is_tested_at_end(&self, finding: &Finding, commit: &CommitId) -> bool {
        self.needed_at_end.contains(commit) || has_verdict_without(finding, commit)
    }

    /// Judges the newer endpoint without all causes, the last one reverted first. `named`: the
    /// commits. `None` if a limit of the hunt is reached.
    fn joint_revert(
        &mut self,
        causes: &AllCauses,
        targets: &[Target],
        named: &[Culprit],
    ) -> Result<Option<JointRevert>, HuntError> {
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let (whole, others) = self.sought()?;
        let reverts: Vec<[String; 2]> = causes.reversals.iter().rev().cloned().collect();
        let of = match self.terms().aim() {
            Aim::Regression => TrialOf::AllReverted,
            Aim::Fix => TrialOf::AllUnfixed,
        };
        let untested = |revert| Ok(Some(JointRevert { revert, trial: None }));
        if let Some(why) = &causes.conflict {
            return untested(Revert::Conflict(why.clone()));
        }
        match self.test_end(&end, &reverts, of, causes.parts.clone(), targets)? {
            EndTest::Conflict(said) => untested(Revert::Conflict(said)),
            EndTest::Same => untested(Revert::Absent),
            EndTest::Limit => Ok(None),
            EndTest::Judged { verdict, recipe, trial } => {
                self.write_joint(&trial)?;
                let is_whole = targets.len() == whole.len();
                let mut told = self.revert(verdict, &recipe, &others, is_whole, named)?;
                let own_step = |target: &GuardTarget, ends| OwnStep::of_all(named, target, ends);
                told.revert = by_levels(told.revert, &trial, targets, named, own_step);
                let revert = told.with_trade().revert;
                Ok(Some(JointRevert { revert, trial: Some(*trial) }))
            }
        }
    }

    /// Judges the bad endpoint with all fixes, the first one applied first. `None` if a limit of
    /// the hunt is reached.
    fn joint_backport(
        &mut self,
        causes: AllCauses,
        targets: &[Target],
    ) -> Result<Option<JointBackport>, HuntError> {
        let [end, _] = self.begun.ends().map(CommitId::clone);
        let untested = |backport| Ok(Some(JointBackport { backport, trial: None }));
        let of = TrialOf::AllBackported;
        match self.test_end(&end, &causes.steps, of, causes.parts, targets)? {
            EndTest::Conflict(said) => untested(Backport::Conflict(said)),
            EndTest::Same => untested(Backport::Present),
            EndTest::Limit => Ok(None),
            EndTest::Judged { verdict, recipe, trial } => {
                self.write_joint(&trial)?;
                // The steps of several commits may depend on each other.
                let backport = self.backported(verdict, &recipe, &trial, targets, |_| None)?;
                Ok(Some(JointBackport { backport, trial: Some(*trial) }))
            }
        }
    }

    /// Writes a test to the journal unless an earlier driver did.
    fn write_joint(&mut self, trial: &Trial) -> Result<(), HuntError> {
        let is_written = self.hunt.entries()?.iter().any(
            |entry| matches!(&entry.event, Event::Trial(known) if known.is_of_same_build(trial)),
        );
        if !is_written {
            self.oracle.recorder.event(Event::Trial(Box::new(trial.clone())))?;
        }
        Ok(())
    }

    /// The whole changes of the commits with several effects, and the causes inside the others, if
    /// the test without all causes contradicts the answer: a cause is that of the commit's largest
    /// effect, and the rest of the change may make another one. `None` if no test contradicts, or
    /// if the causes are these already.
    fn causes_with_other_effects(
        &self,
        finding: &Finding,
        causes: &AllCauses,
        whole: &[Target],
    ) -> Result<Option<AllCauses>, HuntError> {
        let has_others = finding.culprits.iter().any(|culprit| culprit.effects.len() > 1);
        if !has_others || contradiction::found_jointly(finding, whole).is_empty() {
            return Ok(None);
        }
        let all = self.all_causes(finding, Extent::AllEffects)?;
        Ok(all.filter(|all| all.steps != causes.steps))
    }

    /// The causes inside all first bad commits. `None` if one is not known.
    fn all_causes(
        &self,
        finding: &Finding,
        extent: Extent,
    ) -> Result<Option<AllCauses>, HuntError> {
        let history = History::open(self.oracle.history.repository())?;
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let mut causes = AllCauses::default();
        for culprit in &finding.culprits {
            let cause = cause_of(finding, &culprit.info.commit);
            let Some(cause) = cause.filter(|cause| !cause.end.is_without_answer()) else {
                return Ok(None);
            };
            let change = Change::of(&history, &cause.parent, culprit)?;
            let is_whole = extent == Extent::AllEffects && culprit.effects.len() > 1;
            let parts = if is_whole { change.whole() } else { change.taken(cause) };
            let rest = change.without(&change.whole(), &parts)?;
            causes.steps.push(self.step_trees(culprit, &change, &rest)?);
            match self.reversal(&end, culprit, &change, &rest)? {
                Reversal::Trees(trees) => causes.reversals.push(trees),
                Reversal::Conflict(why) => causes.conflict = Some(why),
            }
            causes.parts.extend(parts.iter().map(|part| change.shown(*part)));
        }
        Ok(Some(causes))
    }
}

/// Whether a test of the newer end without the causes inside all named commits gave a verdict.
pub(super) fn has_joint_verdict(finding: &Finding) -> bool {
    finding.joint_revert.as_ref().is_some_and(|joint| joint.revert.tells_need())
}

/// Whether a test of the newer end without a named commit's cause gave a verdict: without it alone,
/// or if several commits are named, without the causes inside all of them. A verdict without this
/// one of several commits is enough if all steps of this commit are gone then.
fn has_verdict_without(finding: &Finding, commit: &CommitId) -> bool {
    if finding.culprits.len() > 1 {
        return has_joint_verdict(finding) || is_gone_without(finding, commit);
    }
    cause_of(finding, commit).is_some_and(has_told)
}

/// Whether the bad end without this commit's change alone has no step any more, by a test that
/// judged each metric that the commit moves.
fn is_gone_without(finding: &Finding, commit: &CommitId) -> bool {
    let named = finding.culprits.iter().find(|one| one.info.commit == *commit);
    let Some((culprit, cause)) = named.zip(cause_of(finding, commit)) else { return false };
    let is_gone = cause.revert.as_ref().is_some_and(Revert::takes_step_out);
    let Some(test) = cause.reverted().filter(|_| is_gone) else { return false };
    culprit.failure.is_none()
        && !culprit.effects.is_empty()
        && culprit.effects.iter().all(|effect| test.levels.contains_key(&effect.metric))
}

/// The cause inside a first bad commit, if it is known.
pub(super) fn cause_of<'f>(finding: &'f Finding, commit: &CommitId) -> Option<&'f Cause> {
    let mut causes = finding.cause.iter().chain(&finding.other_causes);
    causes.find(|cause| cause.commit == *commit)
}

#[cfg(test)]
mod tests;
