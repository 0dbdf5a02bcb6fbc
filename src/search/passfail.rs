//! Failure rates of flaky pass/fail metrics.

use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

use crate::stats;

use super::calibration::{CalibrationError, LEAST_PAIRS, MOST_PAIRS};
use super::evidence::Evidence;

/// ln 200: the minimum log Bayes factor of two rates against one common rate.
const DECISIVE: f64 = 5.298;
/// Maximum runs of each endpoint while two rates are likelier than one. At rates of 0 and 20 %,
/// 60 runs decide in 72 of 100 calibrations, and 100 runs in 99.
const MOST_IF_LIKELY: usize = 100;

/// The failure rates of good and bad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Failure rate of good commits, in (0, 1).
    pub good: f64,
    /// Failure rate of bad commits, in (0, 1).
    pub bad: f64,
}

impl Rates {
    /// (failures + ½)/(runs + 1) on each side, the mean of the Jeffreys posterior: neither 0
    /// nor 1, since no number of runs proves that something never happens.
    pub fn of(good: &[f64], bad: &[f64]) -> Self {
        let rate = |x: &[f64]| (x.iter().sum::<f64>() + 0.5) / (x.len() as f64 + 1.0);
        Self { good: rate(good), bad: rate(bad) }
    }

    /// How many of so many runs of an end failed, if [`Self::of`] estimated this rate from them.
    pub(crate) fn failures(rate: f64, runs: usize) -> usize {
        stats::whole((rate * (runs as f64 + 1.0) - 0.5).round(), 0, runs)
    }

    /// ln P(x | bad) − ln P(x | good) of one run; 0 for NaN.
    pub(crate) fn evidence(&self, x: f64) -> f64 {
        if x.is_nan() {
            0.0
        } else if x > 0.5 {
            (self.bad / self.good).ln()
        } else {
            ((1.0 - self.bad) / (1.0 - self.good)).ln()
        }
    }

    /// Maximum runs of a commit: 20 nats divided by the mean information of one run (Kullback and
    /// Leibler 1951), between 12 and 200.
    pub fn most_runs(&self) -> usize {
        let per_run =
            |rate: f64| (rate * self.evidence(1.0) + (1.0 - rate) * self.evidence(0.0)).abs();
        let information = per_run(self.good).min(per_run(self.bad)).max(1e-3);
        stats::whole(20.0 / information, 12, 200)
    }
}

/// The log Beta–Bernoulli marginal likelihood of these failures and passes with Jeffreys' prior:
/// ln B(½ + failures, ½ + passes) − ln B(½, ½).
pub(super) fn ln_rates(seen: Evidence) -> f64 {
    let count = |x: f64| stats::whole(x.round(), 0, usize::MAX);
    let (failures, runs) = (count(seen.sum), count(seen.n));
    let passes = runs.saturating_sub(failures);
    // Γ(n + ½)/Γ(½) = Π (i + ½), and the total's Γ(n + 1) = Π (i + 1).
    let halves = |n: usize| (0..n).map(|i| (i as f64 + 0.5).ln()).sum::<f64>();
    let wholes = (0..runs).map(|i| (i as f64 + 1.0).ln()).sum::<f64>();
    halves(failures) + halves(passes) - wholes
}

/// Calibrates failure rates from equal numbers of runs of good and bad, each 0 or 1, in turn.
///
/// Settled when two rates are 200 times likelier than one (a Bayes factor of Beta–Bernoulli
/// marginals; Kass and Raftery 1995 call 150 very strong) and bad fails more often. Takes up to
/// [`MOST_PAIRS`] runs of each, and more while two rates are likelier than one.
pub(crate) fn calibrate_rates(good: &[f64], bad: &[f64]) -> Result<Rates, CalibrationError> {
    let sum = |x: &[f64]| {
        let mut all = Evidence::default();
        for &x in x {
            all.add(x);
        }
        all
    };
    let (left, right) = (sum(good), sum(bad));
    let pairs = good.len().min(bad.len());
    let rates = Rates::of(good, bad);
    let factor = ln_rates(left) + ln_rates(right) - ln_rates(left.plus(right));
    if pairs >= LEAST_PAIRS && factor >= DECISIVE && rates.bad > rates.good {
        return Ok(rates);
    }
    let is_likely = factor >= 0.0 && rates.bad > rates.good;
    let most = if is_likely { MOST_IF_LIKELY } else { MOST_PAIRS };
    if pairs < most {
        return Err(CalibrationError::More);
    }
    Err(if is_likely {
        CalibrationError::TooNoisy { needed: None }
    } else {
        CalibrationError::NoDifference
    })
}

/// The smallest failure rate that this many runs without a failure exclude with this confidence:
/// 1 − (1 − confidence)^(1/runs).
pub(crate) fn excluded_rate(runs: usize, confidence: f64) -> f64 {
    1.0 - (1.0 - confidence).powf(1.0 / runs.max(1) as f64)
}

/// The smallest failure rate that this many failed runs exclude with this confidence (Clopper and
/// Pearson 1934), in whole percent: then so few failures are less likely than 1 − confidence.
pub(crate) fn excluded_rate_above(failed: usize, runs: usize, confidence: f64) -> f64 {
    if failed >= runs {
        return 1.0;
    }
    let [more, passed] = [failed + 1, runs - failed].map(|count| count as f64);
    let mut rates = (1_u32..100).map(|percent| f64::from(percent) / 100.0);
    rates.find(|rate| beta_reg(more, passed, *rate) >= confidence).unwrap_or(1.0)
}

/// How many runs without a failure exclude this failure rate with this confidence.
pub(crate) fn runs_to_exclude(rate: f64, confidence: f64) -> usize {
    stats::whole((1.0 - confidence).ln() / (1.0 - rate).ln(), 1, MOST_PAIRS)
}

/// How many runs exclude this failure rate with this confidence if `failed` of them fail.
pub(crate) fn runs_to_exclude_above(failed: usize, rate: f64, confidence: f64) -> usize {
    let excludes = |runs: &usize| excluded_rate_above(failed, *runs, confidence) <= rate;
    (failed..=MOST_PAIRS).find(excludes).unwrap_or(MOST_PAIRS)
}

/// How many runs without a failure, at most `most`, tell that a failure is gone which `failed` of
/// `runs` runs showed before. If one rate gave both, so many failures before and none after have a
/// probability of at most 1 − confidence, whatever the rate: the maximum over p of
/// P(X ≥ failed | runs, p) · (1 − p)ⁿ. In steps of one percent.
pub(crate) fn runs_to_tell_absence(
    failed: usize,
    runs: usize,
    confidence: f64,
    most: usize,
) -> usize {
    if failed == 0 {
        return most;
    }
    let failed = failed.min(runs);
    let [failures, others] = [failed, runs - failed + 1].map(|count| count as f64);
    let chance = |after: usize, percent: u32| {
        let rate = f64::from(percent) / 100.0;
        beta_reg(failures, others, rate) * (1.0 - rate).powf(after as f64)
    };
    let tells = |after: &usize| (1..100).all(|percent| chance(*after, percent) <= 1.0 - confidence);
    (1..most).find(tells).unwrap_or(most)
}

#[cfg(test)]
mod tests;
