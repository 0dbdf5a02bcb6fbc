//! With failure rates, compares each named commit with the newer end, and its parent with the older
//! end. If one of these pairs fails at two rates, another commit made a part of the change.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, GuardTarget, Phase};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::range::SearchRange;
use crate::hunt::samples::{is_spread, samples};
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::Request;
use crate::search::log_odds_of_unevenness;

use super::uneven::{Count, MOST_UNEVEN};

/// Log Bayes factor below which a pair has one failure rate (4.5 : 1). Commits that fail equally
/// often seldom show more in [`MOST_RUNS`] runs: five of six such pairs show this.
const MOST_EVEN: f64 = -1.5;
/// Minimum number of runs of each commit to say that a pair has one failure rate.
const LEAST_RUNS: usize = 20;
/// Maximum number of runs of each commit.
const MOST_RUNS: usize = 60;
/// Maximum confidence in a commit if the runs do not tell whether a pair has one failure rate.
const MOST_CERTAIN: f64 = 0.98;

/// How many failure rates two commits have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RatesOfPair {
    One,
    Two,
    /// The runs do not tell.
    Open,
}

impl RatesOfPair {
    /// `None` while more runs are needed.
    fn of(counts: [Count; 2]) -> Option<Self> {
        let odds = log_odds_of_unevenness(&counts.map(|count| (count.failed, count.runs)));
        let runs = fewest_runs(counts);
        if odds > MOST_UNEVEN {
            Some(Self::Two)
        } else if odds < MOST_EVEN && runs >= LEAST_RUNS {
            Some(Self::One)
        } else {
            (runs >= MOST_RUNS).then_some(Self::Open)
        }
    }
}

impl Driver<'_> {
    /// Withdraws a commit that was named by failure rates if it and the newer end fail at two rates,
    /// or if its parent and the older end do. Lowers the confidence in it if the runs do not tell.
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
            let (mut told, mut is_open) = (Vec::new(), false);
            let pairs = [[&older, &parent], [commit, &newer]];
            for pair in pairs.into_iter().filter(|[one, other]| one != other) {
                let counts = match self.counts_of_pair(pair, target) {
                    Err(HuntError::Limit(limit)) => {
                        self.limit = Some(limit);
                        is_open = true;
                        continue;
                    }
                    counts => counts?,
                };
                match RatesOfPair::of(counts) {
                    Some(RatesOfPair::One) => {}
                    Some(RatesOfPair::Two) => {
                        told.push(in_words(pair, counts));
                        let between = Range::between(pair[0], pair[1]);
                        possible.extend(self.oracle.history.commits(&between)?);
                    }
                    Some(RatesOfPair::Open) | None => is_open = true,
                }
            }
            if !told.is_empty() {
                let mut among = self.oracle.history.commits(&self.whole())?;
                among.retain(|one| possible.contains(one));
                let why = format!("{}: another commit changed the rate too", told.join("; "));
                ledger.withdraw(commit, &among, why);
            } else if is_open {
                ledger.lower_confidence(commit, MOST_CERTAIN);
                ledger.note(format!(
                    "the runs do not tell whether another commit than {} changed the failure rate \
                     too",
                    commit.short()
                ));
            }
        }
        Ok(())
    }

    /// The counts of two commits. Runs both in turn until the counts decide; ends before that if a
    /// run cannot be judged.
    fn counts_of_pair(
        &mut self,
        pair: [&CommitId; 2],
        target: &GuardTarget,
    ) -> Result<[Count; 2], HuntError> {
        let mut runs = 0;
        loop {
            let mut counts = [Count::default(); 2];
            for (count, commit) in counts.iter_mut().zip(pair) {
                *count = self.count_of(commit, target, runs)?;
            }
            let fewest = fewest_runs(counts);
            if RatesOfPair::of(counts).is_some() || fewest < runs {
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

    #[test]
    fn a_pair_has_one_rate_or_two_or_stays_open() {
        let of = |counts: [[usize; 2]; 2]| {
            RatesOfPair::of(counts.map(|[failed, runs]| Count { failed, runs }))
        };
        assert_eq!(of([[4, 20], [14, 20]]), Some(RatesOfPair::Two));
        assert_eq!(of([[0, 20], [0, 20]]), Some(RatesOfPair::One));
        assert_eq!(of([[30, 60], [38, 60]]), Some(RatesOfPair::Open));
        // Too few runs of at least one of them.
        assert_eq!(of([[5, 10], [6, 10]]), None);
        assert_eq!(of([[0, 15], [0, 60]]), None);
    }
}
