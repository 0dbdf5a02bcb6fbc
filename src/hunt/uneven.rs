//! Where commits flake by themselves: rates name a commit only if those before it fail equally
//! often, and those from it on too.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Metric, Phase, Verdict};
use crate::git::Range;
use crate::oracle::{Request, measures_of};
use crate::search::odds_of_unevenness;

use super::HuntError;
use super::account::{Ledger, SearchRange};
use super::driver::Driver;
use super::fresh::verdict_of_run;

/// Odds beyond which one rate a side is given up (1 in 20).
const MOST_UNEVEN: f64 = 3.0;
/// Runs that all say the same after which a commit does not flake.
const RUNS_TO_BE_SURE: usize = 5;

/// Commits on one side of another, each with its count.
type CountedCommits<'a> = Vec<(&'a CommitId, Count)>;

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

    /// Whether its runs contradict each other.
    fn is_mixed(self) -> bool {
        0 < self.failed && self.failed < self.runs
    }

    /// Whether most of its runs failed.
    fn fails_mostly(self) -> bool {
        2 * self.failed > self.runs
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
        search_range: &SearchRange,
        commit: &CommitId,
        counts: &BTreeMap<CommitId, Count>,
    ) -> Result<Option<(Vec<CommitId>, String)>, HuntError> {
        let sides = self.sides_of(commit, counts)?;
        self.unevenness(search_range, commit, counts, sides)
    }

    /// Withdraws what was named where all runs of the hunt show that commits flake by themselves:
    /// a commit is then like its neighbours by chance as easily as by its change.
    pub(super) fn withdraw_the_uneven(
        &mut self,
        ledger: &mut Ledger,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        for (commit, search_range) in claims {
            let counts = self.counts_in(search_range)?;
            let newer_fails = search_range.aim.newer() == Verdict::Bad;
            let [mut older, mut newer] = self.sides_of(commit, &counts)?;
            // What is mended on the way fails otherwise than its side without flaking.
            older.retain(|(_, count)| count.fails_mostly() != newer_fails);
            newer.retain(|(_, count)| count.fails_mostly() == newer_fails);
            let mut sides = [older, newer];
            for side in &mut sides {
                if !side.iter().any(|(_, count)| count.is_mixed()) {
                    side.clear();
                }
            }
            if let Some((among, why)) = self.unevenness(search_range, commit, &counts, sides)? {
                ledger.withdraw(commit, &among, &why);
            }
        }
        Ok(())
    }

    /// How often each commit that was judged in this hunt is worse than the search range allows, in all
    /// of its runs.
    fn counts_in(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<BTreeMap<CommitId, Count>, HuntError> {
        let measures = measures_of(&search_range.targets);
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        let inside = self.oracle.history.commits(&Range::between(&older, &newer))?;
        let judged = self.judged()?;
        let is_judged = |one: &&CommitId| judged.contains(*one) || **one == older || **one == newer;
        let mut counts = BTreeMap::new();
        for commit in inside.iter().chain([&older]).filter(is_judged) {
            if self.is_aside(commit, search_range)? {
                continue;
            }
            let look = Request::look(commit, &measures, Phase::Search);
            let seen = self.oracle.evaluate(look)?;
            let recipe = self.oracle.recipe(commit)?;
            let runs = seen.samples.values().map(Vec::len).min().unwrap_or(0);
            let mut count = Count::default();
            for run in 0..runs {
                match verdict_of_run(&seen, run, &search_range.targets, &recipe).verdict {
                    Verdict::Bad => count.add(1.0),
                    Verdict::Good => count.add(0.0),
                    Verdict::Skip | Verdict::Unknown => {}
                }
            }
            if count.runs > 0 {
                counts.insert(commit.clone(), count);
            }
        }
        Ok(counts)
    }

    /// The counted commits that do not contain the commit, and those that do.
    fn sides_of<'a>(
        &self,
        commit: &CommitId,
        counts: &'a BTreeMap<CommitId, Count>,
    ) -> Result<[CountedCommits<'a>; 2], HuntError> {
        let history = &self.oracle.history;
        let (mut older, mut newer) = (Vec::new(), Vec::new());
        for (one, count) in counts {
            let side = if history.is_ancestor(commit, one)? { &mut newer } else { &mut older };
            side.push((one, *count));
        }
        Ok([older, newer])
    }

    /// Why these sides of a commit do not tell it apart, and what stays open.
    fn unevenness(
        &self,
        search_range: &SearchRange,
        commit: &CommitId,
        counts: &BTreeMap<CommitId, Count>,
        sides: [CountedCommits<'_>; 2],
    ) -> Result<Option<(Vec<CommitId>, String)>, HuntError> {
        for side in sides {
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
            return Ok(Some((self.between_steady(search_range, counts)?, why)));
        }
        Ok(None)
    }

    /// An end of a part of the history that flakes though the hunt's own end there repeats: what its
    /// runs say of a rate is its own. `ends`: the samples of the part's good and bad end.
    pub(super) fn flaky_end(
        &mut self,
        search_range: &SearchRange,
        metric: &Metric,
        ends: &[Vec<f64>; 2],
    ) -> Result<Option<CommitId>, HuntError> {
        let measures = [metric.measure.clone()];
        let whole = [self.begun.good.commit.clone(), self.begun.bad.commit.clone()];
        for ((end, own), samples) in
            [&search_range.good, &search_range.bad].into_iter().zip(whole).zip(ends)
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
        search_range: &SearchRange,
        counts: &BTreeMap<CommitId, Count>,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
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
