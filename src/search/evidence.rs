//! Sums of samples, from which every likelihood is computed.

/// Sums of samples. A likelihood needs nothing else, and their order never matters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Number of samples.
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

    /// The sums of both sets of samples.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    /// The sums without a part of the samples.
    #[must_use]
    pub(crate) fn minus(self, part: Self) -> Self {
        Self { n: self.n - part.n, sum: self.sum - part.sum, squares: self.squares - part.squares }
    }

    /// The mean; NaN without samples.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.n
    }

    /// Σ(x − mean)².
    pub(super) fn about_mean(&self) -> f64 {
        (self.squares - self.sum * self.sum / self.n).max(0.0)
    }
}
