//! The last word on a commit and a parent: fresh runs in turn, until a step between them is
//! beyond doubt or out of the question.

use crate::stats;

use super::passfail::Rates;
use super::{Levels, Side, levels};

/// One pair counts no more than this, whatever a disturbed run says.
const CLIP: f64 = 3.9;
/// A cap on pairs: six times what a step of this size needs on average, and six.
const PATIENCE: f64 = 6.0;

/// Evidence that a claim of this confidence needs: ln((1 − α/2)/(α/2)), half of the error being
/// the search's; ln 199 at 0.99.
pub fn evidence_wanted(confidence: f64) -> f64 {
    let half = (1.0 - confidence) / 2.0;
    ((1.0 - half) / half).ln()
}

/// What a step is tested against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A difference of this size, under this noise of one difference.
    Size {
        /// On the oriented scale.
        step: f64,
        /// Standard deviation of a difference between two runs.
        sd: f64,
    },
    /// A rate of failures that rises from one to the other.
    Rates(Rates),
}

impl Step {
    /// The step between two levels, never less than half of what calibration saw: a search that
    /// has talked its levels together must not confirm itself with them.
    pub fn between(levels: &Levels, calibrated: f64, paired: bool) -> Self {
        let step = levels.step().max(calibrated / 2.0);
        // A pair is a difference already, of two runs taken side by side.
        let sd = if paired { levels.sd } else { levels.sd * std::f64::consts::SQRT_2 };
        Self::Size { step, sd }
    }
}

/// Fresh pairs (parent, commit), and what they have said so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confirmation {
    step: Step,
    wanted: f64,
    /// Evidence for the step; of a pass/fail metric that the commit is bad.
    sum: f64,
    /// Of a pass/fail metric: that the parent is good.
    parent: f64,
    pairs: usize,
}

impl Confirmation {
    /// Nothing seen yet.
    pub fn new(step: Step, confidence: f64) -> Self {
        Self { step, wanted: evidence_wanted(confidence), sum: 0.0, parent: 0.0, pairs: 0 }
    }

    /// Adds a pair of fresh runs.
    ///
    /// For levels l = clip(δ(D − δ/2)/s_D², ±3.9) with D = commit − parent, the log likelihood
    /// ratio of a step δ against none.
    pub fn add(&mut self, parent: f64, commit: f64) {
        self.pairs += 1;
        match self.step {
            Step::Size { step, sd } => {
                let told = levels::evidence(step, commit - parent - step / 2.0, sd);
                self.sum += told.clamp(-CLIP, CLIP);
            }
            Step::Rates(rates) => {
                self.sum += rates.evidence(commit);
                self.parent -= rates.evidence(parent);
            }
        }
    }

    /// Whether the commit is bad and the parent good (`Bad`), or they do not differ that way
    /// (`Good`); `None` while more pairs are needed.
    pub fn verdict(&self) -> Option<Side> {
        let worst = match self.step {
            Step::Size { .. } => self.sum,
            Step::Rates(_) => self.sum.min(self.parent),
        };
        if worst >= self.wanted {
            Some(Side::Bad)
        } else if worst <= -self.wanted {
            Some(Side::Good)
        } else {
            None
        }
    }

    /// Whether more pairs are not worth their while.
    pub fn is_exhausted(&self) -> bool {
        let most = match self.step {
            Step::Size { step, sd } => {
                let needed = 2.0 * self.wanted * (sd / step).powi(2);
                stats::whole(PATIENCE * needed, 0, 600) + 6
            }
            Step::Rates(rates) => 2 * rates.most_runs(),
        };
        self.pairs >= most
    }

    /// The evidence so far, in nats; for rates that of the weaker side.
    pub fn evidence(&self) -> f64 {
        match self.step {
            Step::Size { .. } => self.sum,
            Step::Rates(_) => self.sum.min(self.parent),
        }
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.pairs
    }
}

#[cfg(test)]
mod tests;
