//! Decides whether a found first bad commit still affects the newer end, or a later commit undid
//! it. Pure.

use crate::evaluation::{CommitId, Culprit, Direction, Effect, Metric, Target, exceeds_limit};
use crate::hunt::range::SearchRange;
use crate::hunt::terms::SearchTerms;
use crate::hunt::why::CandidatesReason;
use crate::search::{ChangePresence, StepStatus, attribute_improvement};

use super::hidden_cause::WhyHidden;

/// If less than this share of a step is left after a mend, the step may have hidden another step:
/// nobody sees a rise of 0.3 behind a perplexity of 100,000.
const VISIBLE: f64 = 0.1;
/// The same share if the source does not show which part of the change is left. Not if the source
/// shows the whole change, and one commit made the improvement: levels show all other changes then.
const VISIBLE_WITHOUT_TEXT: f64 = 0.35;

/// A first bad commit, and what became of its change.
#[derive(Clone, Debug)]
pub(crate) struct FoundCommit {
    pub(crate) culprit: Culprit,
    pub(crate) status: CulpritStatus,
    /// Set if one of several commits made the step: these commits, and why.
    pub(crate) among: Option<(Vec<CommitId>, CandidatesReason)>,
    /// The commit that took most of the step back, or improved the metric by more than the step. It
    /// may have undone the whole step: neither levels nor the source exclude that.
    pub(super) perhaps_mended_by: Option<CommitId>,
}

/// What became of a first bad commit's change on the way to the newer end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CulpritStatus {
    /// All or most of the change is still there.
    Stands,
    /// The change was undone.
    Undone {
        /// The first known commit without the change.
        by: CommitId,
        /// Whether a later commit brought the same change back.
        again: bool,
    },
    /// The cause of what the newer end shows may be a later commit. Most often a mend undid most or
    /// all of the step, but the metric is still worse: the cause is the rest of the step, or a
    /// later commit whose step was hidden.
    Hides {
        /// This commit and the hidden ones.
        among: Vec<CommitId>,
        /// How much worse the metric still is than at the good end, in its unit; infinite if that
        /// is not known.
        left: f64,
        /// The commit of the mend, if levels repeat and the mend has the size of whole steps.
        undone_by: Option<CommitId>,
        /// The reason, if it is no mend.
        why: Option<WhyHidden>,
    },
    /// A later commit undid either this commit or another found commit.
    Unclear,
}

/// A commit at which the metric is better again, after a first bad commit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mend {
    /// The commit where the metric is better. An earlier commit may have made it better.
    pub(crate) by: CommitId,
    /// The last worse commit before it, if it is known.
    pub(crate) before: Option<CommitId>,
    /// The metric; `None` if a failure went away.
    pub(crate) metric: Option<Metric>,
    /// The improvement, in the metric's unit; infinite if there is no number.
    pub(crate) amount: f64,
    /// How much worse the metric still is than at the good end, in its unit.
    pub(crate) left: f64,
    /// The guard's tolerance, in the metric's unit.
    pub(crate) limit: f64,
    /// The metric's levels repeat, so that the amount is exact.
    pub(crate) repeats: bool,
}

/// What is known about one found commit with respect to a mend.
#[derive(Clone, Debug, Default)]
pub(crate) struct MendContext {
    /// The found commit is an ancestor of the mend.
    pub(crate) is_before: bool,
    /// Whether the source at the mend still has the change.
    pub(crate) carried: ChangePresence,
    /// Other lines replaced the change there, and no file is as it was before the change.
    pub(crate) is_reworked: bool,
    /// The mend's commit restores a file of the change.
    pub(crate) is_put_back: bool,
    pub(crate) made_by: MadeBy,
    pub(crate) edits: EditedLines,
    /// How much worse the found commit's parent is than the good end, in the metric's unit.
    pub(crate) before: f64,
    /// The commits after the found commit up to the mend.
    pub(crate) hidden: Vec<CommitId>,
    /// In noise, the found commit's step, if it was compared with the mend by all runs.
    pub(crate) by_all_runs: Option<SizedStep>,
}

/// Who made the improvement of a mend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MadeBy {
    /// Levels repeat, and the mend's commit made all of it itself.
    OneCommit,
    /// Perhaps several commits.
    #[default]
    Unknown,
}

/// Whose lines a mend edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EditedLines {
    /// Those of another found commit, and none of this one: the mend is no part of what undid it.
    AnothersOnly,
    /// Perhaps those of this found commit, or of none.
    #[default]
    Any,
}

/// A found commit's step by all runs, in noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizedStep {
    /// In the metric's unit.
    pub(crate) size: f64,
    /// The runs do not tell whether the mend undid the step.
    pub(crate) is_open: bool,
}

impl FoundCommit {
    /// A found commit with the status `Stands`.
    pub(crate) fn new(culprit: Culprit) -> Self {
        Self { culprit, status: CulpritStatus::Stands, among: None, perhaps_mended_by: None }
    }

    pub(crate) fn stands(&self) -> bool {
        self.status == CulpritStatus::Stands
    }

    /// Whether this entry is about the commit of `culprit` and the same metrics. The ledger may
    /// have several entries of one commit, each with other metrics.
    pub(super) fn has_effects_of(&self, culprit: &Culprit) -> bool {
        let metrics = |one: &Culprit| -> Vec<Metric> {
            one.effects.iter().map(|effect| effect.metric.clone()).collect()
        };
        self.culprit.info.commit == culprit.info.commit
            && metrics(&self.culprit) == metrics(culprit)
    }

    /// Adds the effects on metrics that another search found at the same commit.
    pub(crate) fn add_effects(&mut self, other: &Culprit) {
        let own = &mut self.culprit.effects;
        let is_new = |effect: &&Effect| own.iter().all(|known| known.metric != effect.metric);
        let new: Vec<Effect> = other.effects.iter().filter(is_new).cloned().collect();
        own.extend(new);
    }

    /// Whether the report names the commit: it stands or its change came back after a revert.
    pub(crate) fn is_named(&self) -> bool {
        let is_there = matches!(
            self.status,
            CulpritStatus::Stands | CulpritStatus::Undone { again: true, .. }
        );
        is_there && self.among.is_none()
    }

    /// How much worse the commit made a metric; infinite if there is no number, `None` if the
    /// commit did not change the metric.
    pub(super) fn step(&self, metric: Option<&Metric>) -> Option<f64> {
        let Some(metric) = metric else {
            return self.culprit.failure.is_some().then_some(f64::INFINITY);
        };
        let mut effects = self.culprit.effects.iter();
        match effects.find(|effect| effect.metric == *metric) {
            Some(effect) => Some(effect.own_step.unwrap_or(f64::INFINITY)),
            None => self.culprit.failure.is_some().then_some(f64::INFINITY),
        }
    }
}

/// The found commits, by index, whose step a mend may have undone. `around`: one entry for each
/// found commit.
pub(super) fn steps_before(
    found: &[FoundCommit],
    mend: &Mend,
    around: &[MendContext],
) -> Vec<usize> {
    let has_step = |i: usize| found[i].step(mend.metric.as_ref()).is_some();
    let is_before = |&i: &usize| around[i].is_before && found[i].stands() && has_step(i);
    (0..found.len()).filter(is_before).collect()
}

/// Sets the status of the found commits before a mend. `around`: one entry for each found commit.
pub(crate) fn apply_mend(found: &mut [FoundCommit], mend: &Mend, around: &[MendContext]) {
    let metric = mend.metric.as_ref();
    let places = steps_before(found, mend, around);
    let sized = |i: usize| around[i].by_all_runs.map(|step| step.size);
    let step = |i: usize| sized(i).or_else(|| found[i].step(metric));
    let steps: Vec<f64> = places.iter().map(|&i| step(i).expect("only such are kept")).collect();
    let known: Vec<&MendContext> = places.iter().map(|&i| &around[i]).collect();
    let mut fates = if mends_a_part(mend, &steps, &known) {
        vec![StepStatus::Stands; steps.len()]
    } else if mend.amount.is_finite() && steps.iter().all(|step| step.is_finite()) {
        attributed(mend, &steps, &known)
    } else {
        // A step or the mend has no number: the mend undid the last step without a number.
        let last = steps.iter().rposition(|step| !step.is_finite()).or(steps.len().checked_sub(1));
        let fate = |i| if Some(i) == last { StepStatus::Undone } else { StepStatus::Stands };
        (0..steps.len()).map(fate).collect()
    };
    let is_open = |around: &MendContext| around.by_all_runs.is_some_and(|step| step.is_open);
    for (fate, _) in fates.iter_mut().zip(&known).filter(|(_, around)| is_open(around)) {
        *fate = StepStatus::Unclear;
    }
    // What is left after the mend, minus the steps that stand.
    let stands = |fate: &StepStatus| *fate == StepStatus::Stands;
    let kept = steps.iter().zip(&fates).filter(|(step, fate)| stands(fate) && step.is_finite());
    let unexplained = mend.left - kept.map(|(step, _)| step).sum::<f64>();
    // A mend that fits no steps may have undone one of them, and something else besides.
    let fits_none = steps.len() > 1 && fates.iter().all(stands);
    let is_as_large = |step: f64| fits_none && step <= mend.amount + mend.limit.max(0.0);
    for ((&place, step), fate) in places.iter().zip(&steps).zip(&fates) {
        let context = &around[place];
        if context.edits == EditedLines::AnothersOnly {
            continue;
        }
        let hides = |undone_by| {
            let mut among = vec![found[place].culprit.info.commit.clone()];
            among.extend(context.hidden.iter().cloned());
            CulpritStatus::Hides { among, left: mend.left, undone_by, why: None }
        };
        let is_one_commit =
            context.made_by == MadeBy::OneCommit && context.carried == ChangePresence::Whole;
        let visible = match context.carried {
            // Some of the change's text is still there.
            ChangePresence::InPart => VISIBLE,
            ChangePresence::Whole if is_one_commit => VISIBLE,
            ChangePresence::Whole
            | ChangePresence::Gone
            | ChangePresence::GoneBefore
            | ChangePresence::Unknown => VISIBLE_WITHOUT_TEXT,
        };
        let rest = mend.left - context.before.min(0.0);
        let is_below = |share: f64| rest < share * step && !context.is_reworked;
        let is_partly_left = steps.len() == 1 && mend.left > mend.limit;
        let status = match fate {
            StepStatus::Undone if unexplained > mend.limit => {
                hides(mend.repeats.then(|| mend.by.clone()))
            }
            StepStatus::Undone => CulpritStatus::Undone { by: mend.by.clone(), again: false },
            StepStatus::Unclear => CulpritStatus::Unclear,
            // The mend undid a part. If little is left, another commit may have caused the rest.
            StepStatus::Stands if is_partly_left && is_below(visible) => hides(None),
            // Nothing is left of the only step.
            StepStatus::Stands if steps.len() == 1 && mend.left <= mend.limit => {
                CulpritStatus::Undone { by: mend.by.clone(), again: false }
            }
            StepStatus::Stands => CulpritStatus::Stands,
        };
        let is_mostly_gone = is_partly_left && is_one_commit && is_below(VISIBLE_WITHOUT_TEXT);
        if status == CulpritStatus::Stands && (is_mostly_gone || is_as_large(*step)) {
            found[place].perhaps_mended_by = Some(mend.by.clone());
        }
        found[place].status = status;
    }
}

/// The status of each step by the sizes and the source. A step stands if the mend edits only the
/// lines of other steps. `around`: one entry for each step.
fn attributed(mend: &Mend, steps: &[f64], around: &[&MendContext]) -> Vec<StepStatus> {
    let is_own = |place: &usize| around[*place].edits == EditedLines::Any;
    let own: Vec<usize> = (0..steps.len()).filter(is_own).collect();
    let sizes: Vec<f64> = own.iter().map(|place| steps[*place]).collect();
    let carried: Vec<ChangePresence> = own.iter().map(|place| around[*place].carried).collect();
    let limit = mend.limit.max(0.0);
    let told = attribute_improvement(&sizes, &carried, mend.amount, limit, mend.repeats);
    let mut fates = vec![StepStatus::Stands; steps.len()];
    for (place, fate) in own.into_iter().zip(told) {
        fates[place] = fate;
    }
    fates
}

/// Whether it depends on who made a mend's improvement if a step stands: less is left of the step
/// than without knowing this, but enough to see.
pub(super) fn depends_on_author(step: f64, mend: &Mend) -> bool {
    mend.left > mend.limit && (VISIBLE * step..VISIBLE_WITHOUT_TEXT * step).contains(&mend.left)
}

/// Whether the mend undid a part of one step: the mend's commit restores some files of that step's
/// change and keeps others, and the changes of all other steps stay whole.
fn mends_a_part(mend: &Mend, steps: &[f64], around: &[&MendContext]) -> bool {
    let mut in_part = (0..steps.len()).filter(|&i| around[i].carried != ChangePresence::Whole);
    let (Some(one), None) = (in_part.next(), in_part.next()) else { return false };
    around[one].carried == ChangePresence::InPart
        && around[one].is_put_back
        && steps[one].is_finite()
        && steps[one] > mend.amount + mend.limit.max(0.0)
}

/// The mend before a found commit, if the commit's parent is better than the search range's
/// baseline by more than the tolerance. It matters only if the range begins at a found commit.
pub(crate) fn mends_before(
    search_range: &SearchRange,
    found: &Culprit,
    targets: &[Target],
) -> Option<Mend> {
    let [older, _] = search_range.ends();
    if found.parent == *older {
        return None;
    }
    search_range.targets.iter().find_map(|target| {
        let Target::Guard(target) = target else { return None };
        let effect = found.effect_on(&target.guard.metric)?;
        let [before, _] = search_range.terms.levels(effect);
        let (before, after) = (before.number()?, target.baseline.number()?);
        let amount = target.guard.worsening(before, after);
        let is_mend = target.guard.is_worse_by(before, after, target.limit.max(0.0));
        let metric = target.guard.metric.clone();
        let left = beyond_good(targets, &metric, before).unwrap_or(0.0);
        let (by, limit) = (found.parent.clone(), target.limit);
        let repeats = target.noise.is_none();
        let metric = Some(metric);
        let mend = Mend { by, before: None, metric, amount, left, limit, repeats };
        is_mend.then_some(mend)
    })
}

/// The mend at a found commit, if it only brings back what the good end shows. A guard that forbids
/// any change takes this for a step, once an earlier step is the baseline of a search range.
pub(crate) fn back_to_good(
    found: &Culprit,
    targets: &[Target],
    terms: SearchTerms,
) -> Option<Mend> {
    let effect = found.effects.first().filter(|_| found.failure.is_none())?;
    let [_, level] = terms.levels(effect);
    let is_back = |target: &&Target| match target {
        Target::Guard(target) => {
            target.guard.metric == effect.metric
                && target.guard.direction() == Direction::Any
                && !target.guard.is_broken(&target.baseline, level)
        }
        Target::Failure { .. } => false,
    };
    let Target::Guard(target) = targets.iter().find(is_back).filter(|_| terms.explains_levels())?
    else {
        return None;
    };
    Some(Mend {
        by: found.info.commit.clone(),
        before: Some(found.parent.clone()),
        metric: Some(effect.metric.clone()),
        amount: effect.own_step.unwrap_or(f64::INFINITY),
        left: 0.0,
        limit: target.limit,
        repeats: target.noise.is_none(),
    })
}

/// How much worse a level is than the good end's, by these targets; `None` without a target. What
/// exceeds the tolerance only by rounding is the tolerance.
pub(crate) fn beyond_good(targets: &[Target], metric: &Metric, level: f64) -> Option<f64> {
    targets.iter().find_map(|target| match target {
        Target::Guard(target) if target.guard.metric == *metric => {
            let good = target.baseline.number()?;
            let worse = target.guard.worsening(good, level);
            let is_beyond = exceeds_limit(worse, target.limit, [good, level]);
            Some(if worse > target.limit && !is_beyond { target.limit } else { worse })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests;
