//! A declared tolerance: which metric, which way is worse, and by how much it may move.

use serde::{Deserialize, Serialize};

use super::{Metric, Value};

/// Which way is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Larger is worse (perplexity, memory, seconds).
    Up,
    /// Smaller is worse (tokens per second).
    Down,
    /// Any change is worse (guards of the form `unchanged`).
    Any,
}

/// The configured form of the tolerance. Amounts are in the metric's unit, percentages are of
/// the baseline's absolute value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardForm {
    /// `value - baseline` may be at most this.
    MaxIncrease(f64),
    /// The same limit, in percent of the baseline.
    MaxIncreasePercent(f64),
    /// `baseline - value` may be at most this.
    MaxDecrease(f64),
    /// The same limit, in percent of the baseline.
    MaxDecreasePercent(f64),
    /// The value may be at most this.
    Max(f64),
    /// The value must be at least this.
    Min(f64),
    /// The value must equal the baseline's bit for bit.
    Unchanged,
}

/// A metric and its tolerance. A commit is bad if it breaks any guard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// The guarded metric.
    pub metric: Metric,
    /// The tolerance.
    pub form: GuardForm,
}

impl GuardForm {
    /// Whether the tolerance is a percentage of the baseline, as for metrics that are compared by
    /// ratios (tokens per second, seconds).
    pub fn is_relative(self) -> bool {
        matches!(self, Self::MaxIncreasePercent(_) | Self::MaxDecreasePercent(_))
    }
}

impl Guard {
    /// In which direction the guarded metric gets worse.
    pub fn direction(&self) -> Direction {
        match self.form {
            GuardForm::MaxIncrease(_) | GuardForm::MaxIncreasePercent(_) | GuardForm::Max(_) => {
                Direction::Up
            }
            GuardForm::MaxDecrease(_) | GuardForm::MaxDecreasePercent(_) | GuardForm::Min(_) => {
                Direction::Down
            }
            GuardForm::Unchanged => Direction::Any,
        }
    }

    /// The tolerance: how far the metric may move from `baseline` in the bad direction, in its
    /// unit; 0 for [`GuardForm::Unchanged`]; negative if the baseline itself is beyond
    /// [`GuardForm::Max`] or [`GuardForm::Min`].
    pub fn limit(&self, baseline: f64) -> f64 {
        match self.form {
            GuardForm::MaxIncrease(x) | GuardForm::MaxDecrease(x) => x,
            GuardForm::MaxIncreasePercent(p) | GuardForm::MaxDecreasePercent(p) => {
                baseline.abs() * p / 100.0
            }
            GuardForm::Max(x) => x - baseline,
            GuardForm::Min(x) => baseline - x,
            GuardForm::Unchanged => 0.0,
        }
    }

    /// How much worse `value` is than `reference`, in the metric's unit: positive is worse. The
    /// absolute difference for [`Direction::Any`].
    pub fn worsening(&self, reference: f64, value: f64) -> f64 {
        match self.direction() {
            Direction::Up => value - reference,
            Direction::Down => reference - value,
            Direction::Any => (value - reference).abs(),
        }
    }

    /// Whether `value` breaks this guard against `baseline`. NaN breaks every numeric guard, and
    /// so does a fact. Any difference breaks `unchanged`, a change of type included.
    pub fn is_broken(&self, baseline: &Value, value: &Value) -> bool {
        if self.form == GuardForm::Unchanged {
            return baseline != value;
        }
        match (baseline.number(), value.number()) {
            (Some(b), Some(v)) => {
                let worsening = self.worsening(b, v);
                worsening.is_nan() || worsening > self.limit(b)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(form: GuardForm) -> Guard {
        Guard { metric: Metric::of("ppl"), form }
    }

    fn broken(form: GuardForm, baseline: f64, value: f64) -> bool {
        guard(form).is_broken(&Value::Number(baseline), &Value::Number(value))
    }

    #[test]
    fn each_form_breaks_just_beyond_its_limit() {
        assert!(!broken(GuardForm::MaxIncrease(0.5), 6.0, 6.5));
        assert!(broken(GuardForm::MaxIncrease(0.5), 6.0, 6.500_001));
        assert!(!broken(GuardForm::MaxIncrease(0.5), 6.0, 1.0));
        assert!(broken(GuardForm::MaxIncreasePercent(10.0), 5.0, 5.6));
        assert!(!broken(GuardForm::MaxIncreasePercent(10.0), 5.0, 5.4));
        assert!(broken(GuardForm::MaxDecrease(5.0), 100.0, 94.0));
        assert!(!broken(GuardForm::MaxDecrease(5.0), 100.0, 200.0));
        assert!(broken(GuardForm::MaxDecreasePercent(30.0), 200.0, 139.0));
        assert!(!broken(GuardForm::MaxDecreasePercent(30.0), 200.0, 141.0));
        assert!(broken(GuardForm::Max(7.0), 6.0, 7.1));
        assert!(broken(GuardForm::Min(7.0), 8.0, 6.9));
        assert!(broken(GuardForm::Unchanged, 6.0, 6.000_000_1));
    }

    #[test]
    fn nan_breaks_every_numeric_guard() {
        assert!(broken(GuardForm::MaxIncrease(0.5), 6.0, f64::NAN));
        assert!(broken(GuardForm::MaxDecrease(0.5), 6.0, f64::NAN));
    }

    #[test]
    fn a_negative_baseline_keeps_its_percent_positive() {
        assert!((guard(GuardForm::MaxIncreasePercent(10.0)).limit(-20.0) - 2.0).abs() < 1e-12);
    }
}
