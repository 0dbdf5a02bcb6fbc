//! Judges one commit separately with Wald's sequential test between the two measured levels.

use crate::stats;

use super::{Levels, Rates};

/// The side to which a commit belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The good side.
    Good,
    /// The bad side.
    Bad,
}

/// The decision from the samples so far, in the order of the runs. `None` while neither level is
/// likely enough.
///
/// Compares Σ (μb − μg)(x − (μg + μb)/2)/s², over winsorised samples, with ± ln((1 − error)/error)
/// (Wald 1945). `error`: the allowed probability of either error. A hunt with 1 % error over N
/// commits allows 0.01/⌈log₂ N⌉ per commit.
pub fn sequential(samples: &[f64], levels: &Levels, error: f64) -> Option<Side> {
    let wanted = ((1.0 - error) / error).ln();
    let mut sum = 0.0;
    // NaN is no evidence.
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

/// The sequential test between two failure rates; samples are 0 or 1.
pub(crate) fn sequential_rates(samples: &[f64], rates: &Rates, error: f64) -> Option<Side> {
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

/// Maximum runs of a commit: max(12, ⌈55/d²⌉), at most 1000.
pub fn most_runs(levels: &Levels) -> usize {
    let d = levels.distance();
    stats::whole(55.0 / (d * d), 12, 1000)
}

/// The failure rates between which a commit is judged if a sought failure comes and goes there: of
/// a good commit, where only the machine causes it, and of a commit with the defect.
const MIXED: Rates = Rates { good: 0.05, bad: 0.5 };
/// The allowed probability of either error at such a commit.
const MIXED_ERROR: f64 = 0.01;
/// Maximum runs of such a commit. Most need 5 to 12.
pub(crate) const MOST_MIXED_RUNS: usize = 24;

/// The side of a commit at which a sought failure comes and goes; samples are 0 or 1. `None` if the
/// runs do not tell.
///
/// The commit is bad as soon as its first runs say so, however many others follow. It is good only
/// by all its runs: one failure takes 11 runs without one.
pub(crate) fn side_of_mixed(samples: &[f64]) -> Option<Side> {
    let wanted = ((1.0 - MIXED_ERROR) / MIXED_ERROR).ln();
    let mut sum = 0.0;
    for &x in samples {
        sum += MIXED.evidence(x);
        if sum >= wanted {
            return Some(Side::Bad);
        }
    }
    (sum <= -wanted).then_some(Side::Good)
}

#[cfg(test)]
mod tests;
