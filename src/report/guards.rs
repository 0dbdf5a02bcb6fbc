//! The guards of a hunt: which guards are targets, and their values at the endpoints.

use crate::evaluation::{GuardTarget, Target, Value};
use crate::store::journal::{OtherGuard, SearchMethod};

use super::model::{GuardLine, NoiseLine, TargetFailure};

/// The guards of a hunt, from its journal.
#[derive(Default)]
pub(super) struct Guards<'a> {
    targets: &'a [Target],
    others: &'a [OtherGuard],
    steadiness: Option<SearchMethod>,
}

impl<'a> Guards<'a> {
    pub(super) fn seen(
        targets: &'a [Target],
        steadiness: SearchMethod,
        others: &'a [OtherGuard],
    ) -> Self {
        Self { targets, others, steadiness: Some(steadiness) }
    }

    pub(super) fn steadiness(&self) -> Option<SearchMethod> {
        self.steadiness
    }

    pub(super) fn failure(&self) -> Option<TargetFailure> {
        self.targets.iter().find_map(|target| match target {
            Target::Failure { measure, failure, .. } => {
                Some(TargetFailure { measure: measure.clone(), failure: failure.clone() })
            }
            Target::Guard(_) => None,
        })
    }

    /// A line for each guard, targets first.
    pub(super) fn lines(&self) -> Vec<GuardLine> {
        let targets = self.targets.iter().filter_map(Target::guard).map(target_line);
        targets.chain(self.others.iter().map(other_line)).collect()
    }
}

fn other_line(other: &OtherGuard) -> GuardLine {
    let form = other.guard.form;
    let limit = other.baseline.as_ref().and_then(Value::number).map(|x| other.guard.limit(x));
    GuardLine {
        metric: other.guard.metric.clone(),
        form: Some(form.name()),
        amount: form.amount().map(Value::Number),
        limit: limit.map(Value::Number),
        baseline: other.baseline.clone(),
        bad: other.bad.clone(),
        threshold: None,
        noise: None,
        target: false,
        why: other.why.clone(),
    }
}

fn target_line(target: &GuardTarget) -> GuardLine {
    let form = target.guard.form;
    GuardLine {
        metric: target.guard.metric.clone(),
        form: Some(form.name()),
        amount: form.amount().map(Value::Number),
        limit: Some(Value::Number(target.limit)),
        baseline: Some(target.baseline.clone()),
        bad: Some(target.bad.clone()),
        threshold: target.threshold.map(Value::Number),
        noise: NoiseLine::of(target),
        target: true,
        why: "the bad endpoint breaks it".to_owned(),
    }
}
