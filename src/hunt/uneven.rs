//! Where commits flake by themselves: rates name a commit only if those before it fail equally
//! often, and those from it on too.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Metric, Phase};
use crate::git::Range;
use crate::oracle::Request;
use crate::search::odds_of_unevenness;

use super::HuntError;
use super::account::Stretch;
use super::driver::Driver;

/// Odds beyond which one rate a side is given up (1 in 20).
const MOST_UNEVEN: f64 = 3.0;
/// Runs that all say the same after which a commit does not flake.
const RUNS_TO_BE_SURE: usize = 5;

/// How often the runs of a commit broke the guard.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) failed: usize,
    pub(super) runs: usize,
}

impl Count {
    pub(super) fn add(&mut self, sample: f64) {
        self.runs += 1;
        self.failed += usize::from(sample > 0.5);
    }
}

impl FromIterator<f64> for Count {
    fn from_iter<I: IntoIterator<Item = f64>>(samples: I) -> Self {
        let mut count = Self::default();
        for sample in samples {
            count.add(sample);
        }
        count
    }
}

impl Driver<'_> {
    /// Why a commit cannot be named by rates, and what stays open, where commits on one side of it
    /// do not fail equally often.
    pub(super) fn uneven(
        &self,
        stretch: &Stretch,
        commit: &CommitId,
        counts: &BTreeMap<CommitId, Count>,
    ) -> Result<Option<(Vec<CommitId>, String)>, HuntError> {
        let history = &self.oracle.history;
        let (mut older, mut newer) = (Vec::new(), Vec::new());
        for (one, count) in counts {
            let side = if history.is_ancestor(commit, one)? { &mut newer } else { &mut older };
            side.push((one, *count));
        }
        for side in [older, newer] {
            let pairs: Vec<_> = side.iter().map(|(_, count)| (count.failed, count.runs)).collect();
            if odds_of_unevenness(&pairs) <= MOST_UNEVEN {
                continue;
            }
            let share = |count: &Count| count.failed as f64 / count.runs.max(1) as f64;
            let by_share = |a: &&(_, Count), b: &&(_, Count)| share(&a.1).total_cmp(&share(&b.1));
            let ends = [side.iter().min_by(by_share), side.iter().max_by(by_share)];
            let told: Vec<String> = ends
                .into_iter()
                .flatten()
                .map(|(one, count)| {
                    format!("{} of {} at {}", count.failed, count.runs, one.short())
                })
                .collect();
            let why = format!(
                "some commits flake by themselves: on one side of {} runs break it {}",
                commit.short(),
                told.join(" and ")
            );
            return Ok(Some((self.between_steady(stretch, counts)?, why)));
        }
        Ok(None)
    }

    /// An end of a part of the history that flakes though the hunt's own end there repeats: what its
    /// runs say of a rate is its own. `ends`: the samples of the part's good and bad end.
    pub(super) fn flaky_end(
        &mut self,
        stretch: &Stretch,
        metric: &Metric,
        ends: &[Vec<f64>; 2],
    ) -> Result<Option<CommitId>, HuntError> {
        let measures = [metric.measure.clone()];
        let whole = [self.begun.good.commit.clone(), self.begun.bad.commit.clone()];
        for ((end, own), samples) in [&stretch.good, &stretch.bad].into_iter().zip(whole).zip(ends)
        {
            let count: Count = samples.iter().copied().collect();
            if *end == own || count.failed == 0 || count.failed == count.runs {
                continue;
            }
            let seen = self.oracle.evaluate(Request::look(&own, &measures, Phase::Search))?;
            if seen.repeats(metric) {
                return Ok(Some(end.clone()));
            }
        }
        Ok(None)
    }

    /// The commits between those that do not flake.
    fn between_steady(
        &self,
        stretch: &Stretch,
        counts: &BTreeMap<CommitId, Count>,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = stretch.ends();
        let mut last = newer.clone();
        let steady = |wanted: fn(&Count) -> bool| {
            let is_steady = move |(_, count): &(&CommitId, &Count)| {
                count.runs >= RUNS_TO_BE_SURE && wanted(count)
            };
            counts.iter().filter(is_steady).map(|(commit, _)| commit)
        };
        for commit in steady(|count| count.failed == count.runs) {
            if history.is_ancestor(commit, &last)? && history.is_ancestor(older, commit)? {
                last = commit.clone();
            }
        }
        let mut first = vec![older.clone()];
        for commit in steady(|count| count.failed == 0) {
            if *commit != last && history.is_ancestor(commit, &last)? {
                first.push(commit.clone());
            }
        }
        let range = Range { old: first, ..Range::between(older, &last) };
        Ok(history.commits(&range)?)
    }
}
