//! The level of a commit in noise, and how far two such levels may differ by chance.

use crate::evaluation::{CommitId, GuardTarget, Metric, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Request;
use crate::stats;

use super::level::in_its_unit;

/// The winsorised mean of a commit's runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanLevel {
    /// The mean, in the metric's unit.
    pub(super) value: f64,
    /// How many runs gave a number; at least 1.
    pub(super) runs: usize,
}

impl MeanLevel {
    /// This many standard errors of the difference between two levels, in the metric's unit; 0
    /// without noise.
    pub(super) fn error(target: &GuardTarget, levels: [Self; 2], errors: f64) -> f64 {
        let sd = target.noise.map_or(0.0, |noise| noise.sd);
        let variance: f64 = levels.iter().map(|level| 1.0 / level.runs as f64).sum();
        in_its_unit(target, errors * sd * variance.sqrt())
    }

    /// How much worse the second level is than the first one, beyond the tolerance, and this many
    /// standard errors of the difference. Both in the metric's unit.
    pub(super) fn beyond_tolerance(
        target: &GuardTarget,
        levels: [Self; 2],
        errors: f64,
    ) -> [f64; 2] {
        let worse = target.guard.worsening(levels[0].value, levels[1].value);
        [worse - target.limit.max(0.0), Self::error(target, levels, errors)]
    }
}

/// Whether the target's values differ from run to run, and its levels can be compared from commit
/// to commit: no failure rates, no pairs of runs.
pub(super) fn has_noisy_levels(target: &GuardTarget) -> bool {
    target.noise.is_some_and(|noise| noise.has_levels())
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
    pub(super) fn mean_level_after(
        &mut self,
        commit: &CommitId,
        metric: &Metric,
        stored: usize,
        runs: usize,
    ) -> Result<Option<MeanLevel>, HuntError> {
        let measures = [metric.measure.clone()];
        let look = Request::look(commit, &measures, Phase::Search);
        let seen = self.oracle.evaluate(Request { runs: stored + runs, ..look })?;
        let mut numbers = seen.numbers(metric);
        numbers.drain(..stored.min(numbers.len()));
        let mean = stats::winsorised_mean(&numbers);
        Ok(mean.map(|value| MeanLevel { value, runs: numbers.len() }))
    }
}
