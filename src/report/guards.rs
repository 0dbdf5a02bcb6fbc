//! The guards of a hunt: which of them decided, and what the endpoints made of each.

use crate::evaluation::{GuardForm, GuardTarget, Metric, Phase, Target, Value};
use crate::store::journal::Steadiness;

use super::model::{GuardLine, MeasuredCommit, TargetFailure};

/// What the journal says of the guards.
#[derive(Default)]
pub(super) struct Guards<'a> {
    targets: &'a [Target],
    others: &'a [(Metric, String)],
    steadiness: Option<Steadiness>,
}

impl<'a> Guards<'a> {
    pub(super) fn seen(
        targets: &'a [Target],
        steadiness: Steadiness,
        others: &'a [(Metric, String)],
    ) -> Self {
        Self { targets, others, steadiness: Some(steadiness) }
    }

    pub(super) fn steadiness(&self) -> Option<Steadiness> {
        self.steadiness
    }

    pub(super) fn failure(&self) -> Option<TargetFailure> {
        self.targets.iter().find_map(|target| match target {
            Target::Failure { measure, failure } => {
                Some(TargetFailure { measure: measure.clone(), failure: failure.clone() })
            }
            Target::Guard(_) => None,
        })
    }

    /// Targets first. Of the other guards the journal has only the metric: their levels are
    /// read from the runs at the two ends.
    pub(super) fn lines(&self, ends: &[Option<&MeasuredCommit>; 2]) -> Vec<GuardLine> {
        let targets = self.targets.iter().filter_map(|target| match target {
            Target::Guard(target) => Some(target_line(target)),
            Target::Failure { .. } => None,
        });
        let others = self.others.iter().map(|(metric, why)| GuardLine {
            metric: metric.clone(),
            form: None,
            amount: None,
            limit: None,
            baseline: level(ends[0], metric),
            bad: level(ends[1], metric),
            threshold: None,
            target: false,
            why: why.clone(),
        });
        targets.chain(others).collect()
    }
}

fn target_line(target: &GuardTarget) -> GuardLine {
    let (form, amount) = form(&target.guard.form);
    GuardLine {
        metric: target.guard.metric.clone(),
        form: Some(form.to_owned()),
        amount: amount.map(Value::Number),
        limit: Some(Value::Number(target.limit)),
        baseline: Some(target.baseline.clone()),
        bad: Some(target.bad.clone()),
        threshold: target.threshold.map(Value::Number),
        target: true,
        why: "the bad endpoint breaks it".to_owned(),
    }
}

/// A form in the words of oracle.toml.
fn form(form: &GuardForm) -> (&'static str, Option<f64>) {
    match *form {
        GuardForm::MaxIncrease(x) => ("max_increase", Some(x)),
        GuardForm::MaxIncreasePercent(x) => ("max_increase_percent", Some(x)),
        GuardForm::MaxDecrease(x) => ("max_decrease", Some(x)),
        GuardForm::MaxDecreasePercent(x) => ("max_decrease_percent", Some(x)),
        GuardForm::Max(x) => ("max", Some(x)),
        GuardForm::Min(x) => ("min", Some(x)),
        GuardForm::Unchanged => ("unchanged", None),
    }
}

/// The median of an endpoint's runs (the lower one of two: a value that was measured); for
/// facts the first.
fn level(end: Option<&MeasuredCommit>, metric: &Metric) -> Option<Value> {
    let values: Vec<_> = end?
        .samples
        .iter()
        .filter(|sample| sample.phase == Phase::Endpoint && sample.metric == *metric)
        .filter_map(|sample| sample.value.as_ref())
        .collect();
    let mut numbers: Vec<_> = values.iter().filter_map(|value| value.number()).collect();
    if numbers.len() < values.len() || numbers.is_empty() {
        return values.first().map(|value| (*value).clone());
    }
    numbers.sort_by(f64::total_cmp);
    Some(Value::Number(numbers[(numbers.len() - 1) / 2]))
}
