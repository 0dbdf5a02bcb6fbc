//! Detects machine drift during a search from repeated runs of the good endpoint.

use super::Levels;

/// Whether the machine may move a metric's level during a hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftPrior {
    /// There is no level that could drift.
    Never,
    /// Drift would be a surprise, as with a perplexity in noise. Only the endpoints' own runs are
    /// checked: during the search, a false alarm would cost all samples so far.
    Unlikely,
    /// The machine's speed changes, and the metric changes with it.
    Likely,
}

/// Runs between two checks.
const EVERY: usize = 8;
/// Weight of the newest check in the moving average.
const WEIGHT: f64 = 0.4;
/// Maximum deviation of one check, in standard deviations.
const CLIP: f64 = 4.0;
/// The machine drifted if the average exceeds this, in standard deviations.
const DRIFTED: f64 = 1.5;

/// An exponentially weighted moving average of the good endpoint's deviation from its level, in
/// standard deviations (Roberts 1959).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Drift {
    average: f64,
    last_look: usize,
}

impl Drift {
    /// Starts after this many runs.
    pub(crate) fn since(runs: usize) -> Self {
        Self { average: 0.0, last_look: runs }
    }

    /// Whether the next check is due after this many runs.
    pub(crate) fn is_due(&self, runs: usize) -> bool {
        runs >= self.last_look + EVERY
    }

    /// Adds a run of the good endpoint; true if the machine has drifted.
    pub(crate) fn look(&mut self, x: f64, levels: &Levels, runs: usize) -> bool {
        self.last_look = runs;
        let z = if levels.sd > 0.0 { (x - levels.good) / levels.sd } else { 0.0 };
        self.average = (1.0 - WEIGHT) * self.average + WEIGHT * z.clamp(-CLIP, CLIP);
        self.average.abs() > DRIFTED
    }
}

#[cfg(test)]
mod tests;
