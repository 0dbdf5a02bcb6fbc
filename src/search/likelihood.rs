//! The likelihood of samples under two levels, or under two failure rates.

use super::Levels;
use super::evidence::Evidence;
use super::passfail::ln_rates;

/// Weight of the calibrated noise, in samples (ν₀).
const PRIOR_SAMPLES: f64 = 1.0;

/// The model of the samples on both sides of a split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likelihood {
    /// Normal noise of unknown size about two unknown levels.
    Normal {
        /// The calibrated levels, for winsorising, and the expected noise.
        levels: Levels,
        /// Number of samples at 0 that fix the good level in a paired search: the pairs of the
        /// calibration.
        pinned: f64,
    },
    /// Each sample is 0 (passes) or 1 (fails), at two unknown rates.
    PassFail,
}

impl Likelihood {
    /// A sample as it is added to the sums.
    pub fn prepared(&self, x: f64) -> f64 {
        match self {
            // Centred, so that squares keep their precision.
            Self::Normal { levels, .. } => {
                levels.winsorise(x) - f64::midpoint(levels.good, levels.bad)
            }
            Self::PassFail => x,
        }
    }

    /// The fixed samples of the good endpoint.
    pub fn pinned(&self) -> Evidence {
        match self {
            Self::Normal { levels, pinned } if *pinned > 0.0 => {
                let zero = -f64::midpoint(levels.good, levels.bad);
                Evidence { n: *pinned, sum: pinned * zero, squares: pinned * zero * zero }
            }
            _ => Evidence::default(),
        }
    }

    /// The log likelihood, up to a constant, if `left` is good and `right` is bad. `None` if that
    /// is impossible: both sides need samples, and bad must be worse.
    ///
    /// Levels and noise are integrated out. Normal noise, with flat priors of the levels and a
    /// scaled inverse χ² prior of the variance (ν₀ = 1):
    /// −½ ln n_L − ½ ln n_R − ½(n − 2 + ν₀) ln(SS_L + SS_R + ν₀s²)
    /// (Gelman et al., Bayesian Data Analysis, 3rd ed., §3.2); n leaves out the pinned samples.
    /// Pass/fail: two Beta–Bernoulli marginals with Jeffreys' prior.
    pub fn ln(&self, left: Evidence, right: Evidence) -> Option<f64> {
        if left.n <= 0.0 || right.n <= 0.0 || right.mean() <= left.mean() {
            return None;
        }
        let ln = match self {
            Self::Normal { levels, pinned } => {
                let n = left.n + right.n - pinned;
                let squares = left.about_mean() + right.about_mean();
                let spread = squares.max(1e-12 * levels.step().powi(2))
                    + PRIOR_SAMPLES * levels.sd * levels.sd;
                -0.5 * left.n.ln()
                    - 0.5 * right.n.ln()
                    - 0.5 * (n - 2.0 + PRIOR_SAMPLES) * spread.ln()
            }
            Self::PassFail => ln_rates(left) + ln_rates(right),
        };
        // The squares of very large values overflow.
        ln.is_finite().then_some(ln)
    }
}

#[cfg(test)]
mod tests;
