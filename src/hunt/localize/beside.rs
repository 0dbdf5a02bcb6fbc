//! What the bad endpoint without the cause, or with a fix, shows beside the step: guards that are
//! broken then, and measures that fail.

use crate::config::Config;
use crate::evaluation::{CommitId, Guard, GuardForm, Metric, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, Sample, guarded_measures};
use crate::store::journal::OtherGuard;
use crate::ui::text;

/// A guard in percent counts as broken only beyond this multiple of its tolerance, because it is
/// judged by a single run, which has noise.
const SURE_PERCENT: f64 = 2.0;

impl Driver<'_> {
    /// Runs all guarded measures of the reverted endpoint once: what fails there, or which guard of
    /// `others` is broken; `None` if nothing is. `others`: the guards that the hunt does not search
    /// for.
    pub(super) fn broken_beside(
        &mut self,
        end: &CommitId,
        reverted: &Config,
        others: &[OtherGuard],
    ) -> Result<Option<Broken>, HuntError> {
        let measures = guarded_measures(&self.oracle.recipes.config.guards);
        let look = Request::look(end, &measures, Phase::Localize);
        let request = Request { runs: 1, recipe: Some(reverted), ..look };
        let seen = self.oracle.evaluate(request)?;
        // `others` lacks the guards of a measure that fails at the bad end, for they have no level
        // there.
        let good = self.begun.good.commit.clone();
        let at_good = self.known_runs(&good, &measures)?;
        let (targets, _) = self.sought()?;
        let is_known = |guard: &Guard| {
            others.iter().any(|other| other.guard == *guard)
                || targets.iter().filter_map(Target::guard).any(|one| one.guard == *guard)
        };
        let mut all = others.to_vec();
        for guard in self.guards().into_iter().filter(|guard| !is_known(guard)) {
            let baseline = at_good.level(&guard.metric);
            all.push(OtherGuard { guard, baseline, bad: None, why: String::new() });
        }
        let at_end = self.known_runs(end, &measures)?;
        Ok(broken(&seen, &all).or_else(|| better(&seen, &all, [&at_good, &at_end])))
    }

    /// Runs all guarded measures of the bad endpoint with a fix once: what fails there, or which
    /// guard is broken, that the endpoint does not fail or break without the fix. `None` if nothing
    /// is. `fixed`: builds the endpoint with the fix.
    pub(super) fn broken_by_fix(
        &mut self,
        end: &CommitId,
        fixed: &Config,
    ) -> Result<Option<String>, HuntError> {
        let guards = self.guards();
        let measures = guarded_measures(&guards);
        let look = Request::look(end, &measures, Phase::Localize);
        let request = Request { runs: 1, recipe: Some(fixed), ..look };
        let seen = self.oracle.evaluate(request)?;
        let good = self.begun.good.commit.clone();
        let [at_good, at_bad] =
            [self.known_runs(&good, &measures)?, self.known_runs(end, &measures)?];
        Ok(newly_broken(&seen, &at_good, &at_bad, &guards))
    }
}

/// The first failure, or the first broken guard, of the bad endpoint with a fix (`seen`) that this
/// endpoint does not have without it (`at_bad`).
fn newly_broken(
    seen: &Observation,
    at_good: &Observation,
    at_bad: &Observation,
    guards: &[Guard],
) -> Option<String> {
    let has_failed = |samples: &[Sample]| samples.iter().any(|sample| sample.result.is_err());
    let mut new = seen.clone();
    new.samples.retain(|measure, samples| !(has_failed(samples) && has_failed(at_bad.of(measure))));
    let is_new = |guard: &&Guard| {
        let levels = at_good.level(&guard.metric).zip(at_bad.level(&guard.metric));
        levels.is_none_or(|(good, bad)| !is_broken(guard, &good, &bad))
    };
    let others = guards.iter().filter(is_new).map(|guard| OtherGuard {
        guard: guard.clone(),
        baseline: at_good.level(&guard.metric),
        bad: None,
        why: String::new(),
    });
    let others: Vec<OtherGuard> = others.collect();
    broken(&new, &others).map(|broken| broken.what)
}

/// What the reverted endpoint shows beside the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    /// The first failure, or the first broken guard, in a sentence.
    pub(super) what: String,
    /// The first guard that is also broken at the endpoint itself, which has the change.
    pub(super) broken_too: Option<Metric>,
}

/// The first failure, or the first broken guard of `others`.
fn broken(seen: &Observation, others: &[OtherGuard]) -> Option<Broken> {
    for (measure, samples) in &seen.samples {
        let failure = samples.iter().find_map(|sample| sample.result.as_ref().err());
        if let Some(failure) = failure {
            let what = format!("{measure} {} ({})", failure.kind, failure.detail);
            return Some(Broken { what, broken_too: None });
        }
    }
    let broken = others.iter().filter_map(|other| {
        let guard = &other.guard;
        let (before, now) = (other.baseline.as_ref()?, seen.level(&guard.metric)?);
        is_broken(guard, before, &now).then_some((other, before, now))
    });
    let broken: Vec<_> = broken.collect();
    let (first, before, now) = broken.first()?;
    let (before, now) = (text::value(before), text::value(now));
    let is_too = |other: &OtherGuard, before: &Value| {
        other.bad.as_ref().is_some_and(|bad| is_broken(&other.guard, before, bad))
    };
    let broken_too = broken.iter().find(|(other, before, _)| is_too(other, before));
    Some(Broken {
        what: format!("{} goes from {before} to {now}", first.guard.metric),
        broken_too: broken_too.map(|(other, ..)| other.guard.metric.clone()),
    })
}

/// The first guard whose metric is better than in every run of both ends by more than the tolerance:
/// another part of the program may run. Not for a guard with a fixed limit, which says nothing of
/// ordinary differences.
fn better(seen: &Observation, others: &[OtherGuard], ends: [&Observation; 2]) -> Option<Broken> {
    others.iter().find_map(|OtherGuard { guard, .. }| {
        let runs = ends.map(|end| end.numbers(&guard.metric)).concat();
        let now = seen.level(&guard.metric)?.number().filter(|now| now.is_finite())?;
        let is_worse = |run: &f64| guard.is_worse_by(now, *run, surely(guard, *run));
        let is_fixed = matches!(guard.form, GuardForm::Max(_) | GuardForm::Min(_));
        if is_fixed || !runs.iter().all(is_worse) {
            return None;
        }
        let before = text::value(&Value::Number(*runs.first()?));
        let what =
            format!("{} goes from {before} to {}", guard.metric, text::value(&Value::Number(now)));
        Some(Broken { what, broken_too: None })
    })
}

/// How far a guard's metric must move from `before` to count, in its unit.
fn surely(guard: &Guard, before: f64) -> f64 {
    let is_percent =
        matches!(guard.form, GuardForm::MaxIncreasePercent(_) | GuardForm::MaxDecreasePercent(_));
    let sure = if is_percent { SURE_PERCENT } else { 1.0 };
    sure * guard.limit(before).max(0.0)
}

/// Whether a guard is broken by the change from `before` to `now`.
fn is_broken(guard: &Guard, before: &Value, now: &Value) -> bool {
    let (Some(before), Some(now)) = (before.number(), now.number()) else { return before != now };
    guard.is_worse_by(before, now, surely(guard, before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{at, failed, guard, seen};

    fn other(form: GuardForm, baseline: f64) -> OtherGuard {
        OtherGuard {
            guard: Guard { metric: Metric::of("ppl"), ..guard(form) },
            baseline: Some(Value::Number(baseline)),
            bad: None,
            why: String::new(),
        }
    }

    #[test]
    fn a_revert_that_breaks_another_guard_is_told() {
        let found = |form, level: f64| broken(&at('e', &[level]), &[other(form, 5.0)]);
        let exact = GuardForm::MaxIncrease(0.5);
        assert_eq!(found(exact, 5.4), None);
        let told = found(exact, 12.0).unwrap();
        assert_eq!((told.what.as_str(), told.broken_too), ("ppl goes from 5 to 12", None));
        // The bad end itself breaks it, and not through the change.
        let both = OtherGuard { bad: Some(Value::Number(12.0)), ..other(exact, 5.0) };
        let told = broken(&at('e', &[12.0]), &[both]).unwrap();
        assert_eq!(told.broken_too, Some(Metric::of("ppl")));
        let percent = GuardForm::MaxIncreasePercent(10.0);
        assert_eq!(found(percent, 5.9), None);
        assert!(found(percent, 6.1).is_some());
    }

    #[test]
    fn a_guard_that_is_far_better_than_at_both_ends_is_told() {
        let found = |form, level: f64, bad: &[f64]| {
            better(&at('e', &[level]), &[other(form, 7.0)], [&at('9', &[7.0]), &at('1', bad)])
        };
        let exact = GuardForm::MaxIncrease(0.1);
        let told = found(exact, 5.0, &[]).unwrap();
        assert_eq!((told.what.as_str(), told.broken_too), ("ppl goes from 7 to 5", None));
        assert_eq!(found(exact, 6.95, &[]), None);
        assert_eq!(found(exact, 5.0, &[5.0]), None);
        assert_eq!(found(GuardForm::Max(7.1), 5.0, &[]), None);
        assert_eq!(found(GuardForm::MaxIncreasePercent(10.0), 6.0, &[]), None);
    }

    #[test]
    fn a_fix_breaks_only_what_the_bad_end_does_not_break_without_it() {
        let guards = [guard(GuardForm::MaxIncrease(0.5))];
        let good = at('9', &[7.0]);
        let crash = || seen('1', "ppl", [failed(FailureKind::Crash, "signal")]);
        let told = |seen: &Observation, bad: &Observation| newly_broken(seen, &good, bad, &guards);
        assert_eq!(told(&at('1', &[7.2]), &at('1', &[7.0])), None);
        let broken = told(&at('1', &[300.0]), &at('1', &[7.0]));
        assert_eq!(broken.as_deref(), Some("ppl goes from 7 to 300"));
        assert_eq!(told(&at('1', &[300.0]), &at('1', &[9.0])), None);
        assert!(told(&crash(), &at('1', &[7.0])).is_some());
        assert_eq!(told(&crash(), &crash()), None);
        assert!(told(&at('1', &[300.0]), &crash()).is_some());
    }

    #[test]
    fn a_measure_that_fails_is_told() {
        let seen = seen('e', "ppl", [failed(FailureKind::Crash, "signal")]);
        assert!(broken(&seen, &[]).unwrap().what.starts_with("ppl "));
    }
}
