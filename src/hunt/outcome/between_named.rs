//! In noise, measures what lies between the named commits: from the older end to the parent of the
//! first, from each to the parent of the next, and from the last to the newer end. A few runs of each
//! may hide a step there that is larger than the tolerance, or another fix.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Culprit, GuardTarget, Metric, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::level::{Level, join, part};
use super::mean_level::{MOST_RUNS, MeanLevel, Rest, has_noisy_levels};

/// What counts if all runs leave open whether two levels differ by more than the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// A rise above the tolerance of the mean levels; in a hunt for a fix, such a fall.
    Rise,
    /// Nothing.
    Nothing,
}

impl Driver<'_> {
    /// The search ranges between the named commits whose ends differ by more than the tolerance. Runs
    /// both ends of each in turn until that is clear; if all runs leave it open, their levels decide.
    /// In a hunt for a regression, a part with known mends is split there: a fall and a rise would
    /// cancel out. `compared`: the ends that were compared before, with the metric.
    pub(crate) fn ranges_between_named(
        &mut self,
        ledger: &Ledger,
        whole: &SearchRange,
        compared: &mut BTreeSet<([CommitId; 2], Metric)>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut next = Vec::new();
        if self.has_drifted {
            return Ok(next);
        }
        let culprits: Vec<&Culprit> = ledger.standing_culprits().collect();
        let guards = whole.targets.iter().filter_map(Target::guard);
        for target in guards.filter(|target| has_noisy_levels(target)) {
            let metric = &target.guard.metric;
            let mut parts = Vec::new();
            for [older, newer] in self.between_named(&culprits, whole, metric)? {
                let split = if whole.explains_levels() {
                    self.without_mends(ledger, [&older, &newer], metric)?
                } else {
                    Vec::new()
                };
                parts.extend(if split.is_empty() { vec![[older, newer]] } else { split });
            }
            for ends in parts {
                if !compared.insert((ends.clone(), metric.clone())) {
                    continue;
                }
                if let Some([from, to]) = self.ends_beyond_tolerance(target, &ends, Open::Rise)? {
                    join(&mut next, part(whole, target, &from, &to));
                }
            }
        }
        Ok(next)
    }

    /// The older and the newer end of each part between the commits that move a metric. Empty if no
    /// commit moves the metric, or if these commits do not lie on one line.
    pub(super) fn between_named(
        &self,
        culprits: &[&Culprit],
        whole: &SearchRange,
        metric: &Metric,
    ) -> Result<Vec<[CommitId; 2]>, HuntError> {
        let history = &self.oracle.history;
        let mut line: Vec<&Culprit> = Vec::new();
        for culprit in culprits.iter().filter(|culprit| culprit.effect_on(metric).is_some()) {
            let mut place = 0;
            for one in &line {
                if history.is_ancestor(&one.info.commit, &culprit.info.commit)? {
                    place += 1;
                }
            }
            line.insert(place, culprit);
        }
        if line.is_empty() {
            return Ok(Vec::new());
        }
        let [mut older, newest] = whole.ends();
        let mut ends = Vec::new();
        for culprit in line {
            ends.push([older.clone(), culprit.parent.clone()]);
            older = &culprit.info.commit;
        }
        ends.push([older.clone(), newest.clone()]);
        for [older, newer] in &ends {
            if !history.is_ancestor(older, newer)? {
                return Ok(Vec::new());
            }
        }
        ends.retain(|[older, newer]| older != newer);
        Ok(ends)
    }

    /// The levels of two commits, if the later one is worse by more than the tolerance; in a hunt
    /// for a fix, if it is better by more than that. Makes no runs if the stored ones already rule
    /// that out. Where the machine may drift, only new runs can show such a difference. `open`: what
    /// counts if all runs leave it open.
    pub(super) fn ends_beyond_tolerance(
        &mut self,
        target: &GuardTarget,
        ends: &[CommitId; 2],
        open: Open,
    ) -> Result<Option<[Level; 2]>, HuntError> {
        let metric = &target.guard.metric;
        let terms = self.terms();
        let beyond = |[from, to]: [MeanLevel; 2]| {
            MeanLevel::beyond_tolerance(target, terms.good_and_bad([from, to]))
        };
        let rest_of = |levels| Rest::of(beyond(levels));
        let [older, newer] = ends;
        let stored = [self.mean_level(older, metric, 0)?, self.mean_level(newer, metric, 0)?];
        if let [Some(from), Some(to)] = stored
            && rest_of([from, to]) == Rest::Within
        {
            return Ok(None);
        }
        let known = stored.map(|level| level.map_or(0, |level| level.runs));
        let stored = if target.may_drift() { known } else { [0, 0] };
        for round in 1..=MOST_RUNS {
            let mut levels = Vec::new();
            for (commit, stored) in ends.iter().zip(stored) {
                levels.extend(self.mean_level_after(commit, metric, stored, round)?);
            }
            let [from, to] = levels[..] else { return Ok(None) };
            if from.runs.min(to.runs) < 2 {
                continue;
            }
            let is_beyond = match rest_of([from, to]) {
                Rest::Open if round < MOST_RUNS => continue,
                Rest::Open => {
                    let [rest, _] = beyond([from, to]);
                    open == Open::Rise && rest > 0.0
                }
                Rest::Within => false,
                Rest::Beyond => true,
            };
            let level = |commit: &CommitId, of: MeanLevel| Level {
                commit: commit.clone(),
                value: of.value,
            };
            return Ok(is_beyond.then(|| [level(older, from), level(newer, to)]));
        }
        Ok(None)
    }
}
