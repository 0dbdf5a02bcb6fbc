//! Counts of a commit's runs by their verdicts.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::evaluation::{Target, Verdict};
use crate::hunt::run_verdicts::verdict_of_run;
use crate::oracle::Observation;

/// Counts for one commit: runs on its side, their builds, and strays (runs on the other side).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) runs: usize,
    pub(super) builds: usize,
    pub(super) strays: usize,
}

/// How many runs of a commit are good and bad, and their builds. The measure with the fewest runs
/// sets the number of runs.
#[derive(Debug, Default)]
pub(crate) struct VerdictCounts<'a> {
    good: usize,
    bad: usize,
    /// The builds of the good and of the bad runs.
    built: [BTreeSet<&'a str>; 2],
}

impl<'a> VerdictCounts<'a> {
    pub(crate) fn of(known: &'a Observation, targets: &[Target], config: &Config) -> Self {
        let runs = known.fewest_runs();
        let mut heard = Self::default();
        for run in 0..runs {
            let (count, side) = match verdict_of_run(known, run, targets, config).verdict {
                Verdict::Good => (&mut heard.good, 0),
                Verdict::Bad => (&mut heard.bad, 1),
                Verdict::Skip | Verdict::Unknown => continue,
            };
            *count += 1;
            let samples = known.samples.values().filter_map(|samples| samples.get(run));
            heard.built[side].extend(samples.map(|sample| sample.built.as_str()));
        }
        heard
    }

    /// How many runs have this verdict; 0 for skip and unknown.
    pub(crate) fn runs_with(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Good => self.good,
            Verdict::Bad => self.bad,
            Verdict::Skip | Verdict::Unknown => 0,
        }
    }

    /// How many builds gave a run with this verdict, at most one for each such run.
    pub(crate) fn builds_with(&self, verdict: Verdict) -> usize {
        let builds = match verdict {
            Verdict::Good => self.built[0].len(),
            Verdict::Bad => self.built[1].len(),
            Verdict::Skip | Verdict::Unknown => 0,
        };
        builds.min(self.runs_with(verdict))
    }

    /// The sum of two counts: of the whole text and of its beginning.
    pub(super) fn with(mut self, other: Self) -> Self {
        self.good += other.good;
        self.bad += other.bad;
        for (own, more) in self.built.iter_mut().zip(other.built) {
            own.extend(more);
        }
        self
    }

    /// The verdict of most runs, and the counts.
    pub(super) fn count(self) -> (Verdict, Seen) {
        let Self { good, bad, built } = self;
        let [of_good, of_bad] = built.map(|builds| builds.len());
        let (verdict, builds) = match good.cmp(&bad) {
            std::cmp::Ordering::Greater => (Verdict::Good, of_good),
            std::cmp::Ordering::Less => (Verdict::Bad, of_bad),
            std::cmp::Ordering::Equal => (Verdict::Unknown, of_good.max(of_bad)),
        };
        let runs = good.max(bad);
        (verdict, Seen { runs, builds: builds.min(runs), strays: good.min(bad) })
    }
}
