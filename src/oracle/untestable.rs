//! Decides when a run leaves its commit untestable: by the failure's policy, other text, another
//! unit, another place of the value, other checks, or checks that did not run.

use crate::config::{Config, Policy, Prepare};
use crate::evaluation::{
    Checks, Direction, Failure, FailureKind, GuardTarget, Reading, SkipReason, Value, ValueForms,
    is_count_of_failures,
};

use super::Sample;

/// Why a run cannot be compared with the good endpoint's runs: other text, another unit, another
/// place of the value, or other checks. `samples`: all runs of the commit.
pub(super) fn incomparable(
    reading: &Reading,
    target: &GuardTarget,
    samples: &[Sample],
) -> Option<(SkipReason, String)> {
    let text = || Some((SkipReason::OtherText, other_text(reading, target)?));
    let checks = || {
        let measure = &target.guard.metric.measure;
        Some((SkipReason::OtherChecks, other_checks(reading, target.checks.as_ref(), measure)?))
    };
    let unit = || Some((SkipReason::OtherUnit, other_unit(reading, target)?));
    let form = || Some((SkipReason::OtherForm, other_form(reading, target, samples)?));
    let missing = || Some((SkipReason::OtherChecks, missing_checks(reading, target)?));
    text().or_else(unit).or_else(form).or_else(checks).or_else(missing)
}

/// The reason if the metric's number has another unit, or no unit and another scale.
fn other_unit(reading: &Reading, target: &GuardTarget) -> Option<String> {
    let metric = &target.guard.metric;
    let wanted = target.units.as_ref()?;
    if let Some(own) = reading.other_units(metric, wanted, target.baseline.number()) {
        return Some(format!("{metric} has another unit: {own}, but {wanted} at the good end"));
    }
    let ends = [(&target.baseline, "good"), (&target.bad, "bad")];
    ends.into_iter().find_map(|(level, end)| {
        let factor = reading.hidden_factor(metric, wanted, level.number())?;
        Some(format!(
            "{metric} may have another scale: it has no unit, and differs from the {end} end by a \
             factor of {factor}"
        ))
    })
}

/// The reason if the metric's value comes from another place of the output than at both ends. No
/// reason if the place varies among the commit's own runs: then it says nothing about the value.
fn other_form(reading: &Reading, target: &GuardTarget, samples: &[Sample]) -> Option<String> {
    let metric = &target.guard.metric;
    let by_words = other_words(reading, target, samples);
    let [own, wanted] = by_words.or_else(|| other_thing(reading, target, samples))?;
    let what = "comes from another place of the output";
    Some(format!("{metric} {what}: {own}, but {wanted} at both ends"))
}

/// The words around the value in all runs of the commit, and those at both ends, if they differ.
fn other_words(
    reading: &Reading,
    target: &GuardTarget,
    samples: &[Sample],
) -> Option<[ValueForms; 2]> {
    let metric = &target.guard.metric;
    let wanted = target.forms.as_ref()?.common()?;
    let own = reading.forms.get(metric).filter(|own| own.differ_from(&wanted))?;
    let readings = samples.iter().filter_map(|sample| sample.result.as_ref().ok());
    let mut forms = readings.filter_map(|reading| reading.forms.get(metric));
    let own = forms.try_fold(own.clone(), |own, other| own.common(other))?;
    own.differ_from(&wanted).then_some([own, wanted])
}

/// What the output says beside the value in all runs of the commit, and what it says beside the
/// value at both ends, if the two are of different things.
fn other_thing(
    reading: &Reading,
    target: &GuardTarget,
    samples: &[Sample],
) -> Option<[ValueForms; 2]> {
    let metric = &target.guard.metric;
    let wanted = target.places.as_ref()?.common()?;
    let own = reading.places.get(metric)?;
    own.told_apart(wanted)?;
    let readings = samples.iter().filter_map(|sample| sample.result.as_ref().ok());
    let mut places = readings.filter_map(|reading| reading.places.get(metric));
    places.try_fold(own.clone(), |own, other| own.common(other))?.told_apart(wanted)
}

/// Whether the value of a commit's only run comes from another place than at both ends. A second
/// run tells whether the place varies by itself.
pub(super) fn has_other_form_once(samples: &[Sample], target: &GuardTarget) -> bool {
    let [Sample { result: Ok(reading), .. }] = samples else { return false };
    other_form(reading, target, samples).is_some()
}

/// The reason if checks did not run that would show the regression. A check that did not run lowers
/// a count, so a value that it can only make smaller says nothing. A count of failures is good if it
/// is within the guard even with one more failure for each such check.
fn missing_checks(reading: &Reading, target: &GuardTarget) -> Option<String> {
    let missing = target.needed.as_ref()?.missing(reading.checks()?, &reading.skipped);
    let metric = &target.guard.metric;
    let value = reading.values.get(metric)?;
    let is_worse = target.guard.is_beyond(&target.baseline, value, |_| target.limit);
    let may_be_worse = || {
        let is_count = metric.name.as_deref().is_some_and(is_count_of_failures);
        let most = value.number().filter(|_| is_count).map(|count| count + missing.len() as f64);
        most.is_none_or(|most| {
            target.guard.is_beyond(&target.baseline, &Value::Number(most), |_| target.limit)
        })
    };
    let says_nothing = match target.guard.direction() {
        Direction::Up => !is_worse && may_be_worse(),
        Direction::Down => is_worse,
        Direction::Any => true,
    };
    (says_nothing && !missing.is_empty()).then(|| {
        let what = if is_worse { "would count" } else { "fail at the bad end" };
        format!("{} did not run checks that {what}: {}", metric.measure, missing.names())
    })
}

/// The reason if a run made other checks than required.
pub(super) fn other_checks(
    reading: &Reading,
    wanted: Option<&Checks>,
    measure: &str,
) -> Option<String> {
    let what = reading.checks()?.besides(wanted?)?;
    Some(format!("{measure} ran other checks than the good end: {what}"))
}

/// The reason if a run read another amount of text.
fn other_text(reading: &Reading, target: &GuardTarget) -> Option<String> {
    let (own, wanted) = (reading.text_length()?, target.text?);
    own.differs_from(wanted).then(|| {
        format!(
            "{} read {own}, the good end {wanted}: the tokenizer or the text changed",
            target.guard.metric.measure
        )
    })
}

/// Whether a failure of the target's measure counts as bad or as untestable. A failed
/// `[[prepare]]` step has its own setting.
pub(super) fn policy_of(failure: &Failure, target: &GuardTarget, config: &Config) -> Policy {
    if failure.kind == FailureKind::Prepare {
        let is_its = |prepare: &&Prepare| failure.step() == Some(&prepare.name);
        return config.prepares.iter().find(is_its).map_or(Policy::Skip, |it| it.failure);
    }
    let measure = config.measure(&target.guard.metric.measure);
    measure.map_or(&config.failures, |measure| &measure.failures).policy(failure.kind)
}

/// The reason to skip a commit that fails in this way.
pub(crate) fn skip_reason(kind: FailureKind) -> SkipReason {
    match kind {
        FailureKind::Build => SkipReason::Build,
        FailureKind::Patch => SkipReason::Patch,
        FailureKind::Checkout => SkipReason::Checkout,
        FailureKind::Prepare => SkipReason::Prepare,
        FailureKind::Crash => SkipReason::Crash,
        FailureKind::Timeout => SkipReason::Timeout,
        FailureKind::Nan => SkipReason::Nan,
        FailureKind::Unreadable => SkipReason::Unreadable,
        FailureKind::Incomplete => SkipReason::Incomplete,
        FailureKind::Require => SkipReason::Require,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Guard, GuardForm, Metric, NeededChecks, PrintedUnits};
    use crate::oracle::fixture::checks;

    #[test]
    fn a_number_of_another_scale_than_an_end_says_nothing() {
        let metric = Metric::of("acc");
        let guard = Guard { metric: metric.clone(), form: GuardForm::MaxDecrease(1.0) };
        let [good, bad] = [45.2, 0.412].map(Value::Number);
        let none: PrintedUnits = [String::new()].into_iter().collect();
        let target = GuardTarget {
            units: Some(none.clone()),
            ..GuardTarget::between(&guard, good, bad, None)
        };
        let said = |number: f64| {
            let reading = Reading {
                values: [(metric.clone(), Value::Number(number))].into(),
                units: [(metric.clone(), none.clone())].into(),
                ..Reading::default()
            };
            incomparable(&reading, &target, &[]).map(|(_, why)| why)
        };
        assert!(said(0.452).unwrap().ends_with("from the good end by a factor of 100"));
        assert!(said(41.2).unwrap().ends_with("from the bad end by a factor of 100"));
        assert_eq!([45.2, 44.0, 0.412].map(said), [None, None, None]);
    }

    #[test]
    fn an_old_failure_that_did_not_run_matters_only_if_it_could_break_the_guard() {
        let metric = Metric::named("suite", "failed");
        let guard = Guard { metric: metric.clone(), form: GuardForm::MaxIncrease(0.0) };
        let [good, bad] = [1.0, 2.0].map(Value::Number);
        let needed = NeededChecks { known: checks("old new"), new: Checks::default() };
        let target = GuardTarget {
            needed: Some(Box::new(needed)),
            ..GuardTarget::between(&guard, good, bad, None)
        };
        let says_nothing = |failed: f64, ran: &str| {
            let reading = Reading {
                values: [(metric.clone(), Value::Number(failed))].into(),
                checks: Some(checks(ran)),
                ..Reading::default()
            };
            missing_checks(&reading, &target).is_some()
        };
        assert!(!says_nothing(0.0, "new"), "one failure is as many as at the good end");
        assert!(says_nothing(1.0, "new"));
        assert!(says_nothing(0.0, ""));
        assert!(!says_nothing(1.0, "old new"));
        assert!(!says_nothing(2.0, "new"), "worse already");
    }
}
