//! Tests the endpoints with and without the parts that make the step. Stores the patches beside the
//! report.
//!
//! For a regression, the bad endpoint without the parts should be good. For a fix, the good endpoint
//! without the parts should be bad, and the bad endpoint with them good.

use std::sync::Arc;

use crate::config::Config;
use crate::evaluation::{
    Aim, Backport, CommitId, Culprit, Judgement, Phase, Revert, Shows, Target, TrialOf, Verdict,
};
use crate::git::{Layer, OverlayResult};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;

use super::change::{Change, Part};
use super::isolation::Localization;
use super::step;
use super::trials::trial;

/// An endpoint with a patch.
pub(super) enum Patched {
    /// The patch does not apply; what git said.
    Conflict(String),
    /// The patch changes nothing.
    Same,
    /// The recipe that builds it, and the patch for a plain checkout of the endpoint.
    Done { recipe: Box<Config>, patch: Vec<u8> },
}

/// The test of an endpoint with a patch.
enum Tested {
    /// The patch does not apply; what git said.
    Conflict(String),
    /// The patch changes nothing.
    Same,
    /// A limit of the hunt is reached.
    Limit,
    /// The verdict, and the recipe that builds it.
    Judged { verdict: Verdict, recipe: Box<Config> },
}

impl Localization<'_, '_> {
    /// Judges the newer endpoint without these parts of the change. `rest`: the other parts. `None`
    /// if no target can be judged there.
    pub(super) fn revert(
        &mut self,
        parts: &[Part],
        rest: &[Part],
    ) -> Result<Option<Revert>, HuntError> {
        let targets = self.driver.judged_alone(&self.whole);
        if targets.is_empty() {
            return Ok(None);
        }
        let [_, end] = self.driver.begun.ends().map(CommitId::clone);
        let [without, whole] = self.driver.step_trees(self.culprit, &self.change, rest)?;
        let aim = self.driver.terms().aim();
        let of = match aim {
            Aim::Regression => TrialOf::Reverted,
            Aim::Fix => TrialOf::Unfixed,
        };
        let (verdict, recipe) = match self.test_end(&end, [whole, without], of, parts, &targets)? {
            Tested::Conflict(said) => return Ok(Some(Revert::Conflict(said))),
            Tested::Same => return Ok(Some(Revert::Absent)),
            Tested::Limit => return Ok(None),
            Tested::Judged { verdict, recipe } => (verdict, recipe),
        };
        Ok(Some(match (verdict, aim) {
            (Verdict::Good, Aim::Regression) => {
                match self.driver.broken_beside(&end, &recipe, &self.others)? {
                    Some(what) => Revert::BreaksOther(what),
                    None if targets.len() < self.whole.len() => Revert::HealsPart,
                    None => Revert::Heals,
                }
            }
            (Verdict::Bad, Aim::Regression) => Revert::StillBad,
            (Verdict::Good, Aim::Fix) => Revert::StillGood,
            (Verdict::Bad, Aim::Fix) => Revert::BreaksAgain,
            (Verdict::Skip | Verdict::Unknown, _) => Revert::Unknown,
        }))
    }

    /// In a hunt for a fix: judges the bad endpoint with these parts of the change. `None` in a hunt
    /// for a regression, or if no target can be judged there.
    pub(super) fn backport(
        &mut self,
        parts: &[Part],
        rest: &[Part],
    ) -> Result<Option<Backport>, HuntError> {
        let targets = self.driver.judged_alone(&self.whole);
        if self.driver.terms().aim().is_regression() || targets.is_empty() {
            return Ok(None);
        }
        let [end, _] = self.driver.begun.ends().map(CommitId::clone);
        let [without, whole] = self.driver.step_trees(self.culprit, &self.change, rest)?;
        let of = TrialOf::Backported;
        Ok(match self.test_end(&end, [without, whole], of, parts, &targets)? {
            Tested::Conflict(said) => Some(Backport::Conflict(said)),
            Tested::Same => Some(Backport::Present),
            Tested::Limit => None,
            Tested::Judged { verdict, .. } => Some(match verdict {
                Verdict::Good => Backport::Heals,
                Verdict::Bad => Backport::StillBad,
                Verdict::Skip | Verdict::Unknown => Backport::Unknown,
            }),
        })
    }

    /// Judges an endpoint with the difference of two trees, keeps the patch, and writes the test to
    /// the journal.
    fn test_end(
        &mut self,
        end: &CommitId,
        difference: [String; 2],
        of: TrialOf,
        parts: &[Part],
        targets: &[Target],
    ) -> Result<Tested, HuntError> {
        let (recipe, patch) = match self.driver.patched(end, &[difference])? {
            Patched::Conflict(said) => return Ok(Tested::Conflict(said)),
            Patched::Same => return Ok(Tested::Same),
            Patched::Done { recipe, patch } => (recipe, patch),
        };
        match of {
            TrialOf::Reverted => self.driver.hunt.keep_revert(&patch)?,
            TrialOf::Backported => self.driver.hunt.keep_backport(&patch)?,
            _ => {}
        }
        let Some((judgement, seen)) = self.driver.judge_end(end, &recipe, targets)? else {
            return Ok(Tested::Limit);
        };
        let verdict = judgement.verdict;
        self.write_end((end, &recipe), of, parts, judgement, &seen, targets)?;
        Ok(Tested::Judged { verdict, recipe })
    }

    /// Writes the test of an endpoint to the journal. `built`: the endpoint and its recipe.
    fn write_end(
        &mut self,
        built: (&CommitId, &Config),
        of: TrialOf,
        parts: &[Part],
        judgement: Judgement,
        seen: &Observation,
        targets: &[Target],
    ) -> Result<(), HuntError> {
        let shows = shows(judgement.verdict);
        let parts = parts.iter().map(|part| self.change.shown(*part)).collect();
        let mut trial = trial(of, parts, shows, judgement.reason, seen, targets);
        if seen.build_failure.is_some() {
            trial.attempts = self.driver.failed_build(built.0, built.1)?;
        }
        self.write(trial)
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

    /// Applies the difference of each pair of trees to an endpoint, in this order.
    pub(super) fn patched(
        &mut self,
        end: &CommitId,
        differences: &[[String; 2]],
    ) -> Result<Patched, HuntError> {
        let recipes = &mut self.oracle.recipes;
        let own = recipes.at(end)?.inlined();
        let before = recipes.tree_of(end, &own)?;
        let (mut recipe, mut layers) = (own, Vec::new());
        // git refuses a patch without a difference.
        for [from, to] in differences.iter().filter(|[from, to]| from != to) {
            let patch = recipes.overlay_builder.difference(from, to)?;
            let digest = recipes.store.keep_patch(&patch)?;
            layers.push(Layer::Patch {
                name: digest.clone(),
                digest: digest.clone(),
                file: recipes.store.patch(&digest),
            });
            recipe = recipes.with_patch(&recipe, &digest.clone(), digest);
        }
        let after = match recipes.laid(end, &recipe)? {
            Some(OverlayResult::Refused(refusal)) => return Ok(Patched::Conflict(refusal.said)),
            Some(OverlayResult::Tree(tree)) => tree.id().to_owned(),
            None => before.clone(),
        };
        if after == before {
            return Ok(Patched::Same);
        }
        // For the user's checkout of the endpoint: leave out the configuration's patches.
        let layers = [recipes.engine.as_files(end, &Arc::default()), layers].concat();
        let engine = recipes.engine.commit(end);
        let patch = match recipes.overlay_builder.apply_layers(engine, &layers)? {
            OverlayResult::Tree(tree) => {
                let plain = recipes.tree_with(end, Vec::new())?;
                recipes.overlay_builder.difference(&plain, tree.id())?
            }
            OverlayResult::Refused(_) => recipes.overlay_builder.difference(&before, &after)?,
        };
        Ok(Patched::Done { recipe: Box::new(recipe), patch })
    }

    /// Judges an endpoint with a patch; `None` if a limit of the hunt is reached.
    pub(super) fn judge_end(
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
pub(super) fn shows(verdict: Verdict) -> Shows {
    match verdict {
        Verdict::Good => Shows::Nothing,
        Verdict::Bad => Shows::Difference,
        Verdict::Skip | Verdict::Unknown => Shows::Unresolved,
    }
}
