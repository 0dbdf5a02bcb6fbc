//! One commit settled by itself: Wald's sequential test between the two measured levels.

use crate::stats;

use super::{Levels, Rates};

/// Which level a commit's runs lie at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Good's.
    Good,
    /// Bad's.
    Bad,
}

/// Decides after as few runs as `error` allows, in the order they were made; `None` while
/// neither level is likely enough.
///
/// Σ (μb − μg)(x − (μg + μb)/2)/s² against ± ln((1 − error)/error) (Wald 1945), each sample
/// winsorised. `error` is the probability of either mistake; a hunt of 1 % over N commits
/// allows each 0.01/⌈log₂ N⌉.
pub fn sequential(samples: &[f64], levels: &Levels, error: f64) -> Option<Side> {
    let wanted = ((1.0 - error) / error).ln();
    let mut sum = 0.0;
    // What is no number says nothing.
    for &x in samples.iter().filter(|x| !x.is_nan()) {
        sum += levels.evidence(x);
        if sum >= wanted {
            return Some(Side::Bad);
        }
        if sum <= -wanted {
            return Some(Side::Good);
        }
    }
    None
}

/// The same between two rates of failure; samples are 0 or 1.
pub fn sequential_rates(samples: &[f64], rates: &Rates, error: f64) -> Option<Side> {
    let wanted = ((1.0 - error) / error).ln();
    let mut sum = 0.0;
    for &x in samples {
        sum += rates.evidence(x);
        if sum.abs() >= wanted {
            return Some(if sum > 0.0 { Side::Bad } else { Side::Good });
        }
    }
    None
}

/// Runs after which a commit between the levels has said what it can: max(12, ⌈55/d²⌉).
pub fn most_runs(levels: &Levels) -> usize {
    let d = levels.distance();
    stats::whole(55.0 / (d * d), 12, 1000)
}

#[cfg(test)]
mod tests;
