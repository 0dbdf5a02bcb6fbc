//! Tests the newer end without the parts of a found commit's change that are left there. Needed if
//! some of the changed files are there as they were before the change, or if several commits may be
//! the cause.

use crate::evaluation::{CommitId, Culprit, Effect, GuardTarget, Target, Verdict};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;

use super::change::{Change, Part};
use super::revert::Patched;
use super::step::SHARE;

/// A level counts as the same if it differs by less than this share of the tolerance.
const SAME: f64 = 0.1;

/// What the newer end shows without what is left there of a found commit's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndWithoutChange {
    /// At least half of the commit's step is gone, or of the whole change from good to bad if that
    /// is smaller.
    LosesTheStep,
    /// The newer end is the same without it. Parts that later commits rewrote are not removed.
    ShowsTheSame,
    /// Neither of these, or no test can decide.
    Unknown,
}

/// How to remove what is left of a change.
struct Removal {
    /// The commit's tree, and the same tree without the parts that are left.
    trees: [String; 2],
    /// Parts that later commits rewrote: the part is gone, but its file is not as before the
    /// change. They are not removed.
    reworked: Vec<Part>,
}

impl Driver<'_> {
    /// Whether the newer end loses at least half of the commit's step without what is left of the
    /// change. False if no test tells.
    pub(crate) fn rest_makes_the_step(&mut self, culprit: &Culprit) -> Result<bool, HuntError> {
        Ok(self.newer_end_without(culprit)? == EndWithoutChange::LosesTheStep)
    }

    /// Builds and judges the newer end without what is left there of the change.
    pub(crate) fn newer_end_without(
        &mut self,
        culprit: &Culprit,
    ) -> Result<EndWithoutChange, HuntError> {
        let Some(target) = self.target_of(culprit)? else { return Ok(EndWithoutChange::Unknown) };
        let Some(Removal { trees, .. }) = self.removal(culprit)? else {
            return Ok(EndWithoutChange::Unknown);
        };
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        Ok(match self.patched(&newer, &[trees])? {
            Patched::Done { recipe, .. } => {
                let judged = self.judge_end(&newer, &recipe, std::slice::from_ref(&target))?;
                let Some((judgement, seen)) = judged else { return Ok(EndWithoutChange::Unknown) };
                self.shown(culprit, &target, judgement.verdict, &seen)
            }
            Patched::Same => EndWithoutChange::ShowsTheSame,
            Patched::Conflict(_) => EndWithoutChange::Unknown,
        })
    }

    /// Whether the newer end is good without what is left of the changes of these commits, the last
    /// one removed first. False if no test tells, or if a level is beyond the good end's.
    pub(crate) fn newer_end_is_good_without(
        &mut self,
        culprits: &[Culprit],
    ) -> Result<bool, HuntError> {
        let mut differences = Vec::new();
        for culprit in culprits.iter().rev() {
            let Some(Removal { trees, .. }) = self.removal(culprit)? else { return Ok(false) };
            differences.push(trees);
        }
        let (whole, _) = self.sought()?;
        let targets = self.judged_alone(&whole);
        if targets.is_empty() || targets.len() < whole.len() {
            return Ok(false);
        }
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let Patched::Done { recipe, .. } = self.patched(&newer, &differences)? else {
            return Ok(false);
        };
        let Some((judgement, seen)) = self.judge_end(&newer, &recipe, &targets)? else {
            return Ok(false);
        };
        let is_countered = targets.iter().any(|target| match target {
            Target::Guard(target) => {
                let level = seen.level(&target.guard.metric).and_then(|level| level.number());
                level.is_some_and(|level| is_beyond_good(target, level))
            }
            Target::Failure { .. } => false,
        });
        Ok(judgement.verdict == Verdict::Good && !is_countered)
    }

    /// The target that the commit's first effect is on, or the failure that it makes; `None` if a
    /// few runs of one commit do not decide it.
    fn target_of(&self, culprit: &Culprit) -> Result<Option<Target>, HuntError> {
        let (targets, _) = self.sought()?;
        let has_its_metric = |effect: &Effect, target: &Target| match target {
            Target::Guard(target) => target.guard.metric == effect.metric,
            Target::Failure { .. } => false,
        };
        let is_own = |target: &Target| match culprit.effects.first() {
            Some(effect) => effect.own_step.is_some() && has_its_metric(effect, target),
            None => matches!(target, Target::Failure { .. }),
        };
        Ok(self.judged_alone(&targets).into_iter().find(is_own))
    }

    /// What is left of the change at the newer end, and how to remove it. `None` if the commit and
    /// its parent are not built by the same recipe.
    fn removal(&mut self, culprit: &Culprit) -> Result<Option<Removal>, HuntError> {
        if self.common_recipe(culprit)?.is_none() {
            return Ok(None);
        }
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let text = history.whole_change(&culprit.parent, &culprit.info.commit)?;
        let own = |part: &Part| text.in_file(&change.path(*part));
        let is_gone = |part: &Part| history.contains_change(&newer, &own(part)) != Some(true);
        let gone: Vec<Part> = change.whole().into_iter().filter(is_gone).collect();
        let is_reworked = |part: &&Part| !history.is_restored(&newer, &own(part));
        let reworked = gone.iter().filter(is_reworked).copied().collect();
        let [without, whole] = self.step_trees(culprit, &change, &gone)?;
        Ok(Some(Removal { trees: [whole, without], reworked }))
    }

    /// What an observation of the newer end without the change says.
    fn shown(
        &self,
        culprit: &Culprit,
        target: &Target,
        verdict: Verdict,
        seen: &Observation,
    ) -> EndWithoutChange {
        let Target::Guard(target) = target else {
            return match verdict {
                Verdict::Good => EndWithoutChange::LosesTheStep,
                Verdict::Bad => EndWithoutChange::ShowsTheSame,
                Verdict::Skip | Verdict::Unknown => EndWithoutChange::Unknown,
            };
        };
        let terms = self.terms();
        let level = seen.level(&target.guard.metric).and_then(|level| level.number());
        let levels = level.zip(terms.newer_level(target).number());
        let Some((without, with)) = levels else { return EndWithoutChange::Unknown };
        let lost = terms.step(&target.guard, without, with);
        let own_step = culprit.effect_on(&target.guard.metric).and_then(|effect| effect.own_step);
        let ends = target.baseline.number().zip(target.bad.number());
        let whole = ends.map(|(good, bad)| target.guard.worsening(good, bad));
        let step = own_step.into_iter().chain(whole).fold(f64::INFINITY, f64::min);
        if is_beyond_good(target, without) {
            // Another commit counters the step, so removing the change tells nothing.
            EndWithoutChange::Unknown
        } else if lost >= SHARE * step {
            EndWithoutChange::LosesTheStep
        } else if lost.abs() <= SAME * target.limit.max(0.0) {
            EndWithoutChange::ShowsTheSame
        } else {
            EndWithoutChange::Unknown
        }
    }

    /// Whether the parts of the change that later commits rewrote change nothing alone. Tests them
    /// at the commit's parent. False if no test tells.
    pub(crate) fn is_rework_harmless(&mut self, culprit: &Culprit) -> Result<bool, HuntError> {
        let Some(target) = self.target_of(culprit)? else { return Ok(false) };
        let Some(Removal { reworked: parts, .. }) = self.removal(culprit)? else {
            return Ok(false);
        };
        if parts.is_empty() {
            return Ok(true);
        }
        let parent = &culprit.parent;
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, parent, culprit)?;
        let recipes = &self.oracle.recipes;
        let plain = recipes.tree_with(parent, Vec::new())?;
        let with_parts = recipes.tree_with(parent, change.entries(&parts)?)?;
        let recipe = match self.patched(parent, &[[plain, with_parts]])? {
            Patched::Done { recipe, .. } => recipe,
            Patched::Same => return Ok(true),
            Patched::Conflict(_) => return Ok(false),
        };
        let judged = self.judge_end(parent, &recipe, std::slice::from_ref(&target))?;
        let Some((judgement, seen)) = judged else { return Ok(false) };
        let Target::Guard(target) = &target else { return Ok(judgement.verdict == Verdict::Good) };
        let metric = &target.guard.metric;
        let before = culprit.effect_on(metric).and_then(|effect| effect.parent.number());
        let levels = seen.level(metric).and_then(|level| level.number()).zip(before);
        Ok(levels.is_some_and(|(with, without)| {
            target.guard.worsening(without, with).abs() <= SAME * target.limit.max(0.0)
        }))
    }
}

/// Whether a level is better than the good end's by more than the tolerance.
fn is_beyond_good(target: &GuardTarget, level: f64) -> bool {
    let good = target.baseline.number();
    good.is_some_and(|good| target.guard.worsening(good, level) < -target.limit.max(0.0))
}
