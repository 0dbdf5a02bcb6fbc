//! Confirmation: takes fresh runs of a commit and its parent in turn, until a step between the two
//! is confirmed or rejected.

use crate::stats;

use super::passfail::Rates;
use super::{Levels, Side, levels};

/// Maximum evidence of one pair, in nats, so that a disturbed run cannot decide.
const CLIP: f64 = 3.9;
/// Maximum number of pairs: this multiple of the number that the step needs on average, plus six.
const MAX_PAIRS_FACTOR: f64 = 6.0;

/// The evidence that a confidence of 1 − α needs: ln((1 − α/2)/(α/2)), in nats; ln 199 at 0.99.
/// The search uses the other half of α.
fn evidence_wanted(confidence: f64) -> f64 {
    let half = (1.0 - confidence) / 2.0;
    ((1.0 - half) / half).ln()
}

/// The hypothesis of a confirmation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A step of this size, with this noise of one difference.
    Size {
        /// The size, on the oriented scale.
        step: f64,
        /// Standard deviation of a difference between two runs.
        sd: f64,
    },
    /// A failure rate that rises from good to bad.
    Rates(Rates),
}

impl Step {
    /// The step between two levels, at least half of the calibrated step: the search may
    /// underestimate the step, and must not confirm its own error.
    pub fn between(levels: &Levels, calibrated: f64, paired: bool) -> Self {
        let step = levels.step().max(calibrated / 2.0);
        // In a paired search, `sd` already belongs to a difference.
        let sd = if paired { levels.sd } else { levels.sd * std::f64::consts::SQRT_2 };
        Self::Size { step, sd }
    }
}

/// Fresh pairs (parent, commit), and their evidence so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreshPairs {
    step: Step,
    /// The smallest step worth reporting, and its evidence. It counts if the whole step is
    /// rejected, because the change may consist of several steps.
    least: Option<(Step, f64)>,
    wanted: f64,
    /// Evidence for the step; for a pass/fail metric, that the commit is bad.
    sum: f64,
    /// Evidence that the parent is good, for a pass/fail metric.
    parent: f64,
    pairs: usize,
}

impl FreshPairs {
    /// Starts without pairs.
    pub fn new(step: Step, confidence: f64) -> Self {
        let wanted = evidence_wanted(confidence);
        Self { step, least: None, wanted, sum: 0.0, parent: 0.0, pairs: 0 }
    }

    /// Also tests a smaller step of this size (on the oriented scale), used if the whole step is
    /// rejected: the change may consist of several steps.
    #[must_use]
    pub fn with_smallest_step(mut self, size: f64) -> Self {
        if let Step::Size { step, sd } = self.step
            && size > 0.0
            && size < step
        {
            self.least = Some((Step::Size { step: size, sd }, 0.0));
        }
        self
    }

    /// Adds a pair of fresh runs.
    ///
    /// For levels, the evidence of a pair is clip(δ(D − δ/2)/s_D², ±3.9) with D = commit − parent:
    /// the log likelihood ratio of a step δ against none.
    pub fn add(&mut self, parent: f64, commit: f64) {
        self.pairs += 1;
        match self.step {
            Step::Size { step, sd } => self.sum += log_likelihood_ratio(step, sd, commit - parent),
            Step::Rates(rates) => {
                self.sum += rates.evidence(commit);
                self.parent -= rates.evidence(parent);
            }
        }
        if let Some((Step::Size { step, sd }, sum)) = &mut self.least {
            *sum += log_likelihood_ratio(*step, *sd, commit - parent);
        }
    }

    /// `Bad` if the commit is bad and the parent good, `Good` if not; `None` while more pairs are
    /// needed.
    pub fn verdict(&self) -> Option<Side> {
        let side = |evidence: f64| {
            if evidence >= self.wanted {
                Some(Side::Bad)
            } else if evidence <= -self.wanted {
                Some(Side::Good)
            } else {
                None
            }
        };
        let whole = side(self.weakest_evidence());
        match self.least {
            // If the small step has no evidence either, the test ends.
            Some((_, sum)) if self.is_rejected_or_exhausted() && sum <= 0.0 => Some(Side::Good),
            Some((step, sum)) if self.is_rejected_or_exhausted() => {
                side(sum).or_else(|| self.is_beyond(step).then_some(Side::Good))
            }
            _ => whole,
        }
    }

    /// The evidence for the whole step; for rates, that of the weaker side.
    fn weakest_evidence(&self) -> f64 {
        match self.step {
            Step::Size { .. } => self.sum,
            Step::Rates(_) => self.sum.min(self.parent),
        }
    }

    /// Whether the whole step is rejected, or is undecided at its maximum of pairs.
    fn is_rejected_or_exhausted(&self) -> bool {
        let whole = self.weakest_evidence();
        whole <= -self.wanted || (whole < self.wanted && self.is_beyond(self.step))
    }

    /// Whether the maximum number of pairs is reached.
    pub fn is_exhausted(&self) -> bool {
        let step = self
            .least
            .filter(|_| self.is_rejected_or_exhausted())
            .map_or(self.step, |(step, _)| step);
        self.is_beyond(step)
    }

    fn is_beyond(&self, step: Step) -> bool {
        let most = match step {
            Step::Size { step, sd } => {
                let needed = 2.0 * self.wanted * (sd / step).powi(2);
                stats::whole(MAX_PAIRS_FACTOR * needed, 0, 600) + 6
            }
            Step::Rates(rates) => 2 * rates.most_runs(),
        };
        self.pairs >= most
    }

    /// The evidence so far, in nats; for rates, that of the weaker side.
    pub(crate) fn evidence(&self) -> f64 {
        match self.least {
            Some((_, sum)) if self.is_rejected_or_exhausted() => sum,
            _ => self.weakest_evidence(),
        }
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.pairs
    }
}

/// The evidence of a difference for a step of this size against none, in nats, clipped.
fn log_likelihood_ratio(step: f64, sd: f64, difference: f64) -> f64 {
    levels::evidence(step, difference - step / 2.0, sd).clamp(-CLIP, CLIP)
}

#[cfg(test)]
mod tests;
