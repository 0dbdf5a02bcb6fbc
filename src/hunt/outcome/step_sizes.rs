//! How large steps are, metric by metric. Steps of different metrics are never compared: each guard
//! has a unit and a tolerance of its own. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Basis, Culprit, Metric, Target};

/// Two steps are equal if they differ by at most this share, because levels are rounded.
const ROUNDING: f64 = 1e-9;

/// For each metric, the largest of some steps in the metric's unit. `None` stands for a failure.
#[derive(Clone, Debug, Default)]
pub(super) struct StepSizes(BTreeMap<Option<Metric>, f64>);

impl StepSizes {
    /// How much these targets get worse between the ends of a search range. Infinite without
    /// numbers.
    pub(super) fn between_ends(targets: &[Target]) -> Self {
        let size = |target: &Target| match target {
            Target::Guard(target) => {
                let ends = target.baseline.number().zip(target.bad.number());
                let rise = ends.map(|(good, bad)| target.guard.worsening(good, bad));
                (Some(target.guard.metric.clone()), rise.unwrap_or(f64::INFINITY))
            }
            Target::Failure { .. } => (None, f64::INFINITY),
        };
        let mut sizes = Self::default();
        for (metric, size) in targets.iter().map(size) {
            sizes.raise_to(metric, size);
        }
        sizes
    }

    /// The steps of a commit that may explain the newer end. Infinite without a number.
    pub(super) fn at_most(culprit: &Culprit) -> Self {
        Self::of(culprit, f64::INFINITY)
    }

    /// The steps of a named commit. A fact has no size and outweighs every number. A failure rate
    /// counts as 0.
    pub(super) fn at_least(culprit: &Culprit) -> Self {
        Self::of(culprit, if culprit.basis == Basis::BitExact { f64::INFINITY } else { 0.0 })
    }

    /// `unknown`: the size of a step without a number.
    fn of(culprit: &Culprit, unknown: f64) -> Self {
        let mut sizes = Self::default();
        for effect in &culprit.effects {
            sizes.raise_to(Some(effect.metric.clone()), effect.own_step.unwrap_or(unknown));
        }
        if culprit.failure.is_some() || culprit.effects.is_empty() {
            sizes.raise_to(None, f64::INFINITY);
        }
        sizes
    }

    /// The same metrics, each with this size.
    pub(super) fn each_of(self, size: f64) -> Self {
        Self(self.0.into_keys().map(|metric| (metric, size)).collect())
    }

    /// Adds other steps. Of each metric, the larger step counts.
    pub(super) fn raise(&mut self, others: Self) {
        for (metric, size) in others.0 {
            self.raise_to(metric, size);
        }
    }

    fn raise_to(&mut self, metric: Option<Metric>, size: f64) {
        let largest = self.0.entry(metric).or_insert(size);
        *largest = largest.max(size);
    }

    /// Drops each metric of which `named` has a step that is at least as large, or smaller only by
    /// rounding.
    pub(super) fn keep_larger_than(&mut self, named: &Self) {
        self.0.retain(|metric, size| {
            named.0.get(metric).is_none_or(|other| *size > *other * (1.0 + ROUNDING))
        });
    }

    /// Whether a step of this metric is among these.
    pub(super) fn moves(&self, metric: &Metric) -> bool {
        self.0.keys().flatten().any(|own| own == metric)
    }

    /// Whether each of these metrics is among those of `others`.
    pub(super) fn are_all_in(&self, others: &Self) -> bool {
        self.0.keys().all(|metric| others.0.contains_key(metric))
    }

    /// The metrics, without the failure.
    pub(super) fn into_metrics(self) -> BTreeSet<Metric> {
        self.0.into_keys().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{culprit, effect, failure};

    fn step(size: f64) -> Culprit {
        Culprit { effects: vec![effect(6.0, 6.0 + size, 0.1)], ..culprit('5', '4') }
    }

    #[test]
    fn only_steps_of_one_metric_are_compared() {
        let ppl = Metric::of("ppl");
        let crash = Culprit {
            failure: Some(failure(FailureKind::Crash, "signal 11")),
            ..culprit('6', '5')
        };
        let mut open = StepSizes::at_most(&crash);
        open.raise(StepSizes::at_most(&step(0.5)));
        open.raise(StepSizes::at_most(&step(0.25)));
        assert!(open.moves(&ppl) && StepSizes::at_most(&step(1.0)).are_all_in(&open));
        // The failure stays open beside a step of the metric that is large enough.
        open.keep_larger_than(&StepSizes::at_least(&step(0.5)));
        assert!(!open.moves(&ppl) && StepSizes::at_most(&crash).are_all_in(&open));
        assert!(open.into_metrics().is_empty());
        let mut larger = StepSizes::at_most(&step(0.75));
        larger.keep_larger_than(&StepSizes::at_least(&step(0.5)));
        assert_eq!(larger.into_metrics(), BTreeSet::from([ppl]));
    }
}
