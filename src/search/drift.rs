//! Whether the machine drifts under a search: the good endpoint, run again now and then.

use super::Levels;

/// Runs between two looks.
const EVERY: usize = 8;
/// Weight of the newest look in the moving average.
const WEIGHT: f64 = 0.4;
/// One look counts no more than this many standard deviations.
const CLIP: f64 = 4.0;
/// From here on the good endpoint no longer measures what it did.
const DRIFTED: f64 = 1.5;

/// An exponentially weighted moving average of how far the good endpoint strays from its level
/// (Roberts 1959).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    average: f64,
    last_look: usize,
}

impl Drift {
    /// Watching from this run on.
    pub fn since(runs: usize) -> Self {
        Self { average: 0.0, last_look: runs }
    }

    /// Whether to look again after so many runs.
    pub fn is_due(&self, runs: usize) -> bool {
        runs >= self.last_look + EVERY
    }

    /// A run of the good endpoint; true when it says that the machine has drifted.
    pub fn look(&mut self, x: f64, levels: &Levels, runs: usize) -> bool {
        self.last_look = runs;
        let z = if levels.sd > 0.0 { (x - levels.good) / levels.sd } else { 0.0 };
        self.average = (1.0 - WEIGHT) * self.average + WEIGHT * z.clamp(-CLIP, CLIP);
        self.average.abs() > DRIFTED
    }
}

#[cfg(test)]
mod tests;
