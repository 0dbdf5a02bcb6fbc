//! Tests the newer endpoint without the parts that make the step. Stores the patches beside the
//! report.
//!
//! For a regression, the bad endpoint without the parts should be good. For a fix, the good
//! endpoint without the parts should be bad, and the bad endpoint with them good (`backport`).

use crate::config::Config;
use crate::evaluation::{
    Aim, ChangePart, CommitId, Culprit, GuardTarget, Judgement, Metric, Phase, Revert, Shows,
    Target, Trial, TrialOf, Verdict,
};
use crate::git::Conflicts;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;
use crate::store::journal::OtherGuard;

use super::beside::Broken;
use super::change::{Change, Part};
use super::end_levels::by_levels;
use super::isolation::{Localization, Taken};
use super::lost_step::OwnStep;
use super::patched::Patched;
use super::reversal::Reversal;
use super::step;
use super::trials::trial;

/// What the newer endpoint shows without some parts of a change.
pub(super) struct Reverted {
    pub(super) revert: Revert,
    /// A guard that the bad endpoint breaks with the change and without it.
    pub(super) broken_too: Option<Metric>,
    /// If another guard moves there just as the change moved it, the other way round: that guard,
    /// in words.
    traded: Option<String>,
}

impl From<Revert> for Reverted {
    fn from(revert: Revert) -> Self {
        Self { revert, broken_too: None, traded: None }
    }
}

impl Reverted {
    /// What the test says in the end, once the levels of the targets were read too: a bad end that
    /// is healed may have lost what the change gained on another guard.
    pub(super) fn with_trade(self) -> Self {
        let Self { revert, broken_too, traded } = self;
        let revert = match (revert, traded) {
            (Revert::Heals, Some(what)) => Revert::Traded(what),
            (revert, _) => revert,
        };
        Self { revert, broken_too, traded: None }
    }

    /// Whether the test tells if the end breaks a guard beside the failure without the parts.
    fn tells_of_guards(&self) -> bool {
        self.broken_too.is_some() || self.revert.takes_step_out()
    }
}

/// The test of an endpoint with a patch.
pub(super) enum EndTest {
    /// The patch does not apply; what git said.
    Conflict(String),
    /// The patch changes nothing.
    Same,
    /// A limit of the hunt is reached.
    Limit,
    /// The verdict, the recipe of the patched endpoint, and the test. The journal does not have the
    /// test yet.
    Judged { verdict: Verdict, recipe: Box<Config>, trial: Box<Trial> },
}

impl Localization<'_, '_> {
    /// What the newer endpoint shows without these parts. A fault of the machine ends this test, but
    /// not the hunt.
    pub(super) fn reverted(&mut self, taken: &Taken) -> Result<Option<Reverted>, HuntError> {
        match self.revert(taken) {
            Err(error) if self.driver.must_end(&error) => Err(error),
            Err(fault) => Ok(Some(Revert::Stopped(fault.to_string()).into())),
            reverted => reverted,
        }
    }

    /// The same, but only if the test tells whether a guard beside the failure is broken without
    /// these parts. Else `None`, and the patch and the record of an earlier test stay.
    pub(super) fn reverted_if_told(
        &mut self,
        taken: &Taken,
    ) -> Result<Option<Reverted>, HuntError> {
        match self.guards_without(taken) {
            Err(error) if self.driver.must_end(&error) => Err(error),
            Ok(Some(reverted)) if reverted.tells_of_guards() => {
                Ok(self.reverted(taken)?.filter(Reverted::tells_of_guards))
            }
            _ => Ok(None),
        }
    }

    /// Judges the bad endpoint without these parts. Stores neither the patch nor a record of the
    /// test. `None` if the parts cannot be removed from it, or if a limit of the hunt is reached.
    fn guards_without(&mut self, taken: &Taken) -> Result<Option<Reverted>, HuntError> {
        let targets = self.driver.judged_alone(&self.whole);
        let [_, end] = self.driver.begun.ends().map(CommitId::clone);
        let stay = Conflicts::Stay;
        let patched =
            self.driver.patched_without(&end, self.culprit, &self.change, &taken.rest, stay)?;
        let Patched::Done { recipe, .. } = patched else { return Ok(None) };
        let Some((judgement, _)) = self.driver.judge_end(&end, &recipe, &targets)? else {
            return Ok(None);
        };
        let is_whole = targets.len() == self.whole.len();
        let named = std::slice::from_ref(self.culprit);
        let verdict = judgement.verdict;
        self.driver.revert(verdict, &recipe, &self.others, is_whole, named).map(Some)
    }

    /// Judges the newer endpoint without these parts of the change. `None` if no target can be
    /// judged there.
    fn revert(&mut self, taken: &Taken) -> Result<Option<Reverted>, HuntError> {
        let targets = self.driver.judged_alone(&self.whole);
        if targets.is_empty() {
            return Ok(None);
        }
        let [_, end] = self.driver.begun.ends().map(CommitId::clone);
        let reversal = self.driver.reversal(&end, self.culprit, &self.change, &taken.rest)?;
        let trees = match reversal {
            Reversal::Trees(trees) => trees,
            Reversal::Conflict(why) => return Ok(Some(Revert::Conflict(why).into())),
        };
        let shown = self.shown(&taken.parts);
        // A patch of a pin that later commits moved on conflicts, whatever the end has of the move.
        if self.driver.lacks_moved_pins(self.culprit, &shown)? {
            return Ok(Some(Revert::Absent.into()));
        }
        let aim = self.driver.terms().aim();
        let of = match aim {
            Aim::Regression => TrialOf::Reverted,
            Aim::Fix => TrialOf::Unfixed,
        };
        match self.driver.test_end(&end, &[trees], of, shown.clone(), &targets)? {
            EndTest::Conflict(said) => {
                let inside = self.reverted_inside(taken, of, &shown, &targets);
                // After a fault of the machine, the conflict stays the answer.
                let inside = self.driver.unless_faulty(inside)?;
                Ok(Some(inside.unwrap_or_else(|| Revert::Conflict(said).into())))
            }
            EndTest::Same => Ok(Some(Revert::Absent.into())),
            EndTest::Limit => Ok(None),
            EndTest::Judged { verdict, recipe, trial } => {
                self.told_by(verdict, &recipe, *trial, &targets).map(Some)
            }
        }
    }

    /// What a test of the newer endpoint without parts shows. Writes the test to the journal.
    /// `recipe`: builds that endpoint without the parts.
    pub(super) fn told_by(
        &mut self,
        verdict: Verdict,
        recipe: &Config,
        trial: Trial,
        targets: &[Target],
    ) -> Result<Reverted, HuntError> {
        let is_whole = targets.len() == self.whole.len();
        let named = std::slice::from_ref(self.culprit);
        let mut reverted = self.driver.revert(verdict, recipe, &self.others, is_whole, named)?;
        let own_step = |target: &GuardTarget, [_, newer]: [f64; 2]| {
            OwnStep::of(self.culprit, target, newer, &self.trials)
        };
        reverted.revert = by_levels(reverted.revert, &trial, targets, named, own_step);
        self.write(trial)?;
        // In a hunt for a failure, the guards that are broken beside it are searched too.
        if !self.whole.iter().any(|target| matches!(target, Target::Failure { .. })) {
            reverted.broken_too = None;
        }
        Ok(reverted.with_trade())
    }

    pub(super) fn shown(&self, parts: &[Part]) -> Vec<ChangePart> {
        parts.iter().map(|part| self.change.shown(*part)).collect()
    }
}

impl Driver<'_> {
    /// The hunt's targets that a few runs of one commit decide.
    pub(super) fn judged_alone(&self, targets: &[Target]) -> Vec<Target> {
        let by = self.begun.options.search;
        targets.iter().filter(|target| step::is_judged_alone(target, by)).cloned().collect()
    }

    /// The tree of a first bad commit with only `rest` of its change, and the whole commit's.
    pub(super) fn step_trees(
        &self,
        culprit: &Culprit,
        change: &Change<'_>,
        rest: &[Part],
    ) -> Result<[String; 2], HuntError> {
        let recipes = &self.oracle.recipes;
        let without = recipes.tree_with(&culprit.parent, change.entries(rest)?)?;
        let whole = recipes.tree_with(&culprit.info.commit, Vec::new())?;
        Ok([without, whole])
    }

    /// Judges an endpoint with the differences of these pairs of trees, and keeps the patch.
    /// `parts`: those that differ.
    pub(super) fn test_end(
        &mut self,
        end: &CommitId,
        differences: &[[String; 2]],
        of: TrialOf,
        parts: Vec<ChangePart>,
        targets: &[Target],
    ) -> Result<EndTest, HuntError> {
        let patched = self.patched(end, differences)?;
        self.test_patched(end, patched, of, parts, targets)
    }

    /// The same as [`Self::test_end`]. `patched`: the endpoint with its patch.
    pub(super) fn test_patched(
        &mut self,
        end: &CommitId,
        patched: Patched,
        of: TrialOf,
        parts: Vec<ChangePart>,
        targets: &[Target],
    ) -> Result<EndTest, HuntError> {
        let (recipe, patch) = match patched {
            Patched::Conflict(said) => return Ok(EndTest::Conflict(said)),
            Patched::Same => return Ok(EndTest::Same),
            Patched::Done { recipe, patch } => (recipe, patch),
        };
        match of {
            TrialOf::Reverted => self.hunt.keep_revert(&patch)?,
            TrialOf::Backported => self.hunt.keep_backport(&patch)?,
            TrialOf::AllReverted => self.hunt.keep_joint_revert(&patch)?,
            TrialOf::AllBackported => self.hunt.keep_joint_backport(&patch)?,
            TrialOf::Unfixed | TrialOf::AllUnfixed | TrialOf::Only | TrialOf::Without => {}
        }
        let Some((judgement, seen)) = self.judge_end(end, &recipe, targets)? else {
            return Ok(EndTest::Limit);
        };
        let verdict = judgement.verdict;
        let mut trial = trial(of, parts, shows(verdict), judgement, &seen, targets);
        if seen.build_failure.is_some() {
            trial.attempts = self.failed_build(end, &recipe)?;
        }
        Ok(EndTest::Judged { verdict, recipe, trial: Box::new(trial) })
    }

    /// What a test of the newer endpoint without parts says. `recipe` builds it. `is_whole`: all
    /// targets of the hunt were judged. `named`: the commits with these parts.
    pub(super) fn revert(
        &mut self,
        verdict: Verdict,
        recipe: &Config,
        others: &[OtherGuard],
        is_whole: bool,
        named: &[Culprit],
    ) -> Result<Reverted, HuntError> {
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let revert = match (verdict, self.terms().aim()) {
            (Verdict::Good, Aim::Regression) => match self.broken_beside(&end, recipe, others)? {
                Some(Broken { what, also_at_end: broken_too, moved }) => {
                    let is_one_change = is_whole && broken_too.is_none();
                    let moved = moved.filter(|_| is_one_change).unwrap_or_default();
                    return Ok(if self.is_traded(&moved, named)? {
                        Reverted { revert: Revert::Heals, broken_too, traded: Some(what) }
                    } else {
                        Reverted { broken_too, ..Reverted::from(Revert::BreaksOther(what)) }
                    });
                }
                None if is_whole => Revert::Heals,
                None => Revert::HealsPart,
            },
            (Verdict::Bad, Aim::Regression) => Revert::StillBad,
            (Verdict::Good, Aim::Fix) => Revert::StillGood,
            (Verdict::Bad, Aim::Fix) => Revert::BreaksAgain,
            (Verdict::Skip | Verdict::Unknown, _) => Revert::Unknown,
        };
        Ok(revert.into())
    }

    /// Judges an endpoint with a patch; `None` if a limit of the hunt is reached. Unknown if HEAD
    /// alone may make the difference.
    pub(super) fn judge_end(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        targets: &[Target],
    ) -> Result<Option<(Judgement, Observation)>, HuntError> {
        let Some(judged) = self.judge_modified(end, recipe, targets)? else { return Ok(None) };
        self.unless_head_matters(end, targets, judged).map(Some)
    }

    /// The same as [`Self::judge_end`], but does not ask whether HEAD alone may make the
    /// difference.
    pub(super) fn judge_modified(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        targets: &[Target],
    ) -> Result<Option<(Judgement, Observation)>, HuntError> {
        let judged = self.oracle.judge_as(end, recipe, targets, Phase::Localize, None);
        let judged = judged.map_err(HuntError::from);
        match judged.and_then(|judged| self.unless_unsteady(end, recipe, targets, judged)) {
            Err(HuntError::Limit(limit)) => {
                self.limit = Some(limit);
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

/// Whether an endpoint with this verdict shows the difference that the hunt looks for.
fn shows(verdict: Verdict) -> Shows {
    match verdict {
        Verdict::Good => Shows::Nothing,
        Verdict::Bad => Shows::Difference,
        Verdict::Skip | Verdict::Unknown => Shows::Unresolved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_end_without_the_failure_tells_of_the_guards_beside_it() {
        let tells = |revert: Revert, broken_too: Option<&str>| {
            let broken_too = broken_too.map(Metric::of);
            Reverted { broken_too, ..Reverted::from(revert) }.tells_of_guards()
        };
        let other = || Revert::BreaksOther("ppl crashes".to_owned());
        assert!(tells(Revert::Heals, None) && tells(Revert::HealsPart, None));
        assert!(tells(Revert::StepGone, None));
        assert!(tells(other(), Some("ppl")));
        // Another measure fails without the whole change, so nothing is known of the guard.
        assert!(!tells(other(), None));
        assert!(tells(Revert::Traded("tps goes from 40 to 28".to_owned()), None));
        for open in [Revert::StillBad, Revert::Unknown, Revert::Absent] {
            assert!(!tells(open.clone(), None), "{open:?}");
        }
    }

    #[test]
    fn a_trade_is_said_of_a_healed_end_alone() {
        let told = |revert: Revert| {
            let traded = Some("tps goes from 40 to 28".to_owned());
            Reverted { traded, ..Reverted::from(revert) }.with_trade().revert
        };
        assert_eq!(told(Revert::Heals), Revert::Traded("tps goes from 40 to 28".to_owned()));
        assert_eq!(told(Revert::Unlike), Revert::Unlike);
        assert_eq!(told(Revert::StepGone), Revert::StepGone);
        assert_eq!(Reverted::from(Revert::Heals).with_trade().revert, Revert::Heals);
    }
}
