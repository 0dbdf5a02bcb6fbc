//! Levels and noise of the endpoints' runs, if the runs do not repeat bit for bit.

use serde::{Deserialize, Serialize};

use super::{Direction, FormName, number};

/// Levels, or failure rates, of good and bad. Samples are oriented: larger is worse.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Noise {
    /// What a sample is.
    pub kind: NoiseKind,
    /// Level of good (0 if `paired`), or its failure rate.
    #[serde(with = "number")]
    pub good: f64,
    /// Level of bad, or its failure rate.
    #[serde(with = "number")]
    pub bad: f64,
    /// Standard deviation of one sample (of a difference if `paired`); 0 for rates.
    #[serde(with = "number")]
    pub sd: f64,
    /// The number of runs of each endpoint behind these values.
    pub runs: usize,
    /// Whether each run is compared with a run of the good endpoint, because the machine drifts.
    pub paired: bool,
    /// Allowed probability of either error in the sequential test of one commit.
    pub error: f64,
}

/// What a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoiseKind {
    /// The metric itself, in its unit.
    Plain,
    /// The metric's logarithm, for tolerances in percent.
    Log,
    /// 1 if the run breaks the guard, else 0.
    Breaks,
    /// 1 if the run differs from the commit's first run, else 0.
    Differs,
    /// 1 if the run fails as runs of the bad endpoint do, 0 if it does not fail.
    Fails,
}

impl NoiseKind {
    /// What a failure rate counts a run as: `differs`, `fails`, or `is bad` for a number beyond its
    /// tolerance. `form`: that of the guard, if there is one.
    pub(crate) fn counted_run(self, form: Option<FormName>) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::Fails => "fails",
            Self::Plain | Self::Log | Self::Breaks => form.map_or("fails", FormName::broken_run),
        }
    }

    /// Whether samples are 0 or 1.
    pub(crate) fn is_rate(self) -> bool {
        matches!(self, Self::Breaks | Self::Differs | Self::Fails)
    }
}

impl Noise {
    /// Whether commits have levels that can be compared. A failure rate has none, and pairs of runs
    /// show only differences.
    pub(crate) fn has_levels(&self) -> bool {
        !self.kind.is_rate() && !self.paired
    }

    /// Standard deviation of the difference of two runs.
    pub(crate) fn sd_of_difference(&self) -> f64 {
        if self.paired { self.sd } else { self.sd * std::f64::consts::SQRT_2 }
    }

    /// Effect size d: bad minus good in standard deviations of one run; infinite without noise.
    pub(crate) fn distance(&self) -> f64 {
        if self.sd > 0.0 { (self.bad - self.good) / self.sd } else { f64::INFINITY }
    }
}

/// The sign and scale that turn a metric into samples where larger is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Orientation {
    /// Smaller is worse.
    pub flipped: bool,
    /// On a logarithmic scale.
    pub log: bool,
}

impl Orientation {
    /// The orientation of a metric with this direction and kind of sample.
    pub(crate) fn of(direction: Direction, kind: NoiseKind) -> Self {
        Self { flipped: direction == Direction::Down, log: kind == NoiseKind::Log }
    }

    /// Converts from the metric's unit: ±x or ±ln x; infinite if x has no logarithm.
    pub(crate) fn oriented(self, x: f64) -> f64 {
        let scaled = match (self.log, x > 0.0) {
            (true, true) => x.ln(),
            (true, false) => f64::NEG_INFINITY,
            (false, _) => x,
        };
        if self.flipped { -scaled } else { scaled }
    }

    /// Converts back to the metric's unit.
    pub(crate) fn metric(self, x: f64) -> f64 {
        let scaled = if self.flipped { -x } else { x };
        if self.log { scaled.exp() } else { scaled }
    }
}
