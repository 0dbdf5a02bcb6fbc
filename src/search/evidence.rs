//! What the samples of some commits say together, and how likely they are on two levels.

use super::Levels;
use super::passfail::ln_rates;

/// Weight of the noise that calibration found, in samples (ν₀).
const PRIOR_SAMPLES: f64 = 1.0;

/// Samples as their sums, which is all a likelihood needs: their order never matters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// How many.
    pub n: f64,
    /// Σx.
    pub sum: f64,
    /// Σx².
    pub squares: f64,
}

impl Evidence {
    /// Adds a sample.
    pub fn add(&mut self, x: f64) {
        self.n += 1.0;
        self.sum += x;
        self.squares += x * x;
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    /// What is left of the whole without a part of it.
    #[must_use]
    pub fn minus(self, part: Self) -> Self {
        Self { n: self.n - part.n, sum: self.sum - part.sum, squares: self.squares - part.squares }
    }

    fn mean(&self) -> f64 {
        self.sum / self.n
    }

    /// Σ(x − mean)².
    fn about_mean(&self) -> f64 {
        (self.squares - self.sum * self.sum / self.n).max(0.0)
    }
}

/// How samples left and right of a split are weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likelihood {
    /// Normal noise about two unknown levels, of unknown size.
    Normal {
        /// Where samples are moved to, and what noise is expected.
        levels: Levels,
        /// Samples that stand for no measurement: a paired search holds good at 0 with as many
        /// as calibration had pairs.
        pinned: f64,
    },
    /// Each sample is 0 (passes) or 1 (fails), at two unknown rates.
    PassFail,
}

impl Likelihood {
    /// A sample as it counts.
    pub fn prepared(&self, x: f64) -> f64 {
        match self {
            // The middle is taken off, so that squares keep their digits.
            Self::Normal { levels, .. } => {
                levels.winsorise(x) - f64::midpoint(levels.good, levels.bad)
            }
            Self::PassFail => x,
        }
    }

    /// What is known of the good endpoint besides its samples.
    pub fn pinned(&self) -> Evidence {
        match self {
            Self::Normal { levels, pinned } if *pinned > 0.0 => {
                let zero = -f64::midpoint(levels.good, levels.bad);
                Evidence { n: *pinned, sum: pinned * zero, squares: pinned * zero * zero }
            }
            _ => Evidence::default(),
        }
    }

    /// The log of the samples' likelihood where `left` are good and `right` are bad, up to a
    /// constant; `None` where it is impossible: bad must be worse than good.
    ///
    /// Levels and noise are integrated out: for normal noise under flat levels and a scaled
    /// inverse χ² of ν₀ = 1,
    /// −½ ln n_L − ½ ln n_R − ½(n − 2 + ν₀) ln(SS_L + SS_R + ν₀s²)
    /// (Gelman et al., Bayesian Data Analysis, 3rd ed., §3.2); for pass/fail two Beta–Bernoulli
    /// marginals with Jeffreys' prior.
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
        // Squares of what no engine measures overflow, and explain nothing.
        ln.is_finite().then_some(ln)
    }
}

#[cfg(test)]
mod tests;
