//! Calibration: computes from the endpoints' runs whether good and bad differ, and the noise.

use crate::stats;

use super::{DriftPrior, Levels, WELL_APART};

/// Minimum runs of each endpoint.
pub(super) const LEAST_PAIRS: usize = 4;
/// Minimum runs of each endpoint to decide on pairs.
const LEAST_TO_PAIR: usize = 6;
/// Calibration may give up early after this many runs of each endpoint.
const FUTILITY: usize = 12;
/// Maximum runs of each endpoint.
pub(super) const MOST_PAIRS: usize = 60;
/// Minimum distance of the levels, in standard errors.
const MIN_DISTANCE: f64 = 4.0;
/// Needed runs per endpoint, as a multiple of (noise/effect)².
const NEEDED: f64 = 34.0;
/// Quantile of the normal distribution for a one-sided bound of 99.5 %.
const BOUND: f64 = 2.576;
/// A run is a stray if it is worse than the good level by the tolerance and this multiple of the
/// good runs' noise.
const FAR: f64 = 3.0;
/// Bad has too many strays for chance if it has twice as many as good and this number more.
const STRAYS: usize = 2;
/// Minimum runs of each endpoint to deny a difference if bad has a stray and good has none. If one
/// run in five of bad is a stray, 21 runs show a second one in 98 of 100 calibrations.
const RUNS_IF_STRAY: usize = 21;

/// The settings of a calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationSettings {
    /// The tolerance, on the oriented scale.
    pub tolerance: f64,
    /// Whether to look for drift. Pairs are then used if good and bad move together; if drift is
    /// likely, also if the variance of a difference is less than 1.2 times that of a run.
    pub drift: DriftPrior,
    /// Whether pairs are always used.
    pub paired: bool,
}

/// The result of a calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// The levels. If `paired`: of the differences bad − good, with good at 0.
    pub levels: Levels,
    /// Whether each sample is the difference to a run of the good endpoint.
    pub paired: bool,
    /// Runs of each endpoint.
    pub runs: usize,
}

impl Calibration {
    /// Whether one or two runs show a commit's side, so that git may choose the commits. An
    /// estimate of the noise from few runs may be far too small, so the distance is reduced: by a
    /// third for four runs each (the mean of 1/s² is ν/(ν − 2) times too large).
    pub fn is_clearly_separated(&self) -> bool {
        let runs = self.runs as f64;
        let freedom = if self.paired { runs - 1.0 } else { 2.0 * runs - 2.0 };
        self.levels.distance() * (1.0 - 2.0 / freedom) >= WELL_APART
    }
}

/// Why there is no calibration (yet).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CalibrationError {
    /// More runs are needed.
    More,
    /// Bad is not worse than good by more than the tolerance: the whole interval is within it.
    NoDifference,
    /// The noise hides whether there is a difference.
    TooNoisy {
        /// How many runs of each endpoint would tell if the real step is the measured one.
        needed: Option<usize>,
    },
}

/// The order of the endpoints in a round (0, 1, …); true: good. The order alternates (G B, B G,
/// G B), so that machine drift affects both equally.
pub fn endpoint_order(round: usize) -> [bool; 2] {
    if round.is_multiple_of(2) { [true, false] } else { [false, true] }
}

/// Calibrates from equally many runs of good and bad, in the order they were made.
///
/// With winsorised means and the pooled noise s, the levels are apart when μb − μg ≥ 4(1 +
/// 2/ν)·s·√(2/n), ν = 2n − 2; in pairs when D̄ ≥ 4(1 + 2/(n − 1))·s_D/√n. There is no difference if
/// the step's one-sided 99.5 % bound is within the tolerance and strays do not contradict. A small
/// step alone proves nothing: a real step may hide in the noise. A round with a value that is not
/// finite counts only towards the maximum number of rounds.
pub fn calibrate(
    good: &[f64],
    bad: &[f64],
    rule: CalibrationSettings,
) -> Result<Calibration, CalibrationError> {
    let rounds = good.len().min(bad.len());
    let (good, bad) = finite(good, bad);
    let n = good.len();
    if n < LEAST_PAIRS || (rule.paired && n < LEAST_TO_PAIR) {
        let is_capped = rounds >= MOST_PAIRS;
        return Err(if is_capped {
            CalibrationError::TooNoisy { needed: None }
        } else {
            CalibrationError::More
        });
    }
    let seen = Seen::of(&good, &bad, rule);
    let is_apart = seen.step >= MIN_DISTANCE * (1.0 + 2.0 / seen.freedom) * seen.error;
    if is_apart && seen.step > rule.tolerance.max(0.0) {
        return Ok(Calibration { levels: seen.levels, paired: seen.paired, runs: n });
    }
    let [_, highest] = seen.interval();
    let strays = Strays::of(&good, &bad, &seen, rule.tolerance.max(0.0));
    if highest <= rule.tolerance && !strays.are_too_many() {
        let is_doubtful = strays.are_doubtful() && rounds < RUNS_IF_STRAY;
        return Err(if is_doubtful {
            CalibrationError::More
        } else {
            CalibrationError::NoDifference
        });
    }
    let reachable = NEEDED * (seen.sd / (seen.step + 2.0 * seen.error)).powi(2);
    let may_show_a_step = seen.step + 2.0 * seen.error > 0.0 && reachable <= MOST_PAIRS as f64;
    // The standard error shrinks with the square root of the runs.
    let last_error = seen.error * (n as f64 / MOST_PAIRS as f64).sqrt();
    let may_exclude_a_step = seen.step + BOUND * last_error <= rule.tolerance;
    let is_futile = n >= FUTILITY && !may_show_a_step && !may_exclude_a_step;
    if rounds < MOST_PAIRS && !is_futile {
        return Err(CalibrationError::More);
    }
    let needed = if seen.step > rule.tolerance {
        NEEDED * (seen.sd / seen.step).powi(2)
    } else if strays.are_too_many() {
        // The levels do not differ, and more runs leave the strays where they are.
        f64::INFINITY
    } else {
        n as f64 * (BOUND * seen.error / (rule.tolerance - seen.step)).powi(2)
    };
    let told = (needed < 1e9).then(|| stats::whole(needed, MOST_PAIRS, usize::MAX));
    Err(CalibrationError::TooNoisy { needed: told })
}

/// The 99 % interval of bad minus good, on the oriented scale; `None` for fewer than two rounds.
pub fn interval(good: &[f64], bad: &[f64], rule: CalibrationSettings) -> Option<[f64; 2]> {
    let (good, bad) = finite(good, bad);
    (good.len() > 1).then(|| Seen::of(&good, &bad, rule).interval())
}

/// How many runs of each endpoint are strays. Winsorised means hide such runs, but if they come from
/// the commits, there is a difference.
struct Strays {
    good: usize,
    bad: usize,
}

impl Strays {
    fn of(good: &[f64], bad: &[f64], seen: &Seen, tolerance: f64) -> Self {
        if seen.paired {
            // The machine drifts, so only the two runs of a round are compared.
            let far = tolerance + FAR * seen.sd;
            let count = |worse: &[f64], than: &[f64]| {
                worse.iter().zip(than).filter(|(x, y)| *x - *y > far).count()
            };
            return Self { good: count(good, bad), bad: count(bad, good) };
        }
        let far = tolerance + FAR * stats::winsorised_sd(&[good]).unwrap_or(0.0);
        let level = seen.levels.good;
        let count = |runs: &[f64]| runs.iter().filter(|run| **run - level > far).count();
        Self { good: count(good), bad: count(bad) }
    }

    /// Whether bad has clearly more strays than good.
    fn are_too_many(&self) -> bool {
        self.bad >= 2 * self.good + STRAYS
    }

    /// Whether bad may have more strays than good. More runs tell.
    fn are_doubtful(&self) -> bool {
        self.bad > 2 * self.good
    }
}

/// The rounds in which both runs are finite numbers.
pub(super) fn finite(good: &[f64], bad: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let is_finite = |(g, b): &(&f64, &f64)| g.is_finite() && b.is_finite();
    good.iter().zip(bad).filter(is_finite).unzip()
}

/// Statistics of the endpoints' runs.
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

    fn of(good: &[f64], bad: &[f64], rule: CalibrationSettings) -> Self {
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
        let are_alike = of_pairs * of_pairs < 1.2 * single * single;
        let drifts = good.len() >= LEAST_TO_PAIR
            && match rule.drift {
                DriftPrior::Never => false,
                DriftPrior::Unlikely => moves_together(),
                DriftPrior::Likely => are_alike || moves_together(),
            };
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

/// The 99.5 % quantile of Student's t with this many degrees of freedom, from the first terms of
/// Cornish and Fisher's expansion (1937).
pub(super) fn bound(freedom: f64) -> f64 {
    let z = BOUND;
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + g1 / freedom + g2 / (freedom * freedom)
}

#[cfg(test)]
mod tests;
