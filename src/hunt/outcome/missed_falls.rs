//! In noise, looks for mends that the few runs of each commit hid. The level of a named commit is
//! compared with that before the next named commit: if it falls by about a named step, a commit
//! between them may have undone this step. The next named commit makes the level worse again, so
//! the bad end does not show the mend.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Direction, GuardTarget, Metric, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit, Mend};
use super::level::Level;
use super::mean_level::{MOST_RUNS, MeanLevel, SURE, has_varying_levels};

/// A part of the history between two named commits, or after the last one, without a known mend.
struct Gap {
    older: CommitId,
    newer: CommitId,
    /// The named commits before it that made the metric worse, each with its step.
    steps: Vec<(CommitId, f64)>,
}

impl Gap {
    fn smallest_step(&self) -> f64 {
        self.steps.iter().map(|(_, step)| *step).fold(f64::INFINITY, f64::min)
    }
}

/// How far the level falls in a gap. All in the metric's unit.
#[derive(Clone, Copy, Debug)]
struct GapFall {
    /// Negative if the level rises.
    size: f64,
    /// [`SURE`] standard errors of the size.
    error: f64,
    /// The tolerance.
    limit: f64,
}

/// What the runs show of a mend in a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    NoMend,
    Mend,
    Open,
}

impl GapFall {
    /// What the runs show, if `smallest` is the smallest step before the gap. There is no mend if
    /// the level surely falls by less than half of this step, and there is one if it surely falls
    /// by more than that and than the tolerance. `None` if more runs are needed. `is_last`: no more
    /// are allowed. Then it is enough that the fall surely is too small for the whole step.
    fn shown(self, smallest: f64, is_last: bool) -> Option<Shown> {
        let half = smallest / 2.0;
        if self.size + self.error < half {
            return Some(Shown::NoMend);
        }
        if self.size - self.error > half.max(self.limit) {
            return Some(Shown::Mend);
        }
        let open = if self.may_undo(smallest) { Shown::Open } else { Shown::NoMend };
        is_last.then_some(open)
    }

    /// Whether the fall may have undone a step of this size. As for a mend, the two may differ by
    /// the tolerance.
    fn may_undo(self, step: f64) -> bool {
        self.size + self.error >= step - self.limit
    }
}

/// The parts of a path around the known mends on it; the mends need not be in order. `path`: the
/// commits after `older`, oldest first. A mend has the last worse commit, if that is known, and the
/// first better one.
fn parts_around_mends(
    older: &CommitId,
    path: &[CommitId],
    mends: &[(Option<&CommitId>, &CommitId)],
) -> Vec<[CommitId; 2]> {
    let mut parts = Vec::new();
    let (mut from, mut start) = (older, 0);
    for (place, commit) in path.iter().enumerate() {
        let here: Vec<_> = mends.iter().filter(|(_, by)| *by == commit).collect();
        if here.is_empty() {
            continue;
        }
        for before in here.iter().filter_map(|(before, _)| *before) {
            if path[start..place].contains(before) {
                parts.push([from.clone(), before.clone()]);
            }
        }
        (from, start) = (commit, place + 1);
    }
    let last = path.last().filter(|newer| *newer != from);
    parts.extend(last.map(|newer| [from.clone(), newer.clone()]));
    parts
}

impl Driver<'_> {
    /// In noise, compares the levels at both ends of each gap that follows named commits, by all
    /// runs. If they leave open whether the level falls by half of the smallest step before the
    /// gap, runs both ends until they tell. A fall that is shown becomes a mend, and the account is
    /// settled again. Named steps that a fall may have undone are withdrawn if the runs do not
    /// tell, or if the mend undid none of them. Returns a range for each rise that was seen on the
    /// way. `compared`: the ends that were compared before, with the metric.
    pub(crate) fn find_missed_falls(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        compared: &mut BTreeSet<([CommitId; 2], Metric)>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut next = Vec::new();
        if !whole.explains_levels() || self.has_drifted {
            return Ok(next);
        }
        // For a guard that forbids any change, `ranges_between_named` sees a fall, because it is a
        // change too.
        let is_compared = |target: &&GuardTarget| {
            has_varying_levels(target) && target.guard.direction() != Direction::Any
        };
        for target in whole.targets.iter().filter_map(Target::guard).filter(is_compared) {
            // A mend changes which commits are named, and the gaps between them.
            while let Some(gap) = self.next_gap(ledger, whole, target, compared)? {
                self.compare_ends_of(ledger, whole, target, &gap, &mut next)?;
            }
        }
        Ok(next)
    }

    /// The next gap that was not compared.
    fn next_gap(
        &self,
        ledger: &Ledger,
        whole: &SearchRange,
        target: &GuardTarget,
        compared: &mut BTreeSet<([CommitId; 2], Metric)>,
    ) -> Result<Option<Gap>, HuntError> {
        let metric = &target.guard.metric;
        let culprits: Vec<_> = ledger.standing_culprits().collect();
        let [_, bad] = whole.good_and_bad();
        for [older, newer] in self.between_named(&culprits, whole, metric)? {
            let mut steps = Vec::new();
            for found in ledger.found.iter().filter(|found| is_standing_and_named(found)) {
                let commit = &found.culprit.info.commit;
                let step = found.step(Some(metric)).filter(|step| step.is_finite() && *step > 0.0);
                if let Some(step) = step
                    && self.oracle.history.is_ancestor(commit, &older)?
                {
                    steps.push((commit.clone(), step));
                }
            }
            // The level of the bad end tells what became of a single step.
            let is_told = newer == *bad && steps.len() < 2;
            if steps.is_empty() || is_told {
                continue;
            }
            for [older, newer] in self.without_mends(ledger, [&older, &newer], metric)? {
                let ends = [older.clone(), newer.clone()];
                if compared.insert((ends, metric.clone())) {
                    return Ok(Some(Gap { older, newer, steps }));
                }
            }
        }
        Ok(None)
    }

    /// The parts between two commits around the mends that are known there. Empty if a mend lies on
    /// another path between them. A mend that undid no step, and of which only the better side is
    /// known, rests on few runs and does not count.
    pub(super) fn without_mends(
        &self,
        ledger: &Ledger,
        [older, newer]: [&CommitId; 2],
        metric: &Metric,
    ) -> Result<Vec<[CommitId; 2]>, HuntError> {
        let history = &self.oracle.history;
        let path = self.chain(older, newer)?;
        let counts = |mend: &&Mend| {
            mend.metric.as_ref() == Some(metric)
                && (mend.before.is_some() || has_undone_a_step(ledger, &mend.by))
        };
        let mut mends = Vec::new();
        for Mend { by, before, .. } in ledger.mends().iter().filter(counts) {
            if path.contains(by) {
                mends.push((before.as_ref(), by));
            } else if history.is_ancestor(by, newer)? && !history.is_ancestor(by, older)? {
                return Ok(Vec::new());
            }
        }
        Ok(parts_around_mends(older, &path, &mends))
    }

    /// Compares the levels at both ends of a gap; see [`Self::find_missed_falls`].
    fn compare_ends_of(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        target: &GuardTarget,
        gap: &Gap,
        next: &mut Vec<SearchRange>,
    ) -> Result<(), HuntError> {
        let metric = &target.guard.metric;
        let mut runs = 0;
        loop {
            let from = self.mean_level(&gap.older, metric, runs)?;
            let to = self.mean_level(&gap.newer, metric, runs)?;
            let Some((from, to)) = from.zip(to) else { return Ok(()) };
            let fall = GapFall {
                size: target.guard.worsening(to.value, from.value),
                error: MeanLevel::error(target, [from, to], SURE),
                limit: target.limit.max(0.0),
            };
            let is_accounted = match fall.shown(gap.smallest_step(), runs >= MOST_RUNS) {
                None => {
                    runs = MOST_RUNS.min(2 * runs.max(from.runs.min(to.runs)));
                    continue;
                }
                Some(Shown::NoMend) => true,
                Some(Shown::Mend) => {
                    let from = Level { commit: gap.older.clone(), value: from.value };
                    let to = Level { commit: gap.newer.clone(), value: to.value };
                    self.note_missed_fall(ledger, whole, target, [&from, &to], next)?;
                    self.is_accounted_for(ledger, gap)?
                }
                Some(Shown::Open) => false,
            };
            if !is_accounted {
                withdraw_what_is_open(ledger, gap, fall);
            }
            return Ok(());
        }
    }

    /// Finds the mend of a fall in a gap, and settles the account. The mend replaces those in the
    /// gap of which only the better side is known.
    fn note_missed_fall(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        target: &GuardTarget,
        [from, to]: [&Level; 2],
        next: &mut Vec<SearchRange>,
    ) -> Result<(), HuntError> {
        let metric = &target.guard.metric;
        let path = self.chain(&from.commit, &to.commit)?;
        let is_replaced = |mend: &&Mend| {
            mend.before.is_none() && mend.metric.as_ref() == Some(metric) && path.contains(&mend.by)
        };
        let replaced: Vec<Mend> = ledger.mends().iter().filter(is_replaced).cloned().collect();
        for mend in &replaced {
            ledger.refute_mends(&mend.by, metric);
        }
        let noted = self.note_fall(ledger, whole, target, [from, to], next);
        if noted.is_err() {
            for mend in replaced {
                ledger.mended(mend);
            }
        }
        // A limit must not leave the account without a mend that was found.
        self.settle_account(ledger)?;
        noted
    }

    /// Whether a mend in the gap undid a step, or one of the steps before the gap is not named any
    /// more.
    fn is_accounted_for(&self, ledger: &Ledger, gap: &Gap) -> Result<bool, HuntError> {
        let is_named = |commit: &CommitId| {
            let is_it = |found: &&FoundCommit| found.culprit.info.commit == *commit;
            ledger.found.iter().filter(is_it).any(is_standing_and_named)
        };
        let path = self.chain(&gap.older, &gap.newer)?;
        Ok(path.iter().any(|commit| has_undone_a_step(ledger, commit))
            || !gap.steps.iter().all(|(commit, _)| is_named(commit)))
    }
}

/// Whether a found commit is known to be undone by this commit.
fn has_undone_a_step(ledger: &Ledger, commit: &CommitId) -> bool {
    ledger.found.iter().any(|found| match &found.status {
        CulpritStatus::Undone { by, .. } => by == commit,
        CulpritStatus::Stands | CulpritStatus::Hides { .. } | CulpritStatus::Unclear => false,
    })
}

fn is_standing_and_named(found: &FoundCommit) -> bool {
    found.stands() && found.is_named()
}

/// Withdraws the named commits before a gap whose steps a fall in it may have undone.
fn withdraw_what_is_open(ledger: &mut Ledger, gap: &Gap, fall: GapFall) {
    for (commit, _) in gap.steps.iter().filter(|(_, step)| fall.may_undo(*step)) {
        let why = format!(
            "in noise it is not clear whether a commit after {}, up to {}, took the step of {} \
             back",
            gap.older.short(),
            gap.newer.short(),
            commit.short()
        );
        ledger.withdraw(commit, std::slice::from_ref(commit), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    /// A fall in units of the tolerance.
    fn fall(size: f64, error: f64) -> GapFall {
        GapFall { size, error, limit: 1.0 }
    }

    #[test]
    fn levels_that_exclude_half_of_the_step_need_no_more_runs() {
        // A step of 10 tolerances, noise of 20 % of the tolerance, three and two runs.
        assert_eq!(fall(0.3, 0.4).shown(10.0, false), Some(Shown::NoMend));
        assert_eq!(fall(-5.0, 0.4).shown(10.0, false), Some(Shown::NoMend));
    }

    #[test]
    fn a_fall_that_few_runs_hide_needs_more_of_them() {
        // The mend took three tolerances, and a few runs show little more than half of this.
        assert_eq!(fall(1.7, 0.8).shown(3.0, false), None);
        assert_eq!(fall(2.7, 0.4).shown(3.0, false), Some(Shown::Mend));
        assert_eq!(fall(0.2, 0.8).shown(3.0, false), Some(Shown::NoMend));
    }

    #[test]
    fn a_fall_within_the_tolerance_is_no_mend_but_may_undo_a_small_step() {
        assert_eq!(fall(0.9, 0.2).shown(1.2, false), None);
        assert_eq!(fall(0.9, 0.2).shown(1.2, true), Some(Shown::Open));
    }

    #[test]
    fn at_last_a_fall_that_is_too_small_for_the_whole_step_leaves_nothing_open() {
        assert_eq!(fall(1.5, 0.4).shown(3.0, true), Some(Shown::NoMend));
        assert_eq!(fall(1.7, 0.4).shown(3.0, true), Some(Shown::Open));
    }

    #[test]
    fn a_fall_may_undo_only_steps_that_it_can_reach() {
        assert!(fall(2.5, 0.5).may_undo(3.0) && fall(2.5, 0.5).may_undo(4.0));
        assert!(!fall(2.5, 0.5).may_undo(5.0));
    }

    #[test]
    fn a_gap_is_compared_on_both_sides_of_each_known_mend() {
        let line = ['a', 'b', 'c', 'd', 'e'].map(commit);
        let part = |from: usize, to: usize| [line[from].clone(), line[to].clone()];
        // Each mend as the places of the last worse commit and of the first better one.
        let parts = |mends: &[(Option<usize>, usize)]| {
            let at = |(before, by): &(Option<usize>, usize)| (before.map(|i| &line[i]), &line[*by]);
            let mends: Vec<_> = mends.iter().map(at).collect();
            parts_around_mends(&line[0], &line[1..], &mends)
        };
        assert_eq!(parts(&[]), [part(0, 4)]);
        assert_eq!(parts(&[(Some(1), 2)]), [part(0, 1), part(2, 4)]);
        // Nobody knows where before the better commit the level falls.
        assert_eq!(parts(&[(None, 2)]), [part(2, 4)]);
        // The mends are at both ends of the path.
        assert_eq!(parts(&[(Some(3), 4), (Some(0), 1)]), [part(1, 3)]);
    }
}
