//! Whether the newer end shows its level because of what is left there of a found commit's change.
//! Asked if some files of the change are as before there, and the rest may be innocent.

use crate::evaluation::{CommitId, Culprit, Target};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::change::{Change, Part};
use super::revert::Patched;
use super::step::SHARE;

impl Driver<'_> {
    /// Whether the newer end without what is left of the change loses a good part of the commit's
    /// step, or of the whole change from good to bad if that is less. False if no test tells.
    pub(crate) fn rest_makes_the_step(&mut self, culprit: &Culprit) -> Result<bool, HuntError> {
        let Some((effect, own_step)) =
            culprit.effects.first().and_then(|effect| Some((effect, effect.own_step?)))
        else {
            return Ok(false);
        };
        if self.common_recipe(culprit)?.is_none() {
            return Ok(false);
        }
        let (targets, _) = self.sought()?;
        let target = self.judged_alone(&targets).into_iter().find_map(|target| match target {
            Target::Guard(target) if target.guard.metric == effect.metric => Some(target),
            _ => None,
        });
        let Some(target) = target else { return Ok(false) };
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let text = history.change(&culprit.parent, &culprit.info.commit)?;
        let is_gone = |part: &Part| {
            let own = text.clone().in_files(&[&change.path(*part)]);
            history.contains_change(&newer, &own) != Some(true)
        };
        let gone: Vec<Part> = change.whole().into_iter().filter(is_gone).collect();
        let [without, whole] = self.step_trees(culprit, &change, &gone)?;
        let Patched::Done { recipe, .. } = self.patched(&newer, &[[whole, without]])? else {
            return Ok(false);
        };
        let targets = [Target::Guard(target.clone())];
        let Some((_, seen)) = self.judge_end(&newer, &recipe, &targets)? else {
            return Ok(false);
        };
        let terms = self.terms();
        let level = seen.level(&effect.metric).and_then(|level| level.number());
        let lost = level
            .zip(terms.newer_level(&target).number())
            .map(|(without, whole)| terms.step(&target.guard, without, whole));
        let ends = target.baseline.number().zip(target.bad.number());
        let whole = ends.map_or(own_step, |(good, bad)| target.guard.worsening(good, bad));
        Ok(lost.is_some_and(|lost| lost >= SHARE * own_step.min(whole)))
    }
}
