//! A guard: a metric, the direction in which it gets worse, and its tolerance.

use serde::{Deserialize, Serialize};

use super::{Metric, Resource, Value};

/// How many units in the last place of a value the rounding of a difference may amount to. Levels
/// are printed with far fewer digits.
const ROUNDING: f64 = 8.0;

/// Whether a difference of values exceeds a limit. `values`: those that the difference was computed
/// from, or larger ones. A difference that equals the limit does not exceed it, even if rounding
/// makes it a little larger: 1.1 is within 0.1 of 1.0, although 1.1 - 1.0 is rounded up. A limit of
/// 0 allows no difference at all.
pub(crate) fn exceeds_limit(difference: f64, limit: f64, values: [f64; 2]) -> bool {
    let scale = values[0].abs().max(values[1].abs());
    let may_be_rounded = limit.abs() > 0.0 && scale.is_finite();
    let rounding = if may_be_rounded { ROUNDING * f64::EPSILON * scale } else { 0.0 };
    difference > limit + rounding
}

/// The direction of worse values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// Larger is worse (perplexity, memory, seconds).
    Up,
    /// Smaller is worse (tokens per second).
    Down,
    /// Any change is worse (guards of the form `unchanged`).
    Any,
}

/// The form of a guard without its amount, by its key in oracle.toml. All properties that depend on
/// the form alone are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormName {
    /// May rise by an amount.
    MaxIncrease,
    /// May rise by a percentage.
    MaxIncreasePercent,
    /// May fall by an amount.
    MaxDecrease,
    /// May fall by a percentage.
    MaxDecreasePercent,
    /// May not exceed an amount.
    Max,
    /// May not fall below an amount.
    Min,
    /// May not change.
    Unchanged,
}

impl FormName {
    /// All forms, in the order of messages.
    pub(crate) const ALL: [Self; 7] = [
        Self::MaxIncrease,
        Self::MaxIncreasePercent,
        Self::MaxDecrease,
        Self::MaxDecreasePercent,
        Self::Max,
        Self::Min,
        Self::Unchanged,
    ];

    /// The key in oracle.toml.
    pub const fn key(self) -> &'static str {
        match self {
            Self::MaxIncrease => "max_increase",
            Self::MaxIncreasePercent => "max_increase_percent",
            Self::MaxDecrease => "max_decrease",
            Self::MaxDecreasePercent => "max_decrease_percent",
            Self::Max => "max",
            Self::Min => "min",
            Self::Unchanged => "unchanged",
        }
    }

    /// This form with an amount, in the form's unit; [`GuardForm::Unchanged`] has none.
    pub fn with(self, amount: f64) -> GuardForm {
        match self {
            Self::MaxIncrease => GuardForm::MaxIncrease(amount),
            Self::MaxIncreasePercent => GuardForm::MaxIncreasePercent(amount),
            Self::MaxDecrease => GuardForm::MaxDecrease(amount),
            Self::MaxDecreasePercent => GuardForm::MaxDecreasePercent(amount),
            Self::Max => GuardForm::Max(amount),
            Self::Min => GuardForm::Min(amount),
            Self::Unchanged => GuardForm::Unchanged,
        }
    }

    /// In which direction the metric gets worse.
    pub(crate) fn direction(self) -> Direction {
        match self {
            Self::MaxIncrease | Self::MaxIncreasePercent | Self::Max => Direction::Up,
            Self::MaxDecrease | Self::MaxDecreasePercent | Self::Min => Direction::Down,
            Self::Unchanged => Direction::Any,
        }
    }

    /// Whether the amount is a percentage of the baseline.
    pub(crate) fn is_percent(self) -> bool {
        matches!(self, Self::MaxIncreasePercent | Self::MaxDecreasePercent)
    }

    /// Whether the amount limits the move away from the baseline. Such an amount is never negative.
    pub(crate) fn is_from_baseline(self) -> bool {
        self.is_percent() || matches!(self, Self::MaxIncrease | Self::MaxDecrease)
    }

    /// What a failure rate calls a run that breaks the guard: `is bad` for a number beyond its
    /// tolerance, otherwise `fails`.
    pub(crate) fn broken_run(self) -> &'static str {
        if self.is_from_baseline() { "is bad" } else { "fails" }
    }

    /// The amount that allows a move of `step` (in the metric's unit). `None` for a form that does
    /// not count from the baseline.
    pub(crate) fn amount_of(self, step: f64, baseline: f64) -> Option<f64> {
        let unit = if self.is_percent() { baseline.abs() / 100.0 } else { 1.0 };
        self.is_from_baseline().then_some(step / unit)
    }
}

/// The configured form of the tolerance. Amounts are in the metric's unit; percentages are relative
/// to the baseline's absolute value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardForm {
    /// `value - baseline` may be at most this.
    MaxIncrease(f64),
    /// The same tolerance, in percent of the baseline.
    MaxIncreasePercent(f64),
    /// `baseline - value` may be at most this.
    MaxDecrease(f64),
    /// The same tolerance, in percent of the baseline.
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
    pub(crate) form: GuardForm,
}

impl GuardForm {
    /// The form without its amount.
    pub fn name(self) -> FormName {
        match self {
            Self::MaxIncrease(_) => FormName::MaxIncrease,
            Self::MaxIncreasePercent(_) => FormName::MaxIncreasePercent,
            Self::MaxDecrease(_) => FormName::MaxDecrease,
            Self::MaxDecreasePercent(_) => FormName::MaxDecreasePercent,
            Self::Max(_) => FormName::Max,
            Self::Min(_) => FormName::Min,
            Self::Unchanged => FormName::Unchanged,
        }
    }

    /// The amount, in the form's unit; `None` for [`GuardForm::Unchanged`].
    pub fn amount(self) -> Option<f64> {
        match self {
            Self::MaxIncrease(x)
            | Self::MaxIncreasePercent(x)
            | Self::MaxDecrease(x)
            | Self::MaxDecreasePercent(x)
            | Self::Max(x)
            | Self::Min(x) => Some(x),
            Self::Unchanged => None,
        }
    }

    /// See [`FormName::is_percent`].
    pub(crate) fn is_relative(self) -> bool {
        self.name().is_percent()
    }
}

impl Guard {
    /// In which direction the guarded metric gets worse.
    pub(crate) fn direction(&self) -> Direction {
        self.form.name().direction()
    }

    /// The tolerance: how far the metric may move from `baseline` towards worse, in its unit. 0 for
    /// [`GuardForm::Unchanged`]; negative if the baseline itself is beyond [`GuardForm::Max`] or
    /// [`GuardForm::Min`].
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

    /// Whether the metric depends on the machine's speed: relative tolerances, times, and metrics
    /// that must not fall (throughput).
    pub(crate) fn depends_on_speed(&self) -> bool {
        let is_time = Resource::of(&self.metric) == Some(Resource::WallTime);
        is_time || self.direction() == Direction::Down || self.form.is_relative()
    }

    /// How much worse `value` is than `reference`, in the metric's unit: positive is worse. The
    /// absolute difference for [`Direction::Any`].
    pub(crate) fn worsening(&self, reference: f64, value: f64) -> f64 {
        match self.direction() {
            Direction::Up => value - reference,
            Direction::Down => reference - value,
            Direction::Any => (value - reference).abs(),
        }
    }

    /// Whether `value` is worse than `reference` by more than `limit`; see [`exceeds_limit`].
    pub(crate) fn is_worse_by(&self, reference: f64, value: f64, limit: f64) -> bool {
        exceeds_limit(self.worsening(reference, value), limit, [reference, value])
    }

    /// Whether `value` breaks this guard against `baseline`. NaN and facts break every numeric
    /// guard. Any difference breaks `unchanged`, even a change of type.
    pub(crate) fn is_broken(&self, baseline: &Value, value: &Value) -> bool {
        self.is_beyond(baseline, value, |baseline| self.limit(baseline))
    }

    /// Like [`Self::is_broken`], with another tolerance, in the metric's unit.
    pub(crate) fn is_beyond(
        &self,
        baseline: &Value,
        value: &Value,
        limit: impl FnOnce(f64) -> f64,
    ) -> bool {
        if self.form == GuardForm::Unchanged {
            return baseline != value;
        }
        match (baseline.number(), value.number()) {
            (Some(b), Some(v)) => self.worsening(b, v).is_nan() || self.is_worse_by(b, v, limit(b)),
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
    fn a_step_of_exactly_the_tolerance_is_allowed_from_every_baseline() {
        for tenths in 0..200 {
            let [from, to, beyond] = [tenths, tenths + 1, tenths + 2].map(|x| f64::from(x) / 10.0);
            let far = to + 1e-9;
            assert!(!broken(GuardForm::MaxIncrease(0.1), from, to), "{from} {to}");
            assert!(!broken(GuardForm::MaxDecrease(0.1), to, from), "{from} {to}");
            assert!(
                !broken(GuardForm::Max(to), from, to) && !broken(GuardForm::Min(from), to, from)
            );
            assert!(broken(GuardForm::MaxIncrease(0.1), from, far), "{from} {far}");
            assert!(broken(GuardForm::MaxIncrease(0.1), from, beyond), "{from} {beyond}");
            // 3 % of a number with one digit after the point has three of them.
            let most: f64 = format!("{:.4}", from * 1.03).parse().unwrap();
            assert!(!broken(GuardForm::MaxIncreasePercent(3.0), from, most), "{from} {most}");
        }
        // Not even the last digit may change, and no infinity passes.
        assert!(broken(GuardForm::MaxIncrease(0.0), 7.0, 7.0 + 1e-15));
        assert!(broken(GuardForm::MaxIncrease(0.1), 7.0, f64::INFINITY));
    }

    #[test]
    fn each_form_has_its_key_and_its_amount() {
        for name in FormName::ALL {
            assert_eq!(serde_json::to_value(name).unwrap(), name.key());
            let form = name.with(2.0);
            assert_eq!(form.name(), name);
            assert_eq!(form.amount(), (name != FormName::Unchanged).then_some(2.0));
            let written = serde_json::to_value(form).unwrap();
            assert!(written == name.key() || written[name.key()] == 2.0, "{written}");
        }
        assert_eq!(FormName::MaxIncreasePercent.amount_of(3.0, -50.0), Some(6.0));
        assert_eq!(FormName::Max.amount_of(3.0, -50.0), None);
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
