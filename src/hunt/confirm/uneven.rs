//! Detects commits with failure rates of their own. Rates can name a commit only if all commits
//! before it fail equally often, and so do all commits from it on.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, Metric};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::range::SearchRange;
use crate::oracle::measures_of;
use crate::search::log_odds_of_unevenness;

use super::verdict_counts::VerdictCounts;

/// Log Bayes factor above which a side has no common failure rate (20 : 1).
pub(super) const MOST_UNEVEN: f64 = 3.0;
/// Minimum number of runs, all equal, after which a commit counts as not flaky.
const RUNS_TO_BE_SURE: usize = 5;

/// The commits on one side of a commit, each with its count.
type CountedCommits<'a> = Vec<(&'a CommitId, Count)>;

/// How many runs a commit has, and how many of them failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) failed: usize,
    pub(crate) runs: usize,
}

impl Count {
    pub(crate) fn add(&mut self, sample: f64) {
        self.runs += 1;
        self.failed += usize::from(sample > 0.5);
    }

    /// Whether some runs failed and others did not.
    fn is_mixed(self) -> bool {
        0 < self.failed && self.failed < self.runs
    }

    /// Whether most runs failed.
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
    /// The candidates, and why rates cannot name `commit`, if commits on one side of `commit` do
    /// not fail equally often.
    pub(crate) fn uneven(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        counts: &BTreeMap<CommitId, Count>,
    ) -> Result<Option<(Vec<CommitId>, String)>, HuntError> {
        let sides = self.sides_of(commit, counts)?;
        self.unevenness(search_range, commit, counts, &sides)
    }

    /// Withdraws found commits if all runs of the hunt show that commits on one side do not fail
    /// equally often. Then the difference between a commit and its parent may be chance.
    pub(crate) fn withdraw_unequal_rates(
        &mut self,
        ledger: &mut Ledger,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        for (commit, search_range) in claims {
            let judged = self.judged()?;
            let counts = self.counts_in(search_range, &judged, false)?;
            let mut sides = self.sides_of(commit, &counts)?;
            // The hunt's ends are before and after every mend. If the newer end fails more often
            // than the commit, or a parent more often than the older end, another commit did that.
            let [older, newer] = self.begun.ends();
            let mut before = self.oracle.history.parents(commit)?;
            before.push(older.clone());
            let after = vec![commit.clone(), newer.clone()];
            let ends = [before, after].into_iter().zip(&sides).map(|(ends, side)| {
                side.iter().copied().filter(|(one, _)| ends.contains(one)).collect()
            });
            let ends: Vec<CountedCommits<'_>> = ends.collect();
            for (side, is_newer) in sides.iter_mut().zip([false, true]) {
                // Commits after a mend differ from their side without being flaky.
                side.retain(|(_, count)| count.fails_mostly() == is_newer);
                if !side.iter().any(|(_, count)| count.is_mixed()) {
                    side.clear();
                }
            }
            let sides: Vec<CountedCommits<'_>> = sides.into_iter().chain(ends).collect();
            if let Some((among, why)) = self.unevenness(search_range, commit, &counts, &sides)? {
                ledger.withdraw(commit, &among, why);
            }
        }
        Ok(())
    }

    /// The counts of these commits of the hunt, and of its ends, from all their runs. A run on the
    /// side of the newer end counts as a failure. `by_builds`: equal runs of one build count once.
    pub(crate) fn counts_in(
        &mut self,
        search_range: &SearchRange,
        commits: &BTreeSet<CommitId>,
        by_builds: bool,
    ) -> Result<BTreeMap<CommitId, Count>, HuntError> {
        let measures = measures_of(&search_range.targets);
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        let inside = self.oracle.history.commits(&Range::between(&older, &newer))?;
        let is_asked = |one: &&CommitId| commits.contains(*one) || **one == older || **one == newer;
        let mut counts = BTreeMap::new();
        for commit in inside.iter().chain([&older]).filter(is_asked) {
            if self.is_aside(commit, search_range)? {
                continue;
            }
            let seen = self.known_runs(commit, &measures)?;
            let recipe = self.oracle.recipes.at(commit)?;
            let heard = VerdictCounts::of(&seen, &search_range.targets, &recipe);
            let [older, newer] = search_range.sides().map(|side| {
                if by_builds { heard.builds_with(side) } else { heard.runs_with(side) }
            });
            if older + newer > 0 {
                counts.insert(commit.clone(), Count { failed: newer, runs: older + newer });
            }
        }
        Ok(counts)
    }

    /// The counted commits that do not descend from `commit`, and those that do.
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

    /// The candidates, and why rates cannot name `commit`, if a side does not fail equally often.
    fn unevenness(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        counts: &BTreeMap<CommitId, Count>,
        sides: &[CountedCommits<'_>],
    ) -> Result<Option<(Vec<CommitId>, String)>, HuntError> {
        for side in sides {
            let pairs: Vec<_> = side.iter().map(|(_, count)| (count.failed, count.runs)).collect();
            if log_odds_of_unevenness(&pairs) <= MOST_UNEVEN {
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
                "commits on one side of {} fail at different rates ({}), so rates cannot name it",
                commit.short(),
                told.join(" and ")
            );
            let among = self.between_steady(search_range, counts)?;
            return Ok(Some(self.with_all_open(search_range, among, &why)?));
        }
        Ok(None)
    }

    /// An end of the search range that is flaky although the hunt's endpoint on that side repeats.
    /// Its failure rate tells nothing about other commits. `ends`: the samples of the range's older
    /// and newer end.
    pub(crate) fn flaky_end(
        &mut self,
        search_range: &SearchRange,
        metric: &Metric,
        ends: &[Vec<f64>; 2],
    ) -> Result<Option<CommitId>, HuntError> {
        let measures = [metric.measure.clone()];
        let whole = self.begun.ends().map(CommitId::clone);
        for ((end, own), samples) in search_range.ends().into_iter().zip(whole).zip(ends) {
            let count: Count = samples.iter().copied().collect();
            if *end == own || count.failed == 0 || count.failed == count.runs {
                continue;
            }
            let seen = self.known_runs(&own, &measures)?;
            if seen.repeats(metric) {
                return Ok(Some(end.clone()));
            }
        }
        Ok(None)
    }

    /// The commits between the newest ones that never fail and the oldest one that always fails.
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
