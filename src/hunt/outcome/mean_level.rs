//! The level of a commit in noise, and how far two such levels may differ by chance.

use crate::evaluation::{CommitId, GuardTarget, Metric, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Request;
use crate::stats;

use super::level::in_its_unit;

/// A difference is clear if it is this many standard errors from its limit.
pub(super) const SURE: f64 = 2.0;

/// Where levels vary: maximum number of runs of each commit whose levels are compared.
pub(super) const MOST_RUNS: usize = 24;

/// How the difference between two levels compares with the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Surely at most the tolerance.
    Within,
    /// Surely more.
    Beyond,
    /// Not clear yet.
    Open,
}

impl Rest {
    /// `rest`: how much worse the second level is than the first one, beyond what is allowed;
    /// `error`: [`SURE`] standard errors of `rest`.
    pub(crate) fn of([rest, error]: [f64; 2]) -> Self {
        if rest > error {
            Self::Beyond
        } else if rest <= -error {
            Self::Within
        } else {
            Self::Open
        }
    }
}

/// The winsorised mean of a commit's runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeanLevel {
    /// The mean, in the metric's unit.
    pub(crate) value: f64,
    /// How many runs gave a number; at least 1.
    pub(crate) runs: usize,
}

impl MeanLevel {
    /// The level of these numbers without the first `stored` ones; `None` if none is left.
    pub(crate) fn of(mut numbers: Vec<f64>, stored: usize) -> Option<Self> {
        numbers.drain(..stored.min(numbers.len()));
        let mean = stats::winsorised_mean(&numbers);
        mean.map(|value| Self { value, runs: numbers.len() })
    }

    /// This many standard errors of the difference between two levels, in the metric's unit; 0
    /// without noise.
    pub(super) fn error(target: &GuardTarget, levels: [Self; 2], errors: f64) -> f64 {
        let sd = target.noise.map_or(0.0, |noise| noise.sd);
        let variance: f64 = levels.iter().map(|level| 1.0 / level.runs as f64).sum();
        in_its_unit(target, errors * sd * variance.sqrt())
    }

    /// How much worse the second level is than the first one, beyond the tolerance, and [`SURE`]
    /// standard errors of the difference. Both in the metric's unit.
    pub(crate) fn beyond_tolerance(target: &GuardTarget, levels: [Self; 2]) -> [f64; 2] {
        let worse = target.guard.worsening(levels[0].value, levels[1].value);
        [worse - target.limit.max(0.0), Self::error(target, levels, SURE)]
    }
}

/// Whether the target's values differ from run to run, and its levels can be compared from commit
/// to commit: no failure rates, no pairs of runs.
pub(crate) fn has_noisy_levels(target: &GuardTarget) -> bool {
    target.noise.is_some_and(|noise| noise.has_levels())
}

/// As [`has_noisy_levels`], and without machine drift.
pub(super) fn has_varying_levels(target: &GuardTarget) -> bool {
    has_noisy_levels(target) && !target.may_drift()
}

impl Driver<'_> {
    /// The level of a commit after at least `runs` runs; with 0, of the stored runs. `None` if no
    /// run gave a number.
    pub(super) fn mean_level(
        &mut self,
        commit: &CommitId,
        metric: &Metric,
        runs: usize,
    ) -> Result<Option<MeanLevel>, HuntError> {
        self.mean_level_after(commit, metric, 0, runs)
    }

    /// As [`Self::mean_level`], but without the first `stored` numbers of the commit. Makes runs
    /// until the commit has at least `stored + runs` runs.
    pub(crate) fn mean_level_after(
        &mut self,
        commit: &CommitId,
        metric: &Metric,
        stored: usize,
        runs: usize,
    ) -> Result<Option<MeanLevel>, HuntError> {
        let measures = [metric.measure.clone()];
        let look = Request::look(commit, &measures, Phase::Search);
        let seen = self.oracle.evaluate(Request { runs: stored + runs, ..look })?;
        Ok(MeanLevel::of(seen.numbers(metric), stored))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_clear_once_its_error_does_not_reach_the_tolerance() {
        assert_eq!(Rest::of([-3.0, 2.0]), Rest::Within);
        assert_eq!(Rest::of([2.5, 2.0]), Rest::Beyond);
        assert_eq!(Rest::of([1.0, 2.0]), Rest::Open);
        assert_eq!(Rest::of([-1.0, 2.0]), Rest::Open);
        // Nothing varies.
        assert_eq!(Rest::of([0.0, 0.0]), Rest::Within);
    }
}
