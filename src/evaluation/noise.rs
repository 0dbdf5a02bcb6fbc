//! Levels and noise of the endpoints' runs, if the runs do not repeat bit for bit.

use serde::{Deserialize, Serialize};

use super::{Direction, GuardTarget, Value};

/// Levels, or failure rates, of good and bad. Samples are oriented: larger is worse.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// What a sample is.
    pub kind: NoiseKind,
    /// Level of good (0 if `paired`), or its failure rate.
    pub good: f64,
    /// Level of bad, or its failure rate.
    pub bad: f64,
    /// Standard deviation of one sample (of a difference if `paired`); 0 for rates.
    pub sd: f64,
    /// How many runs of each endpoint these numbers come from.
    pub runs: usize,
    /// Whether each run is compared with a run of the good endpoint, because the machine drifts.
    pub paired: bool,
    /// Allowed probability of either error in the sequential test of one commit.
    pub error: f64,
}

/// What a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseKind {
    /// The metric itself, in its unit.
    Plain,
    /// The metric's logarithm, for tolerances in percent.
    Log,
    /// 1 if the run breaks the guard, else 0.
    Breaks,
    /// 1 if the run differs from the commit's first run, else 0.
    Differs,
}

impl NoiseKind {
    /// Whether samples are 0 or 1.
    pub fn is_rate(self) -> bool {
        matches!(self, Self::Breaks | Self::Differs)
    }
}

impl Noise {
    /// Effect size d: bad minus good in standard deviations of one run; infinite without noise.
    pub fn distance(&self) -> f64 {
        if self.sd > 0.0 { (self.bad - self.good) / self.sd } else { f64::INFINITY }
    }
}

/// The sign and scale that turn a metric into samples where larger is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// Smaller is worse.
    pub flipped: bool,
    /// On a logarithmic scale.
    pub log: bool,
}

impl Orientation {
    /// The orientation of a metric with this direction and kind of sample.
    pub fn of(direction: Direction, kind: NoiseKind) -> Self {
        Self { flipped: direction == Direction::Down, log: kind == NoiseKind::Log }
    }

    /// Converts from the metric's unit: ±x or ±ln x; infinite if x has no logarithm.
    pub fn oriented(self, x: f64) -> f64 {
        let scaled = match (self.log, x > 0.0) {
            (true, true) => x.ln(),
            (true, false) => f64::NEG_INFINITY,
            (false, _) => x,
        };
        if self.flipped { -scaled } else { scaled }
    }

    /// Converts back to the metric's unit.
    pub fn metric(self, x: f64) -> f64 {
        let scaled = if self.flipped { -x } else { x };
        if self.log { scaled.exp() } else { scaled }
    }
}

impl GuardTarget {
    /// The orientation of this target's samples.
    pub fn orientation(&self) -> Orientation {
        let kind = self.noise.map_or(NoiseKind::Plain, |noise| noise.kind);
        Orientation::of(self.guard.direction(), kind)
    }

    /// The tolerance on the oriented scale.
    pub fn oriented_limit(&self) -> f64 {
        let Some(baseline) = self.baseline.number() else { return 0.0 };
        let edge = match self.guard.direction() {
            Direction::Down => baseline - self.limit,
            Direction::Up | Direction::Any => baseline + self.limit,
        };
        let scale = self.orientation();
        scale.oriented(edge) - scale.oriented(baseline)
    }

    /// Whether samples are 0 or 1, so that failure rates replace levels.
    pub fn is_rate(&self) -> bool {
        self.noise.is_some_and(|noise| noise.kind.is_rate())
    }

    /// Whether machine drift may affect the metric: relative tolerances, and times.
    pub fn may_drift(&self) -> bool {
        let is_time = self.guard.metric.name.as_deref() == Some("wall_s");
        !self.is_rate() && (is_time || self.guard.form.is_relative())
    }

    /// Converts a level on the oriented scale to a value of the metric. In pairs, 0 is the
    /// baseline.
    pub fn level(&self, oriented: f64) -> Value {
        let scale = self.orientation();
        let zero = match self.noise {
            Some(Noise { paired: true, .. }) => {
                self.baseline.number().map_or(0.0, |x| scale.oriented(x))
            }
            _ => 0.0,
        };
        Value::Number(scale.metric(zero + oriented))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Guard, GuardForm, Metric};

    fn speed(noise: Option<Noise>) -> GuardTarget {
        GuardTarget {
            guard: Guard { metric: Metric::of("speed"), form: GuardForm::MaxDecreasePercent(10.0) },
            baseline: Value::Number(200.0),
            bad: Value::Number(100.0),
            limit: 20.0,
            threshold: None,
            noise,
            text: None,
            checks: None,
        }
    }

    fn noise(kind: NoiseKind, paired: bool) -> Noise {
        Noise { kind, good: 0.0, bad: 0.7, sd: 0.1, runs: 4, paired, error: 0.001 }
    }

    #[test]
    fn slower_is_larger_on_a_log_scale() {
        let target = speed(Some(noise(NoiseKind::Log, false)));
        let scale = target.orientation();
        assert!((scale.oriented(200.0) + 200.0_f64.ln()).abs() < 1e-12);
        assert!((scale.metric(scale.oriented(123.0)) - 123.0).abs() < 1e-9);
        assert!(scale.oriented(0.0).is_infinite() && scale.oriented(0.0) > 0.0);
        // 10 % of 200 less: ln(200/180).
        assert!((target.oriented_limit() - (200.0_f64 / 180.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn differences_are_told_from_the_baseline() {
        let target = speed(Some(noise(NoiseKind::Log, true)));
        let Value::Number(level) = target.level(2.0_f64.ln()) else { panic!() };
        assert!((level - 100.0).abs() < 1e-9, "{level}");
        let plain = speed(None);
        assert_eq!(plain.level(-150.0), Value::Number(150.0));
    }
}
