//! Decides when a run leaves its commit untestable: by the failure's policy, other text, another
//! unit, other checks, or checks that did not run.

use crate::config::{Config, Policy, Prepare};
use crate::evaluation::{
    Checks, Direction, Failure, FailureKind, GuardTarget, Reading, SkipReason,
};

/// Why a run cannot be compared with the good endpoint's runs: other text, another unit, or other
/// checks.
pub(super) fn incomparable(
    reading: &Reading,
    target: &GuardTarget,
) -> Option<(SkipReason, String)> {
    let text = || Some((SkipReason::OtherText, other_text(reading, target)?));
    let checks = || {
        let measure = &target.guard.metric.measure;
        Some((SkipReason::OtherChecks, other_checks(reading, target.checks.as_ref(), measure)?))
    };
    let unit = || Some((SkipReason::OtherUnit, other_unit(reading, target)?));
    let missing = || Some((SkipReason::OtherChecks, missing_checks(reading, target)?));
    text().or_else(unit).or_else(checks).or_else(missing)
}

/// The reason if the metric's number has another unit.
fn other_unit(reading: &Reading, target: &GuardTarget) -> Option<String> {
    let metric = &target.guard.metric;
    let (own, wanted) = (reading.units.get(metric)?, target.units.as_ref()?);
    own.differ_from(wanted)
        .then(|| format!("{metric} has another unit: {own}, but {wanted} at the good end"))
}

/// The reason if checks did not run that would show the regression. A check that did not run lowers
/// a count, so a value that it can only make smaller says nothing.
fn missing_checks(reading: &Reading, target: &GuardTarget) -> Option<String> {
    let missing = target.needed.as_ref()?.missing(reading.checks()?, &reading.skipped);
    let metric = &target.guard.metric;
    let value = reading.values.get(metric)?;
    let is_worse = target.guard.is_beyond(&target.baseline, value, |_| target.limit);
    let says_nothing = match target.guard.direction() {
        Direction::Up => !is_worse,
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
