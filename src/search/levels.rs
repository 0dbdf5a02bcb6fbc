//! What good and bad measure, and how far one run strays.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::stats;

/// From this distance on two levels part within a run or two, so that git may choose the
/// commits and each is settled by itself.
pub const WELL_APART: f64 = 5.0;

/// How far beyond a level a sample counts, in standard deviations.
const REACH: f64 = 2.5;

/// The level at good, at bad, and the noise, on the oriented scale (bad is larger).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    /// Mean of the good side; 0 where samples are differences to the good endpoint.
    pub good: f64,
    /// Mean of the bad side.
    pub bad: f64,
    /// Standard deviation of one sample.
    pub sd: f64,
}

impl Levels {
    /// How much worse bad is.
    pub fn step(&self) -> f64 {
        self.bad - self.good
    }

    /// Effect over noise of one run, d.
    pub fn distance(&self) -> f64 {
        if self.sd > 0.0 { self.step() / self.sd } else { f64::INFINITY }
    }

    /// A sample moved to within 2.5 standard deviations of the levels: one run that was
    /// disturbed says no more than one that lies well on its side. What is no number stays none.
    pub fn winsorise(&self, x: f64) -> f64 {
        let reach = REACH * self.sd;
        if x.is_nan() { x } else { x.max(self.good - reach).min(self.bad + reach) }
    }

    /// ln P(x | bad) − ln P(x | good) of a sample in normal noise, winsorised.
    pub(super) fn evidence(&self, x: f64) -> f64 {
        let beyond = self.winsorise(x) - f64::midpoint(self.good, self.bad);
        evidence(self.step(), beyond, self.sd)
    }

    /// The levels anew, from samples whose side is beyond doubt; what there is none of stays as
    /// it was. In a paired search good is 0 by definition.
    pub(super) fn refreshed(&self, good: &[f64], bad: &[f64], is_paired: bool) -> Self {
        let level = |samples: &[f64], old: f64| stats::winsorised_mean(samples).unwrap_or(old);
        let groups: &[&[f64]] = &[good, bad];
        let sides = if is_paired { 1 } else { 2 };
        let is_enough = good.len() + bad.len() >= sides + 2;
        // Differences to the good endpoint stray about 0, whatever their mean is today.
        let sd = stats::winsorised_sd(groups).filter(|sd| is_enough && *sd > 0.0);
        Self {
            good: if is_paired { self.good } else { level(good, self.good) },
            bad: level(bad, self.bad),
            sd: sd.unwrap_or(self.sd),
        }
    }
}

/// The log likelihood ratio of a step against none, where a sample lies `beyond` the middle
/// between the two: step · beyond / sd². Without noise every sample is proof of its side; one
/// in the very middle, or no number, is on neither.
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
