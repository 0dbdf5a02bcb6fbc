//! Chooses the targets: the guards that the bad endpoint breaks clearly enough, or the bad
//! endpoint's failure. Pure.

use std::fmt;

use crate::evaluation::{
    Direction, Failure, FailureKind, Finding, FormsAtEnds, Guard, GuardTarget, Outcome,
    PlacesAtEnds, Target,
};
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::Observation;
use crate::store::journal::{OtherGuard, SearchBy, SearchMethod};
use crate::ui::text;

use super::checks::{needed_checks, other_checks, with_checks};
use super::failure_rate::{
    BY_EXIT_CODE, judge_failure_rate, varying_failures, without_failed_runs,
};
use super::guard_check::{GuardCheck, moved};
use super::lfs_pointers::read_pointer;
use super::missing_metrics::missing_at;
use super::noise::{EndpointPolicy, RUNS_TO_REPEAT, is_better_than_noise};
use super::noisy_guard::judge_noisy_guard;
use super::rates::judge_spread;
use super::same_text::other_text;
use super::same_units::other_units;

/// Why a guard is not searched for although it may be broken.
const AFTER_FAILURE: &str = "the hunt is for the failure first";

/// The targets of a hunt, the search method and the guards that are not targets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) targets: Vec<Target>,
    pub(crate) steadiness: SearchMethod,
    pub(crate) others: Vec<OtherGuard>,
    /// What the bad end shows besides the failure that is the target: other measures that fail, and
    /// broken guards. The hunt searches for them once it has found the failure's commit.
    pub(crate) beside: Vec<Target>,
}

/// Chooses the targets. The error is the finding that ends the hunt.
pub(crate) fn choose(
    good: &Observation,
    bad: &Observation,
    guards: &[Guard],
    policy: &EndpointPolicy,
) -> Result<Chosen, Box<Finding>> {
    let (good, bad) = (&guarded(good, guards), &guarded(bad, guards));
    let mut chosen = choose_without_checks(good, bad, guards, policy)?;
    chosen.targets = with_checks(chosen.targets, good, &policy.same_checks);
    Ok(chosen)
}

/// Chooses the targets; [`choose`] then adds the required checks.
fn choose_without_checks(
    good: &Observation,
    bad: &Observation,
    guards: &[Guard],
    policy: &EndpointPolicy,
) -> Result<Chosen, Box<Finding>> {
    if let Some(finding) = read_pointer(good, bad) {
        return Err(Box::new(finding));
    }
    if let Some(failed) = first_failure(good) {
        let is_both = |other: &Failed<'_>| {
            other.measure == failed.measure && [good, bad].iter().all(|end| failed.is_always(end))
        };
        let other = first_failure(bad).filter(is_both);
        let summary = match other {
            Some(other) if other.failure.is_same_failure(failed.failure) => format!(
                "both endpoints fail alike, so the command or the configuration is wrong: {failed}"
            ),
            Some(_) => format!(
                "both endpoints fail, so the command or the configuration may be wrong: {failed}"
            ),
            None => format!("the good endpoint cannot be measured: {failed}"),
        };
        let mut finding = unmeasurable(summary);
        if !failed.is_always(good) {
            finding.next.push(BY_EXIT_CODE.to_owned());
        }
        return Err(finding);
    }
    if let Some(failure) = &bad.build_failure {
        return failure_target(None, failure, bad.build_starved);
    }
    for (measure, samples) in &bad.samples {
        let is_its = |guard: &&Guard| guard.metric.measure == *measure;
        let by_rate = |guard: &Guard| judge_failure_rate(good, bad, guard, policy).is_some();
        if guards.iter().filter(is_its).any(by_rate) {
            continue;
        }
        let failures: Vec<_> = samples.iter().filter_map(|s| s.result.as_ref().err()).collect();
        let Some(first) = failures.first() else { continue };
        if let Some(finding) = varying_failures(measure, &failures, samples.len()) {
            return Err(Box::new(finding));
        }
        let starved = samples.iter().any(|sample| sample.starved);
        let chosen = failure_target(Some(measure.clone()), first, starved)?;
        let beside = beside(good, bad, guards, policy, measure);
        let others = beside.iter().filter_map(after_the_failure).collect();
        return Ok(Chosen { others, beside, ..chosen });
    }
    let other_checks = || other_checks(good, bad, &policy.same_checks);
    let other_units = || other_units(good, bad, guards);
    if let Some(what) = other_text(good, bad).or_else(other_units).or_else(other_checks) {
        return Err(unmeasurable(what));
    }
    guard_targets(good, bad, guards, policy)
}

/// An endpoint's runs of guarded measures. Failures of other measures are ignored.
fn guarded(endpoint: &Observation, guards: &[Guard]) -> Observation {
    let mut guarded = endpoint.clone();
    guarded.samples.retain(|name, _| guards.iter().any(|guard| guard.metric.measure == *name));
    guarded
}

/// The first failure of an endpoint: of its build, or of a measure.
struct Failed<'a> {
    measure: Option<&'a str>,
    failure: &'a Failure,
}

impl Failed<'_> {
    /// Whether an endpoint's build fails, or every run of this measure.
    fn is_always(&self, endpoint: &Observation) -> bool {
        let fails = |measure| endpoint.of(measure).iter().all(|sample| sample.result.is_err());
        self.measure.map_or(endpoint.build_failure.is_some(), fails)
    }
}

impl fmt::Display for Failed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.measure.unwrap_or("it");
        write!(f, "{what} {} ({})", self.failure.kind, self.failure.detail)
    }
}

fn first_failure(endpoint: &Observation) -> Option<Failed<'_>> {
    if let Some(failure) = &endpoint.build_failure {
        return Some(Failed { measure: None, failure });
    }
    endpoint.samples.iter().find_map(|(measure, samples)| {
        let failure = samples.iter().find_map(|sample| sample.result.as_ref().err())?;
        Some(Failed { measure: Some(measure), failure })
    })
}

pub(crate) fn unmeasurable(summary: String) -> Box<Finding> {
    Box::new(Finding::plain(Outcome::EndpointUnmeasurable, summary))
}

/// Makes the bad endpoint's failure the target, if its kind can be hunted.
fn failure_target(
    measure: Option<String>,
    failure: &Failure,
    starved: bool,
) -> Result<Chosen, Box<Finding>> {
    let can_be_hunted = matches!(
        failure.kind,
        FailureKind::Build
            | FailureKind::Prepare
            | FailureKind::Crash
            | FailureKind::Timeout
            | FailureKind::Nan
    );
    if !can_be_hunted || starved {
        return Err(unmeasurable(format!(
            "the bad endpoint cannot be measured: it {} ({})",
            failure.kind, failure.detail
        )));
    }
    Ok(Chosen {
        targets: vec![Target::Failure { measure, failure: failure.clone(), checks: None }],
        steadiness: SearchMethod::BitIdentical,
        others: Vec::new(),
        beside: Vec::new(),
    })
}

/// A guard that the hunt searches for after the failure.
fn after_the_failure(target: &Target) -> Option<OtherGuard> {
    let Target::Guard(target) = target else { return None };
    Some(OtherGuard {
        guard: target.guard.clone(),
        baseline: Some(target.baseline.clone()),
        bad: Some(target.bad.clone()),
        why: AFTER_FAILURE.to_owned(),
    })
}

/// What the bad end shows in other measures than the failing one.
fn beside(
    good: &Observation,
    bad: &Observation,
    guards: &[Guard],
    policy: &EndpointPolicy,
    target: &str,
) -> Vec<Target> {
    let mut found = Vec::new();
    for (measure, samples) in bad.samples.iter().filter(|(measure, _)| *measure != target) {
        let first = samples.first().and_then(|sample| sample.result.as_ref().err());
        let is_always = samples.iter().all(|sample| sample.result.is_err());
        if let Some(failure) = first.filter(|_| is_always) {
            let chosen = failure_target(Some(measure.clone()), failure, false);
            found.extend(chosen.map(|chosen| chosen.targets).unwrap_or_default());
            continue;
        }
        for guard in guards.iter().filter(|guard| guard.metric.measure == *measure) {
            if other_units(good, bad, std::slice::from_ref(guard)).is_some() {
                continue;
            }
            if let GuardCheck::Target(target) = look(good, bad, guard, policy) {
                found.push(Target::Guard(*target));
            }
        }
    }
    found
}

fn guard_targets(
    good: &Observation,
    bad: &Observation,
    guards: &[Guard],
    policy: &EndpointPolicy,
) -> Result<Chosen, Box<Finding>> {
    let mut targets = Vec::new();
    let mut others = Vec::new();
    let (mut overlaps, mut holds) = (Vec::new(), Vec::new());
    let other = |guard: &Guard, why: &str| OtherGuard {
        guard: guard.clone(),
        baseline: good.level(&guard.metric),
        bad: bad.level(&guard.metric),
        why: why.to_owned(),
    };
    for guard in guards {
        match look(good, bad, guard, policy) {
            GuardCheck::Target(target) if target.failure.is_some() => {
                let measure = &guard.metric.measure;
                let is_its = |one: &Target| one.failure_of_runs().is_some_and(|it| it.0 == measure);
                let is_first = !targets.iter().any(is_its);
                let values = without_failed_runs(bad, measure);
                let of_values = look(good, &values, guard, policy);
                if matches!(of_values, GuardCheck::Target(_)) || !is_first {
                    others.push(other(guard, AFTER_FAILURE));
                }
                if is_first {
                    targets.push(Target::Guard(*target));
                }
            }
            GuardCheck::Target(target) => targets.push(Target::Guard(*target)),
            GuardCheck::More => {
                let text = format!("{} was not measured often enough", guard.metric);
                others.push(other(guard, &text));
                overlaps.push(text);
            }
            GuardCheck::TooNoisy(text) => {
                others.push(other(guard, &text));
                overlaps.push(text);
            }
            GuardCheck::NotBroken(text) => {
                others.push(other(guard, &text));
                holds.push(text);
            }
        }
    }
    if !targets.is_empty() {
        let steadiness = SearchStrategy::of(&targets, policy.by).method;
        return Ok(Chosen { targets, steadiness, others, beside: Vec::new() });
    }
    if !overlaps.is_empty() {
        let summary = format!(
            "the noise is too large to search: {}; lengthen the text or guard a steadier metric",
            overlaps.join("; ")
        );
        return Err(Box::new(Finding::plain(Outcome::NoiseTooLarge, summary)));
    }
    let mut summary = format!("the endpoints do not show the regression: {}", holds.join("; "));
    if guards.iter().any(|guard| is_better(good, bad, guard)) {
        summary.push_str("; bad is better than good by more than that: were they swapped?");
    }
    Err(Box::new(Finding::plain(Outcome::NoRegression, summary)))
}

/// Checks one guard with the runs made so far.
pub(crate) fn look(
    good: &Observation,
    bad: &Observation,
    guard: &Guard,
    policy: &EndpointPolicy,
) -> GuardCheck {
    let metric = &guard.metric;
    if policy.is_spread {
        return judge_spread(good, bad, guard, policy);
    }
    if let Some(check) = judge_failure_rate(good, bad, guard, policy) {
        return check;
    }
    let (Some(baseline), Some(level)) = (good.level(metric), bad.level(metric)) else {
        let ends = [("the good endpoint", good), ("the bad endpoint", bad)];
        return match ends.iter().find(|(_, seen)| seen.values(metric).is_empty()) {
            Some((whose, seen)) => GuardCheck::NotBroken(missing_at(seen, metric, whose)),
            // A fact that differs from run to run has no level.
            None => GuardCheck::TooNoisy(format!("{metric} does not repeat from run to run")),
        };
    };
    if guard.is_broken(&baseline, &baseline) && !passes_sometimes(good, guard, policy) {
        // If the good end already breaks `max` or `min`, no commit of the range did.
        return GuardCheck::NotBroken(format!(
            "{metric} is out of its bounds at the good end already ({})",
            text::value(&baseline)
        ));
    }
    let text = good.text(&metric.measure);
    let target = GuardTarget {
        needed: needed_checks(good, bad, guard).map(Box::new),
        units: good.units(metric).cloned(),
        forms: FormsAtEnds::of(good.forms(metric), bad.forms(metric)),
        places: PlacesAtEnds::of(good.places(metric), bad.places(metric)),
        ..GuardTarget::between(guard, baseline.clone(), level.clone(), text)
    };
    let repeats = good.repeats(metric) && bad.repeats(metric);
    let runs = good.values(metric).len().min(bad.values(metric).len());
    if repeats && policy.pass_fail.contains(metric) && runs < RUNS_TO_REPEAT {
        // A few equal runs of a flaky test may be due to chance.
        return GuardCheck::More;
    }
    let is_forced = policy.by == SearchBy::Posterior && baseline.number().is_some();
    if repeats && !(is_forced && guard.is_broken(&baseline, &level)) {
        return if guard.is_broken(&baseline, &level) {
            GuardCheck::Target(Box::new(target))
        } else {
            GuardCheck::NotBroken(moved(guard, &baseline, &level, target.limit))
        };
    }
    judge_noisy_guard(good, bad, target, policy)
}

/// Whether a metric that only passes or fails is within its bounds in some runs of the good end.
/// The median of both results says nothing, and the bad end may fail more often.
fn passes_sometimes(good: &Observation, guard: &Guard, policy: &EndpointPolicy) -> bool {
    let values = good.values(&guard.metric);
    policy.pass_fail.contains(&guard.metric)
        && values.iter().any(|value| !guard.is_broken(value, value))
}

/// Whether the bad endpoint is better than the good one by more than the tolerance and the noise.
fn is_better(good: &Observation, bad: &Observation, guard: &Guard) -> bool {
    let number = |seen: &Observation| seen.level(&guard.metric).and_then(|v| v.number());
    match (number(good), number(bad)) {
        (Some(level_good), Some(level_bad)) if guard.direction() != Direction::Any => {
            guard.is_worse_by(level_bad, level_good, guard.limit(level_good).max(0.0))
                && is_better_than_noise(good, bad, guard)
        }
        _ => false,
    }
}

/// Every guard as a target with the level at `good` as baseline, for an oracle without a bad end.
pub(crate) fn all_guards_as_targets(
    good: &Observation,
    guards: &[Guard],
    same_checks: &[String],
) -> Result<Vec<Target>, String> {
    if let Some(what) = first_failure(good) {
        return Err(format!("the good commit {} cannot be measured: {what}", good.commit.short()));
    }
    let target = |guard: &Guard| {
        let missing = || missing_at(good, &guard.metric, "the good endpoint");
        let baseline = good.level(&guard.metric).ok_or_else(missing)?;
        if guard.is_broken(&baseline, &baseline) {
            return Err(format!(
                "{} is {} at the good commit {}, which its own guard forbids",
                guard.metric,
                text::value(&baseline),
                good.commit.short()
            ));
        }
        let text = good.text(&guard.metric.measure);
        let units = good.units(&guard.metric).cloned();
        let target = GuardTarget::between(guard, baseline.clone(), baseline, text);
        Ok(Target::Guard(GuardTarget { units, ..target }))
    };
    let targets = guards.iter().map(target).collect::<Result<_, String>>()?;
    Ok(with_checks(targets, good, same_checks))
}

#[cfg(test)]
mod tests;
