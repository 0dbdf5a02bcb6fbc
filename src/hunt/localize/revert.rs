//! Whether the bad endpoint is good again without the parts that make the step. The patch that
//! removes them is stored beside the report.

use crate::evaluation::{Aim, Phase, Revert, Shows, TrialOf, Verdict};
use crate::git::Laid;
use crate::hunt::HuntError;
use crate::store::REVERT_PATCH;

use super::change::Part;
use super::{Localization, newer_end, trial};

impl Localization<'_, '_> {
    /// Judges the bad endpoint without these parts of the change. `rest`: the other parts. `None` in a hunt for a fix, or if the budget is spent.
    pub(super) fn revert(
        &mut self,
        parts: &[Part],
        rest: &[Part],
    ) -> Result<Option<Revert>, HuntError> {
        if self.driver.begun.options.aim == Aim::Fix || self.is_spent {
            return Ok(None);
        }
        let end = newer_end(self.driver);
        let patch = self.patch(rest)?;
        let recipes = &mut self.driver.oracle.recipes;
        let digest = recipes.store.keep_patch(&patch)?;
        let own = recipes.at(&end)?;
        let reverted = recipes.with_patch(&own, REVERT_PATCH, digest);
        let laid = recipes.laid(&end, &reverted)?;
        let before = recipes.tree_of(&end, &own)?;
        let after = match laid {
            Some(Laid::Refused(refusal)) => return Ok(Some(Revert::Conflict(refusal.said))),
            Some(Laid::Tree(tree)) => tree.id().to_owned(),
            None => before.clone(),
        };
        if after == before {
            return Ok(Some(Revert::Absent));
        }
        let patch = recipes.laying.difference(&before, &after)?;
        self.driver.hunt.keep_revert(&patch)?;
        let judged =
            self.driver.oracle.judge_as(&end, &reverted, &self.whole, Phase::Localize, None);
        let (judgement, seen) = match judged.map_err(HuntError::from) {
            Err(HuntError::Budget(_)) => return Ok(None),
            other => other?,
        };
        let (shows, revert) = match judgement.verdict {
            Verdict::Good => (Shows::Nothing, Revert::Heals),
            Verdict::Bad => (Shows::Difference, Revert::StillBad),
            Verdict::Skip | Verdict::Unknown => (Shows::Unresolved, Revert::Unknown),
        };
        let parts = parts.iter().map(|part| self.change.shown(*part)).collect();
        let mut trial =
            trial(TrialOf::Reverted, parts, shows, judgement.reason, &seen, &self.whole);
        if seen.build_failure.is_some() {
            trial.attempts = self.failed_build(&end, &reverted)?;
        }
        self.write(trial)?;
        Ok(Some(revert))
    }

    /// The patch from the commit to the commit with only `rest` of its change.
    fn patch(&self, rest: &[Part]) -> Result<Vec<u8>, HuntError> {
        let recipes = &self.driver.oracle.recipes;
        let (commit, parent) = (&self.culprit.info.commit, &self.culprit.parent);
        let without = recipes
            .laying
            .lay(parent, &[crate::git::Layer::Entries(self.change.entries(rest)?.into())])?;
        let whole = recipes.engine.history.tree_id(commit)?;
        Ok(recipes.laying.difference(&whole, &without.id())?)
    }
}
