//! Confirmation: takes fresh runs of a commit and its parent in turn, until a step between the two
//! is confirmed or rejected.

use crate::stats;

use super::passfail::Rates;
use super::{Levels, Side, levels};

/// Maximum evidence of one pair, in nats, so that a disturbed run cannot decide.
const CLIP: f64 = 3.9;
/// Maximum number of pairs: this multiple of the number that the step needs on average, plus six.
const MAX_PAIRS_FACTOR: f64 = 6.0;
/// From this number of pairs on, the scatter does not count how far away the farthest pair is: it
/// may be a disturbed run.
const PAIRS_WITH_OUTLIER: usize = 4;
/// Pairs that scatter more than this multiple of the calibrated noise do not fit the calibration.
const WIDE: f64 = 2.0;
/// The scatter of n such pairs is multiplied by 1 + this/(n − 1): that of a few pairs is often too
/// small.
const WIDER: f64 = 4.0;
/// Pairs whose mean is above the step by more than this many standard errors do not fit the
/// calibration either.
const BEYOND: f64 = 3.0;
/// Minimum number of pairs to confirm a step if they do not fit the calibration.
const ODD_PAIRS: usize = 6;
/// Minimum number of pairs to confirm a smaller step after the whole one was rejected. The pairs
/// that reject the whole step test the smaller one too, and two pairs tell nothing of their scatter.
const SMALLER_PAIRS: usize = 4;
/// A step is surely larger or smaller than a size if its mean is this many standard errors away: the
/// one-sided bound of 95 % of the normal distribution.
const SURE: f64 = 1.64;

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
        /// Standard deviation of a difference between two runs. If the pairs scatter more, their
        /// own standard deviation counts: a commit may be noisier than the endpoints.
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
#[derive(Clone, Debug, PartialEq)]
pub struct FreshPairs {
    step: Step,
    /// The smallest step worth reporting. It is tested if the whole step is rejected, because the
    /// regression may consist of several steps.
    least: Option<Step>,
    wanted: f64,
    /// For levels: commit − parent of each pair.
    differences: Vec<f64>,
    /// For a pass/fail metric: the evidence that the commit is bad.
    commit: f64,
    /// For a pass/fail metric: the evidence that the parent is good.
    parent: f64,
    pairs: usize,
}

impl FreshPairs {
    /// Starts without pairs.
    pub fn new(step: Step, confidence: f64) -> Self {
        let wanted = evidence_wanted(confidence);
        Self {
            step,
            least: None,
            wanted,
            differences: Vec::new(),
            commit: 0.0,
            parent: 0.0,
            pairs: 0,
        }
    }

    /// Also tests a smaller step of this size (on the oriented scale), used if the whole step is
    /// rejected: the change may consist of several steps.
    #[must_use]
    pub fn with_smallest_step(mut self, size: f64) -> Self {
        if let Step::Size { step, sd } = self.step
            && size > 0.0
            && size < step
        {
            self.least = Some(Step::Size { step: size, sd });
        }
        self
    }

    /// Adds a pair of fresh runs.
    ///
    /// For levels, the evidence of a pair is clip(δ(D − δ/2)/s_D², ±3.9) with D = commit − parent:
    /// the log likelihood ratio of a step δ against none. s_D is the standard deviation of the
    /// calibration, or that of the pairs if it is larger.
    pub fn add(&mut self, parent: f64, commit: f64) {
        self.pairs += 1;
        match self.step {
            Step::Size { .. } => self.differences.push(commit - parent),
            Step::Rates(rates) => {
                self.commit += rates.evidence(commit);
                self.parent -= rates.evidence(parent);
            }
        }
    }

    /// The evidence of the pairs for the whole step; for rates, that of the weaker side.
    fn evidence_for_whole(&self) -> f64 {
        match self.step {
            Step::Size { step, sd } => self.sum_of_evidence(step, self.noise(sd).1),
            Step::Rates(_) => self.commit.min(self.parent),
        }
    }

    /// The evidence of the pairs for the smaller step. The runs of the ends may have scattered too
    /// little by chance, and such a small step needs little noise. So the scatter of these pairs is
    /// widened even if it is not much larger.
    fn evidence_for_smaller(&self, smaller: Step) -> f64 {
        let Step::Size { step, sd } = smaller else { return self.evidence_for_whole() };
        let (_, own) = scatter(&self.differences);
        self.sum_of_evidence(step, sd.max(own * self.factor_of_few()))
    }

    fn sum_of_evidence(&self, step: f64, sd: f64) -> f64 {
        let pairs = self.differences.iter();
        pairs.map(|difference| log_likelihood_ratio(step, sd, *difference)).sum()
    }

    /// The mean of the pairs, and their noise: the calibrated one, or their own if it is larger.
    fn noise(&self, sd: f64) -> (f64, f64) {
        let (mean, own) = scatter(&self.differences);
        let own = if own > WIDE * sd { own * self.factor_of_few() } else { own };
        (mean, sd.max(own))
    }

    /// By how much the scatter of so few pairs is multiplied.
    fn factor_of_few(&self) -> f64 {
        1.0 + WIDER / (self.differences.len().max(2) - 1) as f64
    }

    /// Whether there are too few pairs to confirm the smaller step. Without noise two are enough.
    fn is_too_few_for(&self, smaller: Step) -> bool {
        let Step::Size { sd, .. } = smaller else { return false };
        let (_, own) = scatter(&self.differences);
        sd.max(own) > 0.0 && self.pairs < SMALLER_PAIRS
    }

    /// Whether there are too few pairs to confirm a step that the calibration does not explain.
    fn is_odd(&self) -> bool {
        let Step::Size { step, sd } = self.step else { return false };
        let (mean, noise) = self.noise(sd);
        let error = noise / (self.pairs.max(1) as f64).sqrt();
        self.pairs < ODD_PAIRS && sd > 0.0 && (noise > WIDE * sd || mean > step + BEYOND * error)
    }

    /// `Bad` if the commit is bad and the parent good, `Good` if not; `None` while more pairs are
    /// needed.
    pub fn verdict(&self) -> Option<Side> {
        let is_odd = self.is_odd();
        let side = |evidence: f64| {
            if evidence >= self.wanted {
                (!is_odd).then_some(Side::Bad)
            } else if evidence <= -self.wanted {
                Some(Side::Good)
            } else {
                None
            }
        };
        match self.least.filter(|_| self.is_rejected_or_exhausted()) {
            // If the small step has no evidence either, the test ends.
            Some(step) if self.evidence_for_smaller(step) <= 0.0 => Some(Side::Good),
            Some(step) if self.is_too_few_for(step) => None,
            Some(step) => side(self.evidence_for_smaller(step))
                .or_else(|| self.is_beyond(step).then_some(Side::Good)),
            None => side(self.evidence_for_whole()),
        }
    }

    /// Whether the whole step is rejected, or is undecided at its maximum of pairs.
    fn is_rejected_or_exhausted(&self) -> bool {
        let whole = self.evidence_for_whole();
        whole <= -self.wanted || (whole < self.wanted && self.is_beyond(self.step))
    }

    /// Whether the maximum number of pairs is reached.
    pub fn is_exhausted(&self) -> bool {
        let least = self.least.filter(|_| self.is_rejected_or_exhausted());
        self.is_beyond(least.unwrap_or(self.step))
    }

    fn is_beyond(&self, step: Step) -> bool {
        let most = match step {
            Step::Size { step, sd } => most_pairs(step, sd, self.wanted),
            Step::Rates(rates) => 2 * rates.most_runs(),
        };
        self.pairs >= most
    }

    /// The evidence so far, in nats; for rates, that of the weaker side.
    pub(crate) fn evidence(&self) -> f64 {
        match self.least.filter(|_| self.is_rejected_or_exhausted()) {
            Some(smaller) => self.evidence_for_smaller(smaller),
            None => self.evidence_for_whole(),
        }
    }

    /// Whether the step of the pairs is surely larger (`true`) or smaller than `size`, on the oriented
    /// scale; `None` while more pairs are needed. A failure rate has no such size: always `true`.
    pub(crate) fn is_larger_than(&self, size: f64) -> Option<bool> {
        let Step::Size { sd, .. } = self.step else { return Some(true) };
        let (mean, noise) = self.noise(sd);
        let error = SURE * noise / (self.pairs.max(1) as f64).sqrt();
        ((mean - size).abs() > error).then_some(mean > size)
    }

    /// Pairs so far.
    pub fn pairs(&self) -> usize {
        self.pairs
    }
}

/// Maximum number of pairs that a confirmation makes for a step of this size. `sd`: the standard
/// deviation of a difference.
pub(crate) fn most_pairs_for(step: f64, sd: f64, confidence: f64) -> usize {
    most_pairs(step, sd, evidence_wanted(confidence))
}

/// Maximum number of pairs to decide about a step. `sd`: the standard deviation of a difference;
/// `wanted`: the evidence, in nats.
fn most_pairs(step: f64, sd: f64, wanted: f64) -> usize {
    let needed = 2.0 * wanted * (sd / step).powi(2);
    stats::whole(MAX_PAIRS_FACTOR * needed, 0, 600) + 6
}

/// Mean and standard deviation of the pairs. Of four or more, the pair farthest from the median gets
/// the value of its neighbour in order of size. Pairs that are not numbers are left out.
fn scatter(differences: &[f64]) -> (f64, f64) {
    let mut kept: Vec<f64> = differences.iter().copied().filter(|one| one.is_finite()).collect();
    if kept.len() >= PAIRS_WITH_OUTLIER {
        kept.sort_by(f64::total_cmp);
        let median = kept[kept.len() / 2];
        let far = |one: &f64| (one - median).abs();
        let last = kept.len() - 1;
        if far(&kept[0]) > far(&kept[last]) {
            kept[0] = kept[1];
        } else {
            kept[last] = kept[last - 1];
        }
    }
    let sd = if kept.len() < 2 { 0.0 } else { stats::variance(&kept).sqrt() };
    (stats::mean(&kept).unwrap_or(0.0), sd)
}

/// The evidence of a difference for a step of this size against none, in nats, clipped.
fn log_likelihood_ratio(step: f64, sd: f64, difference: f64) -> f64 {
    levels::evidence(step, difference - step / 2.0, sd).clamp(-CLIP, CLIP)
}

#[cfg(test)]
mod tests;
