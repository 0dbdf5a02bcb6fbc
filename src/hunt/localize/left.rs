//! Tests the newer end without the parts of a found commit's change that are left there. Needed if
//! some of the changed files are there as they were before the change, or if several commits may be
//! the cause.

use crate::evaluation::{Cause, CommitId, Culprit, GuardTarget, Target, Value, Verdict};
use crate::git::{Conflicts, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, measures_of};

use super::change::{Change, Part};
use super::patched::Patched;
use super::reversal::Reversal;
use super::step::SHARE;
use super::third_value::is_third_value;

/// A level counts as the same if it differs by less than this share of the tolerance.
pub(super) const SAME: f64 = 0.1;

/// What the newer end shows without what is left there of a found commit's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndWithoutChange {
    /// At least half of the commit's step is gone, or of the whole change from good to bad if that
    /// is smaller.
    LosesTheStep,
    /// The newer end is the same without it. Parts that later commits rewrote are not removed,
    /// except in a test with the old lines.
    ShowsTheSame,
    /// Values repeat, and the newer end loses a part of the step and stays as it was judged. Only a
    /// test with the old lines, for the only named commit, says so.
    KeepsAPart,
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
        Ok(of_all(&self.each_effect_without(culprit)?) == EndWithoutChange::LosesTheStep)
    }

    /// Builds and judges the newer end without what is left there of the change. The two certain
    /// answers hold for each effect of the commit that can be judged. If runs of the commit fail,
    /// and the newer end has a level, they hold for each guard that this end breaks.
    pub(crate) fn newer_end_without(
        &mut self,
        culprit: &Culprit,
    ) -> Result<EndWithoutChange, HuntError> {
        let targets = self.targets_at_end(culprit)?;
        Ok(of_all(&self.each_without(culprit, &targets)?))
    }

    /// The same for each effect that can be judged, or for the failure if it is sought. Empty if
    /// there is none, or if nothing was tested.
    pub(crate) fn each_effect_without(
        &mut self,
        culprit: &Culprit,
    ) -> Result<Vec<EndWithoutChange>, HuntError> {
        let targets = self.targets_of(culprit)?;
        self.each_without(culprit, &targets)
    }

    /// What the newer end shows of each target without what is left there of the commit's change.
    fn each_without(
        &mut self,
        culprit: &Culprit,
        targets: &[Target],
    ) -> Result<Vec<EndWithoutChange>, HuntError> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let Some(Removal { trees, .. }) = self.removal(culprit)? else { return Ok(Vec::new()) };
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let recipe = match self.patched(&newer, &[trees])? {
            Patched::Done { recipe, .. } => recipe,
            Patched::Same => return Ok(vec![EndWithoutChange::ShowsTheSame; targets.len()]),
            Patched::Conflict(_) => return Ok(Vec::new()),
        };
        let judged = self.judge_end(&newer, &recipe, targets)?;
        let Some((judgement, seen)) = judged else { return Ok(Vec::new()) };
        let shown = |target| self.shown(culprit, target, judgement.verdict, &seen);
        let shown: Vec<EndWithoutChange> = targets.iter().map(shown).collect();
        if shown.iter().all(|one| *one == EndWithoutChange::LosesTheStep) {
            self.needed_at_end.insert(culprit.info.commit.clone());
        }
        Ok(shown)
    }

    /// Builds and judges the newer end with the lines of the commit's change as they were before
    /// it, whatever later commits made of them. For a change that does not come out of the newer
    /// end otherwise.
    ///
    /// `cause`: the cause of all effects of the commit, if it is known. `is_alone`: no other commit
    /// is named, so the newer end needs these lines only if it has the older end's verdict without
    /// them. If several commits are named, the answer for a commit that makes only some of its
    /// effects is [`EndWithoutChange::ShowsTheSame`].
    pub(crate) fn newer_end_with_old_lines(
        &mut self,
        culprit: &Culprit,
        cause: Option<&Cause>,
        is_alone: bool,
    ) -> Result<EndWithoutChange, HuntError> {
        let own = self.targets_of(culprit)?;
        if own.is_empty() || self.common_recipe(culprit)?.is_none() {
            return Ok(EndWithoutChange::Unknown);
        }
        let targets = if is_alone {
            let (whole, _) = self.sought()?;
            self.judged_alone(&whole)
        } else {
            own.clone()
        };
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let taken = cause.map_or_else(|| change.whole(), |cause| change.taken(cause));
        let rest = change.without(&change.whole(), &taken)?;
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let patched = self.patched_without(&newer, culprit, &change, &rest, Conflicts::Replaced)?;
        let Patched::Done { recipe, .. } = patched else { return Ok(EndWithoutChange::Unknown) };
        let Some((judgement, seen)) = self.judge_end(&newer, &recipe, &targets)? else {
            return Ok(EndWithoutChange::Unknown);
        };
        let (verdict, terms) = (judgement.verdict, self.terms());
        let shown = |target: &Target| self.shown(culprit, target, verdict, &seen);
        // The steps of several commits in one metric add up: the verdict depends on all of them.
        if !is_alone {
            let shown: Vec<EndWithoutChange> = own.iter().map(shown).collect();
            return Ok(of_several_effects(&shown));
        }
        let loses = |target: &Target| shown(target) == EndWithoutChange::LosesTheStep;
        // A failure has no level: its verdict says all.
        let mut guards = own.iter().filter(|target| target.guard().is_some());
        Ok(if terms.is_older(verdict) && guards.all(loses) {
            EndWithoutChange::LosesTheStep
        } else if !terms.is_newer(verdict) {
            EndWithoutChange::Unknown
        } else if own.iter().any(|target| self.loses_something(target, &seen)) {
            EndWithoutChange::KeepsAPart
        } else {
            EndWithoutChange::ShowsTheSame
        })
    }

    /// Takes what is left of the changes of these commits out of the newer end, the last one first,
    /// and judges the result: its runs if it is good. `None` if it is not good, if no test tells,
    /// or if a level is beyond the good end's.
    pub(crate) fn newer_end_good_without(
        &mut self,
        culprits: &[Culprit],
    ) -> Result<Option<Observation>, HuntError> {
        let mut differences = Vec::new();
        for (place, culprit) in culprits.iter().enumerate().rev() {
            // A commit may be listed once for each of its effects.
            if culprits[..place].iter().any(|one| one.info == culprit.info) {
                continue;
            }
            let Some(Removal { trees, .. }) = self.removal(culprit)? else { return Ok(None) };
            differences.push(trees);
        }
        let (whole, _) = self.sought()?;
        let targets = self.judged_alone(&whole);
        if targets.is_empty() || targets.len() < whole.len() {
            return Ok(None);
        }
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let Patched::Done { recipe, .. } = self.patched(&newer, &differences)? else {
            return Ok(None);
        };
        let Some((judgement, seen)) = self.judge_end(&newer, &recipe, &targets)? else {
            return Ok(None);
        };
        let is_countered = targets.iter().any(|target| match target {
            Target::Guard(target) => {
                let level = seen.level(&target.guard.metric).and_then(|level| level.number());
                level.is_some_and(|level| is_beyond_good(target, level))
            }
            Target::Failure { .. } => false,
        });
        Ok((judgement.verdict == Verdict::Good && !is_countered).then_some(seen))
    }

    /// The targets that the commit's effects are on, the largest first, or the failure that it
    /// makes; without those that a few runs of one commit do not decide.
    pub(super) fn targets_of(&self, culprit: &Culprit) -> Result<Vec<Target>, HuntError> {
        let (targets, _) = self.sought()?;
        let judged = self.judged_alone(&targets);
        if !culprit.effects.is_empty() {
            let effects = culprit.effects.iter();
            let own = effects.filter_map(|effect| Target::on(&judged, &effect.metric));
            return Ok(own.cloned().collect());
        }
        let mut failures = judged.into_iter().filter(|target| target.failure().is_some());
        Ok(failures.next().into_iter().collect())
    }

    /// The same, or all guards if runs of the commit fail and no failure is sought: the newer end
    /// has a level, and may need the commit's change for it.
    fn targets_at_end(&self, culprit: &Culprit) -> Result<Vec<Target>, HuntError> {
        let own = self.targets_of(culprit)?;
        if !own.is_empty() || !culprit.effects.is_empty() {
            return Ok(own);
        }
        let (whole, _) = self.sought()?;
        Ok(self.judged_alone(&whole))
    }

    /// What is left of the change at the newer end, and how to remove it. `None` if the commit and
    /// its parent are not built by the same recipe, or if it does not come out.
    fn removal(&mut self, culprit: &Culprit) -> Result<Option<Removal>, HuntError> {
        if self.common_recipe(culprit)?.is_none() {
            return Ok(None);
        }
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let commit = &culprit.info.commit;
        let text = history.whole_change_until(&culprit.parent, commit, &newer)?;
        let own = |part: &Part| text.in_file(&change.path(*part));
        let is_gone = |part: &Part| history.contains_change(&newer, &own(part)) != Some(true);
        let gone: Vec<Part> = change.whole().into_iter().filter(is_gone).collect();
        let is_reworked = |part: &&Part| !history.is_restored(&newer, &own(part));
        let reworked = gone.iter().filter(is_reworked).copied().collect();
        let Reversal::Trees(trees) = self.reversal(&newer, culprit, &change, &gone)? else {
            return Ok(None);
        };
        Ok(Some(Removal { trees, reworked }))
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
        if let Some(fact @ Value::Fact(_)) = &seen.level(&target.guard.metric) {
            let effect = culprit.effect_on(&target.guard.metric);
            let is_parents = effect.is_some_and(|effect| effect.parent == *fact);
            return if fact == self.terms().newer_level(target) {
                EndWithoutChange::ShowsTheSame
            } else if is_parents {
                EndWithoutChange::LosesTheStep
            } else {
                EndWithoutChange::Unknown
            };
        }
        let Some((without, lost)) = self.level_and_loss(target, seen) else {
            return EndWithoutChange::Unknown;
        };
        if is_third_value(target, &Value::Number(without), std::slice::from_ref(culprit)) {
            return EndWithoutChange::Unknown;
        }
        let step = step_or_whole(culprit, target);
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

    /// The level of the newer end without a change, and what it loses of the step with it.
    fn level_and_loss(&self, target: &GuardTarget, seen: &Observation) -> Option<(f64, f64)> {
        let terms = self.terms();
        let level = seen.level(&target.guard.metric).and_then(|level| level.number());
        let (without, with) = level.zip(terms.newer_level(target).number())?;
        Some((without, terms.step(&target.guard, without, with)))
    }

    /// Whether values repeat, and the newer end without a change lost a part of the step.
    fn loses_something(&self, target: &Target, seen: &Observation) -> bool {
        let Target::Guard(target) = target else { return false };
        let loss = self.level_and_loss(target, seen).filter(|_| target.noise.is_none());
        loss.is_some_and(|(_, lost)| lost > SAME * target.limit.max(0.0))
    }

    /// Whether the parts of the change that later commits rewrote change nothing alone. Tests them
    /// at the commit's parent. False if no test tells.
    pub(crate) fn is_rework_harmless(&mut self, culprit: &Culprit) -> Result<bool, HuntError> {
        let targets = self.targets_at_end(culprit)?;
        if targets.is_empty() {
            return Ok(false);
        }
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
        let judged = self.judge_end(parent, &recipe, &targets)?;
        let Some((judgement, seen)) = judged else { return Ok(false) };
        let known = self.known_runs(parent, &measures_of(&targets))?;
        Ok(targets.iter().all(|target| match target {
            Target::Guard(target) => is_as_at_parent(culprit, &known, target, &seen),
            Target::Failure { .. } => judgement.verdict == Verdict::Good,
        }))
    }
}

/// What the newer end shows of a commit, if it shows the same of each effect.
fn of_all(shown: &[EndWithoutChange]) -> EndWithoutChange {
    let Some(first) = shown.first() else { return EndWithoutChange::Unknown };
    if shown.iter().all(|one| one == first) { *first } else { EndWithoutChange::Unknown }
}

/// The commit's own step, or the whole change from good to bad if that is smaller, in the metric's
/// unit. Infinite if neither is a number.
pub(super) fn step_or_whole(culprit: &Culprit, target: &GuardTarget) -> f64 {
    let own = culprit.effect_on(&target.guard.metric).and_then(|effect| effect.own_step);
    let ends = target.baseline.number().zip(target.bad.number());
    let whole = ends.map(|(good, bad)| target.guard.worsening(good, bad));
    own.into_iter().chain(whole).fold(f64::INFINITY, f64::min)
}

/// What the newer end shows of all effects of one of several commits, from what it shows of each:
/// the commit must make each of its effects.
fn of_several_effects(shown: &[EndWithoutChange]) -> EndWithoutChange {
    if shown.contains(&EndWithoutChange::ShowsTheSame) {
        EndWithoutChange::ShowsTheSame
    } else if shown.iter().all(|one| *one == EndWithoutChange::LosesTheStep) {
        EndWithoutChange::LosesTheStep
    } else {
        EndWithoutChange::Unknown
    }
}

/// Whether a metric has the level of the commit's parent: the one of the commit's effect, or, if
/// the commit has no effect, that of all runs of the parent (`known`).
fn is_as_at_parent(
    culprit: &Culprit,
    known: &Observation,
    target: &GuardTarget,
    seen: &Observation,
) -> bool {
    let metric = &target.guard.metric;
    let before = culprit.effect_on(metric).map(|effect| effect.parent.clone());
    let before = before.or_else(|| known.level(metric));
    let Some((with, without)) = seen.level(metric).zip(before) else { return false };
    match (with.number(), without.number()) {
        (Some(with), Some(without)) => {
            target.guard.worsening(without, with).abs() <= SAME * target.limit.max(0.0)
        }
        _ => with == without,
    }
}

/// Whether a level is better than the good end's by more than the tolerance.
fn is_beyond_good(target: &GuardTarget, level: f64) -> bool {
    let good = target.baseline.number();
    good.is_some_and(|good| target.guard.worsening(good, level) < -target.limit.max(0.0))
}
