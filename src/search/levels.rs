//! The levels of good and bad, and the noise of one run.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::stats;

/// Effect size from which one or two runs separate two levels. Git may then choose the commits, and
/// each commit is judged separately.
pub(crate) const WELL_APART: f64 = 5.0;

/// Samples are clipped this many standard deviations beyond the levels.
const REACH: f64 = 2.5;

/// The levels of good and bad, and the noise, on the oriented scale (larger is worse).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    /// Mean of the good side; 0 if samples are differences to the good endpoint.
    pub good: f64,
    /// Mean of the bad side.
    pub bad: f64,
    /// Standard deviation of one sample.
    pub sd: f64,
}

impl Levels {
    /// Bad minus good.
    pub fn step(&self) -> f64 {
        self.bad - self.good
    }

    /// The effect size d: the step in standard deviations of one run.
    pub fn distance(&self) -> f64 {
        if self.sd > 0.0 { self.step() / self.sd } else { f64::INFINITY }
    }

    /// A sample clipped to 2.5 standard deviations beyond the levels, so that one disturbed run
    /// does not dominate. NaN stays NaN.
    pub(crate) fn winsorise(&self, x: f64) -> f64 {
        let reach = REACH * self.sd;
        if x.is_nan() { x } else { x.max(self.good - reach).min(self.bad + reach) }
    }

    /// ln P(x | bad) − ln P(x | good) of a winsorised sample in normal noise.
    pub(super) fn evidence(&self, x: f64) -> f64 {
        let beyond = self.winsorise(x) - f64::midpoint(self.good, self.bad);
        evidence(self.step(), beyond, self.sd)
    }

    /// New levels and noise, from samples with a clear side. A side without samples keeps its
    /// level. In a paired search good is 0 by definition.
    pub(super) fn refreshed(&self, good: &[f64], bad: &[f64], is_paired: bool) -> Self {
        let level = |samples: &[f64], old: f64| stats::winsorised_mean(samples).unwrap_or(old);
        let groups: &[&[f64]] = &[good, bad];
        let sides = if is_paired { 1 } else { 2 };
        let is_enough = good.len() + bad.len() >= sides + 2;
        // The deviations are from each side's own mean, although a paired search fixes good at 0.
        let sd = stats::winsorised_sd(groups).filter(|sd| is_enough && *sd > 0.0);
        Self {
            good: if is_paired { self.good } else { level(good, self.good) },
            bad: level(bad, self.bad),
            sd: sd.unwrap_or(self.sd),
        }
    }
}

/// The log likelihood ratio of bad against good: step · beyond / sd², with `beyond` the sample
/// minus the middle of both levels. Without noise: infinite for the sample's side, and 0 in the
/// middle or for NaN.
pub(super) fn evidence(step: f64, beyond: f64, sd: f64) -> f64 {
    if sd > 0.0 {
        return step * beyond / (sd * sd);
    }
    match beyond.partial_cmp(&0.0) {
        Some(Ordering::Greater) => f64::INFINITY,
        Some(Ordering::Less) => f64::NEG_INFINITY,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests;
