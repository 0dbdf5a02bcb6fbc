//! Whether a first bad commit that was found is still the reason at the newer end. What later
//! work undid explains nothing there. Pure.

use crate::evaluation::{CommitId, Culprit, Metric, Target};
use crate::search::{Carried, Fate, fates};

use super::account::SearchRange;

/// A step that leaves less than this share of itself may hide another commit: behind a
/// perplexity of 100,000 nobody sees a rise of 0.3.
const VISIBLE: f64 = 0.35;

/// More improvements than this are not added up.
const MOST_PARTS: usize = 6;
/// How well their sum must fit a step, as a share of it.
const EXACT: f64 = 1e-3;

/// A first bad commit, and what became of its change.
#[derive(Clone, Debug)]
pub(super) struct FoundCommit {
    pub(super) culprit: Culprit,
    pub(super) standing: Standing,
    /// Where it is only known that one of these made the step, and why.
    pub(super) among: Option<(Vec<CommitId>, String)>,
}

/// What became of the change of a first bad commit by the newer end.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing {
    /// It is still there, or most of it.
    Stands,
    /// It was undone.
    Undone {
        /// At this commit at the latest.
        by: CommitId,
        /// A later commit brought the same change back.
        again: bool,
    },
    /// It was undone, and hid the commits after it as long as it was there: what is left came from
    /// it or from one of them.
    Hides {
        /// It and those commits.
        among: Vec<CommitId>,
        /// What is left, in the metric's unit.
        left: f64,
    },
    /// This one or another of the found commits was undone.
    Unclear,
}

/// A place where the metric got better again after a first bad commit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mend {
    /// The commit where it is better; the one that did it may lie before it.
    pub(super) by: CommitId,
    /// The metric; `None` where a failure went away.
    pub(super) metric: Option<Metric>,
    /// How much better it got, in the metric's unit; infinite where there was no number.
    pub(super) amount: f64,
    /// How much worse it still is than at the good end.
    pub(super) left: f64,
    /// How far the guard lets the metric move.
    pub(super) limit: f64,
}

/// What is known of one found commit beside a mend.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    /// The mend comes after it.
    pub(super) is_before: bool,
    /// Its change is still in the tree at the mend, as far as the text tells.
    pub(super) carried: Carried,
    /// There the text says that its place was written anew, and not put back.
    pub(super) is_reworked: bool,
    /// The commit of the mend itself puts files of its change back.
    pub(super) is_put_back: bool,
    /// How much worse its parent is than the good end, in the metric's unit.
    pub(super) before: f64,
    /// The commits after it up to the mend.
    pub(super) hidden: Vec<CommitId>,
}

impl FoundCommit {
    /// One that stands until something is known against it.
    pub(super) fn new(culprit: Culprit) -> Self {
        Self { culprit, standing: Standing::Stands, among: None }
    }

    pub(super) fn stands(&self) -> bool {
        self.standing == Standing::Stands
    }

    /// Whether it is named: what stands, and what was landed again after a revert.
    pub(super) fn is_named(&self) -> bool {
        let is_there =
            matches!(self.standing, Standing::Stands | Standing::Undone { again: true, .. });
        is_there && self.among.is_none()
    }

    /// How much worse it made a metric; infinite where there is no number, `None` where it left
    /// the metric alone.
    fn step(&self, metric: Option<&Metric>) -> Option<f64> {
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

/// Says what a mend makes of the commits found before it; `around` has an entry for each.
pub(super) fn settle(found: &mut [FoundCommit], mend: &Mend, around: &[Around]) {
    let metric = mend.metric.as_ref();
    let places: Vec<usize> = (0..found.len())
        .filter(|&i| around[i].is_before && found[i].stands() && found[i].step(metric).is_some())
        .collect();
    let steps: Vec<f64> =
        places.iter().map(|&i| found[i].step(metric).expect("only such are kept")).collect();
    let carried: Vec<_> = places.iter().map(|&i| around[i].carried).collect();
    let fates =
        if mends_a_part(mend, &steps, &places.iter().map(|&i| &around[i]).collect::<Vec<_>>()) {
            vec![Fate::Stands; steps.len()]
        } else if mend.amount.is_finite() && steps.iter().all(|step| step.is_finite()) {
            fates(&steps, &carried, mend.amount, mend.limit.max(0.0))
        } else {
            // Where there was no number, the last one that had none is the one that went.
            let last =
                steps.iter().rposition(|step| !step.is_finite()).or(steps.len().checked_sub(1));
            let fate = |i| if Some(i) == last { Fate::Undone } else { Fate::Stands };
            (0..steps.len()).map(fate).collect()
        };
    // What is left though no step that stands explains it.
    let standing = |fate: &Fate| *fate == Fate::Stands;
    let kept = steps.iter().zip(&fates).filter(|(step, fate)| standing(fate) && step.is_finite());
    let unexplained = mend.left - kept.map(|(step, _)| step).sum::<f64>();
    for ((&place, step), fate) in places.iter().zip(&steps).zip(&fates) {
        let hides = || {
            let mut among = vec![found[place].culprit.info.commit.clone()];
            among.extend(around[place].hidden.iter().cloned());
            Standing::Hides { among, left: mend.left }
        };
        let faint = mend.left - around[place].before < VISIBLE * step && !around[place].is_reworked;
        found[place].standing = match fate {
            Fate::Undone if unexplained > mend.limit => hides(),
            Fate::Undone => Standing::Undone { by: mend.by.clone(), again: false },
            Fate::Unclear => Standing::Unclear,
            // A part of it was made good. If next to nothing is left, that may be another's.
            Fate::Stands if steps.len() == 1 && mend.left > mend.limit && faint => hides(),
            // Nothing is left of the only one there was.
            Fate::Stands if steps.len() == 1 && mend.left <= mend.limit => {
                Standing::Undone { by: mend.by.clone(), again: false }
            }
            Fate::Stands => Standing::Stands,
        };
    }
}

/// Whether the mend made a part of one step good: its commit puts files of that step's change back,
/// others of them stay as they are, and so does the change of every other step.
fn mends_a_part(mend: &Mend, steps: &[f64], around: &[&Around]) -> bool {
    let mut in_part = (0..steps.len()).filter(|&i| around[i].carried != Carried::Whole);
    let (Some(one), None) = (in_part.next(), in_part.next()) else { return false };
    around[one].carried == Carried::InPart
        && around[one].is_put_back
        && steps[one].is_finite()
        && steps[one] > mend.amount + mend.limit.max(0.0)
}

/// Says of a step that several improvements together took away, to a thousandth, that it was
/// undone. `parts`: the improvements that settled nothing by themselves, oldest first, each with
/// what is known of the found commits beside it.
pub(super) fn settle_in_parts(found: &mut [FoundCommit], parts: &[(Mend, Vec<Around>)]) {
    let parts = &parts[..parts.len().min(MOST_PARTS)];
    for set in 1_u32..1 << parts.len() {
        let taken: Vec<_> = (0..parts.len()).filter(|i| set >> i & 1 == 1).collect();
        let Some((last, _)) = taken.last().map(|i| &parts[*i]).filter(|_| taken.len() > 1) else {
            continue;
        };
        let amount: f64 = taken.iter().map(|i| parts[*i].0.amount).sum();
        let fits = |one: &usize| {
            let is_behind =
                |i: &usize| parts[*i].1[*one].is_before && parts[*i].0.metric == last.metric;
            let step = found[*one].step(last.metric.as_ref());
            found[*one].stands()
                && taken.iter().all(is_behind)
                && step.is_some_and(|step| (step - amount).abs() <= EXACT * amount)
        };
        let fitting: Vec<usize> = (0..found.len()).filter(fits).collect();
        if let [one] = fitting[..] {
            found[one].standing = Standing::Undone { by: last.by.clone(), again: false };
        }
    }
}

/// Where a commit was found whose parent is better than the level that its search range began with:
/// something before it was made good. Only where the search range begins at a found commit is that
/// anything to a found commit.
pub(super) fn mends_before(
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
        let effect = found.effects.iter().find(|effect| effect.metric == target.guard.metric)?;
        let [before, _] = search_range.aim.swap_if_fix([&effect.parent, &effect.commit]);
        let before = before.number()?;
        let amount = target.guard.worsening(before, target.baseline.number()?);
        let metric = target.guard.metric.clone();
        let left = beyond_good(targets, &metric, before).unwrap_or(0.0);
        let (by, limit) = (found.parent.clone(), target.limit);
        (amount > limit.max(0.0)).then_some(Mend { by, metric: Some(metric), amount, left, limit })
    })
}

/// How much worse a level is than the good end's, by the hunt's own targets.
pub(super) fn beyond_good(targets: &[Target], metric: &Metric, level: f64) -> Option<f64> {
    targets.iter().find_map(|target| match target {
        Target::Guard(target) if target.guard.metric == *metric => {
            Some(target.guard.worsening(target.baseline.number()?, level))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests;
