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
pub struct FreshPairs {
    step: Step,
    /// The least step that is worth a name, and the evidence for that one: what was found may
    /// be one of several.
    least: Option<(Step, f64)>,
    wanted: f64,
    /// Evidence for the step; of a pass/fail metric that the commit is bad.
    sum: f64,
    /// Of a pass/fail metric: that the parent is good.
    parent: f64,
    pairs: usize,
}

impl FreshPairs {
    /// Nothing seen yet.
    pub fn new(step: Step, confidence: f64) -> Self {
        let wanted = evidence_wanted(confidence);
        Self { step, least: None, wanted, sum: 0.0, parent: 0.0, pairs: 0 }
    }

    /// Where the whole step falls, one of at least this size (on the oriented scale) may still
    /// stand: the change may be made of several.
    #[must_use]
    pub fn or_at_least(mut self, size: f64) -> Self {
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
    /// For levels l = clip(δ(D − δ/2)/s_D², ±3.9) with D = commit − parent, the log likelihood
    /// ratio of a step δ against none.
    pub fn add(&mut self, parent: f64, commit: f64) {
        self.pairs += 1;
        match self.step {
            Step::Size { step, sd } => self.sum += told(step, sd, commit - parent),
            Step::Rates(rates) => {
                self.sum += rates.evidence(commit);
                self.parent -= rates.evidence(parent);
            }
        }
        if let Some((Step::Size { step, sd }, sum)) = &mut self.least {
            *sum += told(*step, *sd, commit - parent);
        }
    }

    /// Whether the commit is bad and the parent good (`Bad`), or they do not differ that way
    /// (`Good`); `None` while more pairs are needed.
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
        let whole = side(self.weaker());
        match self.least {
            // What speaks against a small step as well is not worth more runs.
            Some((_, sum)) if self.has_fallen() && sum <= 0.0 => Some(Side::Good),
            Some((step, sum)) if self.has_fallen() => {
                side(sum).or_else(|| self.is_beyond(step).then_some(Side::Good))
            }
            _ => whole,
        }
    }

    /// The evidence for the whole step, of rates that of the weaker side.
    fn weaker(&self) -> f64 {
        match self.step {
            Step::Size { .. } => self.sum,
            Step::Rates(_) => self.sum.min(self.parent),
        }
    }

    /// Whether the whole step is out of the question, or was not settled in time.
    fn has_fallen(&self) -> bool {
        let whole = self.weaker();
        whole <= -self.wanted || (whole < self.wanted && self.is_beyond(self.step))
    }

    /// Whether more pairs are not worth their while.
    pub fn is_exhausted(&self) -> bool {
        let step = self.least.filter(|_| self.has_fallen()).map_or(self.step, |(step, _)| step);
        self.is_beyond(step)
    }

    fn is_beyond(&self, step: Step) -> bool {
        let most = match step {
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
        match self.least {
            Some((_, sum)) if self.has_fallen() => sum,
            _ => self.weaker(),
        }
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.pairs
    }
}

/// What a difference says for a step of this size against none, in nats.
fn told(step: f64, sd: f64, difference: f64) -> f64 {
    levels::evidence(step, difference - step / 2.0, sd).clamp(-CLIP, CLIP)
}

#[cfg(test)]
mod tests;
