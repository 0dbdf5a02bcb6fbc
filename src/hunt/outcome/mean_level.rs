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

    /// The same without the first `stored` runs that gave a number: of at least `runs` runs after
    /// them.
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
