//! With failure rates, compares each named commit with the newer end, and its parent with the older
//! end. If one of these pairs fails at two rates, another commit made a part of the change.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, GuardTarget, Phase};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::MOST_CERTAIN;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::range::SearchRange;
use crate::hunt::samples::{is_spread, samples};
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::Request;
use crate::search::{chance_of_rise, log_odds_of_unevenness};

use super::uneven::{Count, MOST_UNEVEN};

/// Log Bayes factor below which a pair has one failure rate (4.5 : 1). Commits that fail equally
/// often seldom show more in [`MOST_RUNS`] runs: five of six such pairs show this.
const MOST_EVEN: f64 = -1.5;
/// Minimum number of runs of each commit to say that a pair has one failure rate.
const LEAST_RUNS: usize = 20;
/// Maximum number of runs of each commit. At rates of 30 and 60 %, 60 runs tell two rates in 70 of
/// 100 simulations, and 100 runs in 93.
const MOST_RUNS: usize = 100;
/// The rise of a failure rate that the runs must exclude: 0.2 is 20 percentage points. Equal counts
/// alone do not exclude it: with 10 failures in 20 runs of both, its probability is still 9 %.
const LARGE_RISE: f64 = 0.2;

/// How many failure rates two commits have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RatesOfPair {
    One,
    Two,
    /// The runs do not tell.
    Open,
}

impl RatesOfPair {
    /// `None` while more runs are needed. `counts`: of the good and of the bad side of the pair.
    /// A pair has one rate only if its runs exclude a large rise with this `confidence`.
    fn of(counts: [Count; 2], confidence: f64) -> Option<Self> {
        let odds = log_odds_of_unevenness(&shares(counts));
        let runs = fewest_runs(counts);
        let chance = chance_of_large_rise(counts);
        if odds > MOST_UNEVEN {
            Some(Self::Two)
        } else if odds < MOST_EVEN && runs >= LEAST_RUNS && chance < 1.0 - confidence {
            Some(Self::One)
        } else if runs < MOST_RUNS {
            None
        } else if chance > 0.5 {
            Some(Self::Two)
        } else {
            Some(Self::Open)
        }
    }
}

impl Driver<'_> {
    /// Withdraws a commit that was named by failure rates if it and the newer end fail at two rates,
    /// or if its parent and the older end do. Lowers the confidence in it to what the runs exclude.
    pub(crate) fn compare_rates_with_ends(
        &mut self,
        ledger: &mut Ledger,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        for (commit, search_range) in claims {
            let strategy = SearchStrategy::of(&search_range.targets, self.begun.options.search);
            let Some(target) = strategy.noisy().filter(|target| target.is_rate()) else { continue };
            let mut found = ledger.found().iter().filter(|one| one.stands() && one.among.is_none());
            let found = found.find(|one| one.culprit.info.commit == *commit);
            let Some(parent) = found.map(|one| one.culprit.parent.clone()) else { continue };
            let [older, newer] = self.begun.ends().map(CommitId::clone);
            let mut possible = BTreeSet::from([commit.clone()]);
            let (mut told, mut open) = (Vec::new(), Vec::new());
            let pairs = [[&older, &parent], [commit, &newer]];
            for pair in pairs.into_iter().filter(|[one, other]| one != other) {
                let counts = self.counts_of_pair(pair, search_range, target)?;
                let upwards = search_range.terms.good_and_bad(counts);
                let chance = chance_of_large_rise(upwards);
                match RatesOfPair::of(upwards, self.confidence()) {
                    Some(RatesOfPair::One) => ledger.lower_confidence(commit, 1.0 - chance),
                    Some(RatesOfPair::Two) => {
                        told.push(in_words(pair, counts));
                        let between = Range::between(pair[0], pair[1]);
                        possible.extend(self.oracle.history.commits(&between)?);
                    }
                    Some(RatesOfPair::Open) | None => open.push((chance, in_words(pair, counts))),
                }
            }
            if !told.is_empty() {
                let mut among = self.oracle.history.commits(&self.whole())?;
                among.retain(|one| possible.contains(one));
                let why = format!("{}: another commit changed the rate too", told.join("; "));
                ledger.withdraw(commit, &among, why);
                continue;
            }
            if open.is_empty() {
                ledger.note(format!(
                    "the runs exclude that another commit than {} changed the failure rate by \
                     {:.0} points or more; they do not exclude a smaller change",
                    commit.short(),
                    100.0 * LARGE_RISE
                ));
            }
            for (chance, counted) in open {
                ledger.lower_confidence(commit, MOST_CERTAIN.min(1.0 - chance));
                ledger.note(format!(
                    "the runs do not tell whether another commit than {} changed the failure rate \
                     too: {counted}; the chance that one changed it by {:.0} points or more is \
                     {:.0} %",
                    commit.short(),
                    100.0 * LARGE_RISE,
                    100.0 * chance
                ));
            }
        }
        Ok(())
    }

    /// The configured confidence.
    fn confidence(&self) -> f64 {
        self.oracle.recipes.config.statistics.confidence
    }

    /// The counts of two commits. Runs both in turn until the counts decide; ends before that if a
    /// run cannot be judged, or at a limit.
    fn counts_of_pair(
        &mut self,
        pair: [&CommitId; 2],
        search_range: &SearchRange,
        target: &GuardTarget,
    ) -> Result<[Count; 2], HuntError> {
        let (mut runs, mut counts) = (0, [Count::default(); 2]);
        loop {
            for (count, commit) in counts.iter_mut().zip(pair) {
                *count = match self.count_of(commit, target, runs) {
                    Err(HuntError::Limit(limit)) => {
                        self.limit = Some(limit);
                        return Ok(counts);
                    }
                    count => count?,
                };
            }
            let fewest = fewest_runs(counts);
            let upwards = search_range.terms.good_and_bad(counts);
            if RatesOfPair::of(upwards, self.confidence()).is_some() || fewest < runs {
                return Ok(counts);
            }
            runs = fewest + 1;
        }
    }

    /// The count of a commit after at least `runs` runs.
    fn count_of(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
        runs: usize,
    ) -> Result<Count, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let look = Request::look(commit, &measures, Phase::Search);
        // Repeats are compared with a commit's first run, so that run is no sample.
        let runs = runs + usize::from(is_spread(target));
        let seen = self.oracle.evaluate(Request { runs, ..look })?;
        let recipe = self.oracle.recipes.at(commit)?;
        Ok(samples(&seen, target, &recipe).unwrap_or_default().into_iter().collect())
    }
}

/// The failed runs and all runs of both commits.
fn shares(counts: [Count; 2]) -> [(usize, usize); 2] {
    counts.map(|count| (count.failed, count.runs))
}

/// The probability that the second commit fails more often by [`LARGE_RISE`] or more.
fn chance_of_large_rise(counts: [Count; 2]) -> f64 {
    chance_of_rise(shares(counts), LARGE_RISE)
}

fn fewest_runs(counts: [Count; 2]) -> usize {
    counts[0].runs.min(counts[1].runs)
}

/// How many runs of each of two commits fail, as text for the report.
fn in_words([one, other]: [&CommitId; 2], counts: [Count; 2]) -> String {
    let rate = |commit: &CommitId, count: Count| {
        format!("{} of {} runs of {}", count.failed, count.runs, commit.short())
    };
    format!("{} fail and {}", rate(one, counts[0]), rate(other, counts[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: [[usize; 2]; 2]) -> Option<RatesOfPair> {
        RatesOfPair::of(counts.map(|[failed, runs]| Count { failed, runs }), 0.99)
    }

    #[test]
    fn a_pair_has_one_rate_or_two_or_stays_open() {
        assert_eq!(of([[4, 20], [14, 20]]), Some(RatesOfPair::Two));
        assert_eq!(of([[0, 20], [0, 20]]), Some(RatesOfPair::One));
        assert_eq!(of([[50, 100], [61, 100]]), Some(RatesOfPair::Open));
        // Too few runs of at least one of them.
        assert_eq!(of([[5, 10], [6, 10]]), None);
        assert_eq!(of([[0, 15], [0, 60]]), None);
    }

    #[test]
    fn equal_counts_must_exclude_a_large_rise() {
        assert_eq!(of([[10, 20], [10, 20]]), None);
        assert_eq!(of([[50, 100], [50, 100]]), Some(RatesOfPair::One));
        // A fall is no rise.
        assert_eq!(of([[30, 60], [27, 60]]), Some(RatesOfPair::One));
        assert_eq!(of([[27, 60], [30, 60]]), None);
        // A rise of 20 points is likelier than not.
        assert_eq!(of([[30, 100], [51, 100]]), Some(RatesOfPair::Two));
    }
}
