//! What makes a commit bad in a hunt: a broken guard, or a failure.

use serde::{Deserialize, Serialize};

use super::{
    Checks, Direction, Failure, FormsAtEnds, Guard, Metric, NeededChecks, Noise, NoiseKind,
    Orientation, PlacesAtEnds, PrintedUnits, TextLength, Value, number,
};

/// What makes a commit bad in this hunt: a guard that the bad endpoint breaks, or its failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Target {
    /// A broken guard.
    Guard(GuardTarget),
    /// The bad endpoint fails and the good one does not. Commits with the same failure are bad.
    Failure {
        /// The measure that fails; `None` if the build fails.
        measure: Option<String>,
        /// How it fails.
        failure: Failure,
        /// The checks that ran at the good endpoint, if runs of other checks must not be judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checks: Option<Checks>,
    },
}

impl Target {
    /// Whether runs of one commit vary, so that samples are judged with their noise.
    pub(crate) fn is_noisy(&self) -> bool {
        matches!(self, Self::Guard(target) if target.noise.is_some())
    }

    /// The first of these targets that is a guard on this metric.
    pub(crate) fn on<'t>(targets: &'t [Self], metric: &Metric) -> Option<&'t Self> {
        let is_on = |target: &GuardTarget| target.guard.metric == *metric;
        targets.iter().find(|target| target.guard().is_some_and(is_on))
    }

    /// The guard, if the target is one.
    pub(crate) fn guard(&self) -> Option<&GuardTarget> {
        match self {
            Self::Guard(target) => Some(target),
            Self::Failure { .. } => None,
        }
    }

    /// The measure and the failure of its runs, if that failure makes a commit bad: by its rate, or
    /// without one.
    pub(crate) fn failure_of_runs(&self) -> Option<(&str, &Failure)> {
        match self {
            Self::Guard(target) => {
                Some((target.guard.metric.measure.as_str(), target.failure.as_deref()?))
            }
            Self::Failure { measure, failure, .. } => Some((measure.as_deref()?, failure)),
        }
    }

    /// The failure, if the target is one.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Guard(_) => None,
            Self::Failure { failure, .. } => Some(failure),
        }
    }
}

/// A guard with the levels of both endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GuardTarget {
    /// The guard.
    pub guard: Guard,
    /// The level at the good endpoint.
    pub baseline: Value,
    /// The level at the bad endpoint.
    pub bad: Value,
    /// The tolerance, in the metric's unit; 0 for a fact.
    #[serde(with = "number")]
    pub limit: f64,
    /// The threshold, midway between the endpoints' runs; `None` if runs repeat bit for bit.
    #[serde(with = "number", default)]
    pub threshold: Option<f64>,
    /// Levels and noise; `None` if runs repeat bit for bit.
    #[serde(default)]
    pub(crate) noise: Option<Noise>,
    /// How much text the good endpoint's runs read, if their output has the amount. A run that read
    /// another amount is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<TextLength>,
    /// The checks that ran at the good endpoint, if runs of other checks must not be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
    /// The checks that a verdict needs. A run that lacks one of them is judged only if that check
    /// could not change the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) needed: Option<Box<NeededChecks>>,
    /// The units behind the numbers of the good endpoint's runs, if the output has such numbers. A
    /// run with other units is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) units: Option<PrintedUnits>,
    /// The forms of the places with the values of both endpoints' runs. If both have one in common,
    /// a run whose value comes from another place is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forms: Option<Box<FormsAtEnds>>,
    /// What the places of both endpoints' values say. A run whose value is surely of another thing
    /// is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) places: Option<Box<PlacesAtEnds>>,
    /// The failure whose rate is sought ([`NoiseKind::Fails`]), in place of the guard: it comes and
    /// goes at the bad endpoint, and the good endpoint never shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Box<Failure>>,
}

impl GuardTarget {
    /// A target without noise, with the levels of both endpoints. `text`: how much text the good
    /// endpoint's runs read.
    pub(crate) fn between(
        guard: &Guard,
        baseline: Value,
        bad: Value,
        text: Option<TextLength>,
    ) -> Self {
        Self {
            limit: baseline.number().map_or(0.0, |x| guard.limit(x)),
            guard: guard.clone(),
            baseline,
            bad,
            threshold: None,
            noise: None,
            text,
            checks: None,
            needed: None,
            units: None,
            forms: None,
            places: None,
            failure: None,
        }
    }

    /// The target with another level of the good endpoint, and with the tolerance that follows from
    /// it. Not for a search whose baseline is another commit: its tolerance stays that of the good
    /// endpoint.
    pub(crate) fn with_good_level(self, baseline: Value) -> Self {
        let limit = baseline.number().map_or(0.0, |x| self.guard.limit(x));
        Self { baseline, limit, ..self }
    }

    /// The levels at both endpoints; 0 for a fact.
    pub(crate) fn levels_at_ends(&self) -> [f64; 2] {
        [&self.baseline, &self.bad].map(|level| level.number().unwrap_or_default())
    }

    /// The orientation of this target's samples.
    pub(crate) fn orientation(&self) -> Orientation {
        let kind = self.noise.map_or(NoiseKind::Plain, |noise| noise.kind);
        Orientation::of(self.guard.direction(), kind)
    }

    /// The tolerance on the oriented scale.
    pub(crate) fn oriented_limit(&self) -> f64 {
        let Some(baseline) = self.baseline.number() else { return 0.0 };
        let edge = match self.guard.direction() {
            Direction::Down => baseline - self.limit,
            Direction::Up | Direction::Any => baseline + self.limit,
        };
        let scale = self.orientation();
        scale.oriented(edge) - scale.oriented(baseline)
    }

    /// Whether samples are 0 or 1, so that failure rates replace levels.
    pub(crate) fn is_rate(&self) -> bool {
        self.noise.is_some_and(|noise| noise.kind.is_rate())
    }

    /// What a failure rate counts a run as: `differs`, `fails` or `is bad`.
    pub(crate) fn counted_run(&self) -> &'static str {
        let kind = self.noise.map_or(NoiseKind::Breaks, |noise| noise.kind);
        kind.counted_run(Some(self.guard.form.name()))
    }

    /// Whether drift is likely because the machine's speed changes.
    pub(crate) fn may_drift(&self) -> bool {
        !self.is_rate() && self.guard.depends_on_speed()
    }

    /// Converts a level on the oriented scale to a value of the metric. In paired searches, 0
    /// stands for the baseline.
    pub(crate) fn level(&self, oriented: f64) -> Value {
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
        let form = GuardForm::MaxDecreasePercent(10.0);
        let guard = Guard { metric: Metric::of("speed"), form };
        let [good, bad] = [200.0, 100.0].map(Value::Number);
        GuardTarget { noise, ..GuardTarget::between(&guard, good, bad, None) }
    }

    fn noise(kind: NoiseKind, paired: bool) -> Noise {
        Noise { kind, good: 0.0, bad: 0.7, sd: 0.1, runs: 4, paired, error: 0.001 }
    }

    #[test]
    fn what_should_not_fall_may_drift_whatever_its_unit() {
        let of = |form| {
            let target = speed(Some(noise(NoiseKind::Plain, false)));
            GuardTarget { guard: Guard { form, ..target.guard.clone() }, ..target }
        };
        for form in [GuardForm::MaxDecrease(5.0), GuardForm::Min(180.0)] {
            assert!(of(form).may_drift(), "{form:?}");
        }
        assert!(of(GuardForm::MaxIncreasePercent(1.0)).may_drift());
        assert!(!of(GuardForm::MaxIncrease(0.1)).may_drift());
        assert!(!speed(Some(noise(NoiseKind::Breaks, false))).may_drift());
    }

    #[test]
    fn a_rate_counts_a_run_by_what_its_guard_is_about() {
        let of = |kind, form| {
            let target = speed(Some(noise(kind, false)));
            GuardTarget { guard: Guard { form, ..target.guard.clone() }, ..target }.counted_run()
        };
        let by_tolerance = GuardForm::MaxDecreasePercent(10.0);
        assert_eq!(of(NoiseKind::Differs, by_tolerance), "differs");
        assert_eq!(of(NoiseKind::Breaks, by_tolerance), "is bad");
        assert_eq!(of(NoiseKind::Breaks, GuardForm::Max(0.0)), "fails");
        // A report of an older version does not have the guard's form.
        assert_eq!(NoiseKind::Breaks.counted_run(None), "fails");
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
    fn the_tolerance_is_that_of_the_level_from_which_it_counts() {
        let moved = speed(None).with_good_level(Value::Number(180.0));
        assert_eq!((moved.baseline, moved.bad), (Value::Number(180.0), Value::Number(100.0)));
        assert!((moved.limit - 18.0).abs() < 1e-12, "{}", moved.limit);
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
