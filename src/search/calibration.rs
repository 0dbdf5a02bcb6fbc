//! The endpoints' runs: whether good and bad lie apart, and how much noise a run has.

use crate::stats;

use super::{Levels, WELL_APART};

/// Runs of each endpoint before anything is decided.
const LEAST_PAIRS: usize = 4;
/// Before pairs are compared with single runs.
const LEAST_TO_PAIR: usize = 6;
/// Where it is first asked whether the runs that may be made can be enough.
const FUTILITY: usize = 12;
/// Runs of each endpoint at most.
pub(super) const MOST_PAIRS: usize = 60;
/// How many standard errors apart the levels must be.
const APART: f64 = 4.0;
/// Runs per endpoint that this takes, times (noise/effect)².
const NEEDED: f64 = 34.0;
/// A step of more than this part of the tolerance, that noise hides, may be beyond it.
const NEAR: f64 = 0.5;
/// Quantile of the normal distribution for a one-sided bound of 99.5 %.
const BOUND: f64 = 2.576;

/// What a calibration is to find out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// How much worse bad must be to matter, on the oriented scale.
    pub tolerance: f64,
    /// Whether the machine may drift under the metric (throughput): then runs are compared in
    /// pairs as soon as pairs vary less, or move together.
    pub may_drift: bool,
    /// Compare in pairs in any case.
    pub paired: bool,
}

/// What it found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// The levels; of the differences bad − good where `paired`, with good at 0.
    pub levels: Levels,
    /// Whether samples are to be compared in pairs with runs of the good endpoint.
    pub paired: bool,
    /// Runs of each endpoint.
    pub runs: usize,
}

impl Calibration {
    /// Whether a run or two tell a commit's side, so that git may choose the commits. A spread
    /// from few runs may be far too small: of four runs each two thirds of the distance count
    /// (the mean of 1/s² is ν/(ν − 2) times too large).
    pub fn is_well_apart(&self) -> bool {
        let runs = self.runs as f64;
        let freedom = if self.paired { runs - 1.0 } else { 2.0 * runs - 2.0 };
        self.levels.distance() * (1.0 - 2.0 / freedom) >= WELL_APART
    }
}

/// Why it found nothing (yet).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unsettled {
    /// More runs are needed.
    More,
    /// Bad is within the tolerance of good, or cannot be told from it.
    NoDifference,
    /// The noise hides the difference.
    TooNoisy {
        /// Runs of each endpoint that would be needed, where that can be said.
        needed: Option<usize>,
    },
}

/// Which endpoint runs first in a round (0, 1, …): G B, B G, G B, so that a drift of the
/// machine falls on both alike. True: good.
pub fn endpoint_order(round: usize) -> [bool; 2] {
    if round.is_multiple_of(2) { [true, false] } else { [false, true] }
}

/// What is known after as many runs of good as of bad, in the order they were made.
///
/// With winsorised means and the pooled noise s, the levels are apart when
/// μb − μg ≥ 4(1 + 2/ν)·s·√(2/n), ν = 2n − 2; in pairs when D̄ ≥ 4(1 + 2/(n − 1))·s_D/√n.
/// A round with a run that is no finite number says nothing, but counts against the cap.
pub fn calibrate(good: &[f64], bad: &[f64], rule: Rule) -> Result<Calibration, Unsettled> {
    let rounds = good.len().min(bad.len());
    let (good, bad) = finite(good, bad);
    let n = good.len();
    if n < LEAST_PAIRS || (rule.paired && n < LEAST_TO_PAIR) {
        let is_capped = rounds >= MOST_PAIRS;
        return Err(if is_capped { Unsettled::TooNoisy { needed: None } } else { Unsettled::More });
    }
    let seen = Seen::of(&good, &bad, rule);
    let is_apart = seen.step >= APART * (1.0 + 2.0 / seen.freedom) * seen.error;
    if is_apart && seen.step > rule.tolerance.max(0.0) {
        return Ok(Calibration { levels: seen.levels, paired: seen.paired, runs: n });
    }
    let [_, highest] = seen.interval();
    if highest <= rule.tolerance {
        return Err(Unsettled::NoDifference);
    }
    let reachable = NEEDED * (seen.sd / (seen.step + 2.0 * seen.error)).powi(2);
    let is_futile =
        n >= FUTILITY && (seen.step + 2.0 * seen.error <= 0.0 || reachable > MOST_PAIRS as f64);
    if rounds < MOST_PAIRS && !is_futile {
        return Err(Unsettled::More);
    }
    // Nearly the tolerance, or more and not beyond chance: that proves neither one nor the other.
    if seen.step <= NEAR * rule.tolerance.max(0.0) {
        return Err(Unsettled::NoDifference);
    }
    let needed = NEEDED * (seen.sd / seen.step).powi(2);
    let told = (needed < 1e9).then(|| stats::whole(needed, MOST_PAIRS, usize::MAX));
    Err(Unsettled::TooNoisy { needed: told })
}

/// How much worse bad is than good, on the oriented scale, as a 99 % interval; `None` from fewer
/// than two rounds.
pub fn interval(good: &[f64], bad: &[f64], rule: Rule) -> Option<[f64; 2]> {
    let (good, bad) = finite(good, bad);
    (good.len() > 1).then(|| Seen::of(&good, &bad, rule).interval())
}

/// The rounds in which both runs are finite numbers.
pub(super) fn finite(good: &[f64], bad: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let is_finite = |(g, b): &(&f64, &f64)| g.is_finite() && b.is_finite();
    good.iter().zip(bad).filter(is_finite).unzip()
}

/// The endpoints' runs in figures.
struct Seen {
    levels: Levels,
    paired: bool,
    step: f64,
    sd: f64,
    /// Standard error of the step.
    error: f64,
    freedom: f64,
}

impl Seen {
    /// The step's 99 % interval.
    fn interval(&self) -> [f64; 2] {
        let reach = bound(self.freedom) * self.error;
        [self.step - reach, self.step + reach]
    }

    fn of(good: &[f64], bad: &[f64], rule: Rule) -> Self {
        let n = good.len() as f64;
        let mean = |x: &[f64]| stats::winsorised_mean(x).expect("there are runs");
        let sd = |groups: &[&[f64]]| stats::winsorised_sd(groups).unwrap_or(0.0);
        let (low, high) = (mean(good), mean(bad));
        let single = sd(&[good, bad]);
        let differences: Vec<f64> = good.iter().zip(bad).map(|(g, b)| b - g).collect();
        let of_pairs = sd(&[&differences]);
        let moves_together = || {
            let about = |x: &[f64], mean: f64| x.iter().map(|x| x - mean).collect::<Vec<_>>();
            let (g, b) = (about(good, low), about(bad, high));
            let both: f64 = g.iter().zip(&b).map(|(g, b)| g * b).sum();
            let each: f64 = g.iter().zip(&b).map(|(g, b)| 0.5 * (g * g + b * b)).sum();
            each > 0.0 && both / each > (2.3 / n.sqrt()).max(0.4)
        };
        let drifts = rule.may_drift
            && good.len() >= LEAST_TO_PAIR
            && (of_pairs * of_pairs < 1.2 * single * single || moves_together());
        if rule.paired || drifts {
            let step = mean(&differences);
            let levels = Levels { good: 0.0, bad: step, sd: of_pairs };
            let error = of_pairs / n.sqrt();
            Self { levels, paired: true, step, sd: of_pairs, error, freedom: n - 1.0 }
        } else {
            let levels = Levels { good: low, bad: high, sd: single };
            let error = single * (2.0 / n).sqrt();
            let freedom = 2.0 * n - 2.0;
            Self { levels, paired: false, step: high - low, sd: single, error, freedom }
        }
    }
}

/// Standard errors of a one-sided bound of 99.5 %, Student's t with ν degrees of freedom by
/// the first terms of Cornish and Fisher's expansion (1937).
pub(super) fn bound(freedom: f64) -> f64 {
    let z = BOUND;
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + g1 / freedom + g2 / (freedom * freedom)
}

#[cfg(test)]
mod tests;
