//! Tests whether the bad endpoint is good without the parts that make the step. Stores the patch
//! that removes them beside the report.

use crate::evaluation::{Aim, Phase, Revert, Shows, Target, TrialOf, Verdict};
use crate::git::{Layer, OverlayResult};
use crate::hunt::HuntError;

use super::change::Part;
use super::trials::trial;
use super::{Localization, newer_end, step};

impl Localization<'_, '_> {
    /// Judges the bad endpoint without these parts of the change. `rest`: the other parts. `None`
    /// in a hunt for a fix, if the budget of tests is spent, or if no target can be judged there.
    pub(super) fn revert(
        &mut self,
        parts: &[Part],
        rest: &[Part],
        is_over: bool,
    ) -> Result<Option<Revert>, HuntError> {
        let options = &self.driver.begun.options;
        let judged = |target: &&Target| step::is_judged_alone(target, options.search);
        let targets: Vec<Target> = self.whole.iter().filter(judged).cloned().collect();
        let is_unknown = targets.len() < self.whole.len();
        if options.aim == Aim::Fix || is_over || targets.is_empty() {
            return Ok(None);
        }
        let end = newer_end(self.driver);
        let patch = self.patch(rest)?;
        let recipes = &mut self.driver.oracle.recipes;
        let digest = recipes.store.keep_patch(&patch)?;
        let layer = Layer::Patch {
            name: digest.clone(),
            digest: digest.clone(),
            file: recipes.store.patch(&digest),
        };
        let own = recipes.at(&end)?;
        let before = recipes.tree_of(&end, &own)?;
        let reverted = recipes.with_patch(&own, &digest.clone(), digest);
        let after = match recipes.laid(&end, &reverted)? {
            Some(OverlayResult::Refused(refusal)) => {
                return Ok(Some(Revert::Conflict(refusal.said)));
            }
            Some(OverlayResult::Tree(tree)) => tree.id().to_owned(),
            None => before.clone(),
        };
        if after == before {
            return Ok(Some(Revert::Absent));
        }
        // For the user's checkout of the bad end: leave out the configuration's patches.
        let patch = match recipes.overlay_builder.apply_layers(&end, &[layer])? {
            OverlayResult::Tree(tree) => {
                let plain = recipes.engine.history.tree_id(&end)?;
                recipes.overlay_builder.difference(&plain, tree.id())?
            }
            OverlayResult::Refused(_) => recipes.overlay_builder.difference(&before, &after)?,
        };
        self.driver.hunt.keep_revert(&patch)?;
        let judged = self.driver.oracle.judge_as(&end, &reverted, &targets, Phase::Localize, None);
        let (judgement, seen) = match judged.map_err(HuntError::from) {
            Err(HuntError::Limit(limit)) => {
                self.driver.limit = Some(limit);
                return Ok(None);
            }
            other => other?,
        };
        let (shows, revert) = match judgement.verdict {
            Verdict::Good => {
                let revert = match self.broken_beside(&end, &reverted)? {
                    Some(what) => Revert::BreaksOther(what),
                    None if is_unknown => Revert::HealsPart,
                    None => Revert::Heals,
                };
                (Shows::Nothing, revert)
            }
            Verdict::Bad => (Shows::Difference, Revert::StillBad),
            Verdict::Skip | Verdict::Unknown => (Shows::Unresolved, Revert::Unknown),
        };
        let parts = parts.iter().map(|part| self.change.shown(*part)).collect();
        let mut trial = trial(TrialOf::Reverted, parts, shows, judgement.reason, &seen, &targets);
        if seen.build_failure.is_some() {
            trial.attempts = self.failed_build(&end, &reverted)?;
        }
        self.write(trial)?;
        Ok(Some(revert))
    }

    /// The patch from the commit to a tree with only `rest` of its change.
    fn patch(&self, rest: &[Part]) -> Result<Vec<u8>, HuntError> {
        let recipes = &self.driver.oracle.recipes;
        let (commit, parent) = (&self.culprit.info.commit, &self.culprit.parent);
        let without = recipes
            .overlay_builder
            .apply_layers(parent, &[Layer::Entries(self.change.entries(rest)?.into())])?;
        let whole = recipes.engine.history.tree_id(commit)?;
        Ok(recipes.overlay_builder.difference(&whole, &without.id())?)
    }
}
