//! What the bad endpoint without the cause, or with a fix, shows beside the step: guards that are
//! broken then, and measures that fail.

use crate::config::Config;
use crate::evaluation::{CommitId, Guard, GuardForm, GuardTarget, Metric, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, Sample, guarded_measures};
use crate::store::journal::OtherGuard;
use crate::ui::text;

use super::traded::MovedGuard;

/// A guard in percent whose values vary counts as broken only beyond this multiple of its tolerance,
/// because it is judged by a single run, which has noise.
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
        let ends = [&at_good, &at_end];
        Ok(match (broken(&seen, &all, ends), better(&seen, &all, ends)) {
            (Some(broken), Some(better)) => Some(broken.with(better)),
            (one, other) => one.or(other),
        })
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
        let is_exact = repeats(&guard.metric, [at_good, at_bad]);
        levels.is_none_or(|(good, bad)| !is_broken(guard, &good, &bad, is_exact))
    };
    let others = guards.iter().filter(is_new).map(|guard| OtherGuard {
        guard: guard.clone(),
        baseline: at_good.level(&guard.metric),
        bad: None,
        why: String::new(),
    });
    let others: Vec<OtherGuard> = others.collect();
    broken(&new, &others, [at_good, at_bad]).map(|broken| broken.what)
}

/// What the reverted endpoint shows beside the step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Broken {
    /// The first failure, or the first broken guard, in a sentence.
    pub(super) what: String,
    /// The first guard that is also broken at the endpoint itself, which has the change.
    pub(super) also_at_end: Option<Metric>,
    /// All guards that are broken or far better; `None` if a measure fails, or if one of them has
    /// no level at the endpoint itself.
    pub(super) moved: Option<Vec<MovedGuard>>,
}

impl Broken {
    /// The same, with the guards that are far better.
    fn with(mut self, better: Self) -> Self {
        self.moved = self.moved.zip(better.moved).map(|(own, more)| [own, more].concat());
        self
    }
}

/// The first failure, or the first broken guard of `others`. `ends`: the runs of both ends.
fn broken(seen: &Observation, others: &[OtherGuard], ends: [&Observation; 2]) -> Option<Broken> {
    for (measure, samples) in &seen.samples {
        let failure = samples.iter().find_map(|sample| sample.result.as_ref().err());
        if let Some(failure) = failure {
            let what = format!("{measure} {} ({})", failure.kind, failure.detail);
            return Some(Broken { what, also_at_end: None, moved: None });
        }
    }
    let broken = others.iter().filter_map(|other| {
        let guard = &other.guard;
        let (before, now) = (other.baseline.as_ref()?, seen.level(&guard.metric)?);
        let is_exact = repeats(&guard.metric, ends);
        is_broken(guard, before, &now, is_exact).then_some((other, before, now))
    });
    let broken: Vec<_> = broken.collect();
    let moved = broken.iter().map(|(other, _, now)| moved_guard(&other.guard, ends, now.clone()));
    let moved = moved.collect();
    let (first, before, now) = broken.first()?;
    let (before, now) = (text::value(before), text::value(now));
    let is_too = |other: &OtherGuard, before: &Value| {
        let is_exact = repeats(&other.guard.metric, ends);
        other.bad.as_ref().is_some_and(|bad| is_broken(&other.guard, before, bad, is_exact))
    };
    let also_at_end = broken.iter().find(|(other, before, _)| is_too(other, before));
    Some(Broken {
        what: format!("{} goes from {before} to {now}", first.guard.metric),
        also_at_end: also_at_end.map(|(other, ..)| other.guard.metric.clone()),
        moved,
    })
}

/// A guard with its levels at both ends and without the change (`now`).
fn moved_guard(guard: &Guard, ends: [&Observation; 2], now: Value) -> Option<MovedGuard> {
    let [good, bad] = ends.map(|end| end.level(&guard.metric));
    Some(MovedGuard { target: GuardTarget::between(guard, good?, bad?, None), now })
}

/// The guards whose metric is better than in every run of both ends by more than the tolerance, the
/// first one in words: another part of the program may run. Not for a guard with a fixed limit,
/// which says nothing of ordinary differences.
fn better(seen: &Observation, others: &[OtherGuard], ends: [&Observation; 2]) -> Option<Broken> {
    let found = others.iter().filter_map(|OtherGuard { guard, .. }| {
        let runs = ends.map(|end| end.numbers(&guard.metric)).concat();
        let now = seen.level(&guard.metric)?.number().filter(|now| now.is_finite())?;
        let is_exact = repeats(&guard.metric, ends);
        let is_worse = |run: &f64| guard.is_worse_by(now, *run, surely(guard, *run, is_exact));
        let is_fixed = matches!(guard.form, GuardForm::Max(_) | GuardForm::Min(_));
        if is_fixed || !runs.iter().all(is_worse) {
            return None;
        }
        let [before, now] = [*runs.first()?, now].map(Value::Number);
        Some((guard, before, now))
    });
    let found: Vec<_> = found.collect();
    let moved = found.iter().map(|(guard, _, now)| moved_guard(guard, ends, now.clone())).collect();
    let (guard, before, now) = found.first()?;
    let (before, now) = (text::value(before), text::value(now));
    let what = format!("{} goes from {before} to {now}", guard.metric);
    Some(Broken { what, also_at_end: None, moved })
}

/// Whether all runs of each end show one value of the metric, and the good end has several runs.
fn repeats(metric: &Metric, [good, bad]: [&Observation; 2]) -> bool {
    let is_one_value =
        |runs: &[f64]| runs.windows(2).all(|two| two[0].to_bits() == two[1].to_bits());
    let [good, bad] = [good, bad].map(|end| end.numbers(metric));
    good.len() > 1 && is_one_value(&good) && is_one_value(&bad)
}

/// How far a guard's metric must move from `before` to count, in its unit. `is_exact`: its values
/// repeat, so a single run tells.
fn surely(guard: &Guard, before: f64, is_exact: bool) -> f64 {
    let is_percent =
        matches!(guard.form, GuardForm::MaxIncreasePercent(_) | GuardForm::MaxDecreasePercent(_));
    let sure = if is_percent && !is_exact { SURE_PERCENT } else { 1.0 };
    sure * guard.limit(before).max(0.0)
}

/// Whether a guard is broken by the change from `before` to `now`. `is_exact`: see [`surely`].
fn is_broken(guard: &Guard, before: &Value, now: &Value, is_exact: bool) -> bool {
    let (Some(before), Some(now)) = (before.number(), now.number()) else { return before != now };
    guard.is_worse_by(before, now, surely(guard, before, is_exact))
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
        let found = |form, level: f64| {
            let ends = [&at('9', &[5.0, 5.1]), &at('1', &[5.0])];
            broken(&at('e', &[level]), &[other(form, 5.0)], ends)
        };
        let exact = GuardForm::MaxIncrease(0.5);
        assert_eq!(found(exact, 5.4), None);
        let told = found(exact, 12.0).unwrap();
        assert_eq!((told.what.as_str(), told.also_at_end), ("ppl goes from 5 to 12", None));
        // The bad end itself breaks it, and not through the change.
        let both = OtherGuard { bad: Some(Value::Number(12.0)), ..other(exact, 5.0) };
        let told = broken(&at('e', &[12.0]), &[both], [&at('9', &[5.0]), &at('1', &[12.0])]);
        let told = told.unwrap();
        assert_eq!(told.also_at_end, Some(Metric::of("ppl")));
        let percent = GuardForm::MaxIncreasePercent(10.0);
        assert_eq!(found(percent, 5.9), None);
        assert!(found(percent, 6.1).is_some());
    }

    #[test]
    fn where_values_repeat_a_guard_in_percent_is_broken_beyond_its_tolerance() {
        let found = |good: &[f64], bad: &[f64], level: f64| {
            let ends = [&at('9', good), &at('1', bad)];
            let all = [other(GuardForm::MaxDecreasePercent(5.0), 40.0)];
            let seen = at('e', &[level]);
            broken(&seen, &all, ends).or_else(|| better(&seen, &all, ends)).is_some()
        };
        let exact = |level: f64| found(&[40.0, 40.0], &[40.0, 40.0], level);
        assert!(exact(37.0) && !exact(38.5) && exact(43.0) && !exact(41.5));
        // One run does not show that values repeat, and these vary.
        for good in [&[40.0][..], &[40.0, 40.1]] {
            assert!(!found(good, &[40.0], 37.0) && found(good, &[40.0], 35.0), "{good:?}");
        }
        assert!(!found(&[40.0, 40.0], &[40.0, 39.9], 37.0));
        // The measure fails at the bad end.
        assert!(found(&[40.0, 40.0], &[], 37.0));
    }

    #[test]
    fn a_guard_that_is_far_better_than_at_both_ends_is_told() {
        let found = |form, level: f64, bad: &[f64]| {
            better(&at('e', &[level]), &[other(form, 7.0)], [&at('9', &[7.0]), &at('1', bad)])
        };
        let exact = GuardForm::MaxIncrease(0.1);
        let told = found(exact, 5.0, &[]).unwrap();
        assert_eq!((told.what.as_str(), told.also_at_end), ("ppl goes from 7 to 5", None));
        assert_eq!(found(exact, 6.95, &[]), None);
        assert_eq!(found(exact, 5.0, &[5.0]), None);
        assert_eq!(found(GuardForm::Max(7.1), 5.0, &[]), None);
        assert_eq!(found(GuardForm::MaxIncreasePercent(10.0), 6.0, &[]), None);
    }

    #[test]
    fn all_guards_that_move_are_known_unless_a_measure_fails() {
        let ends = [&at('9', &[40.0, 40.0]), &at('1', &[44.0])];
        let forms = [GuardForm::MaxDecreasePercent(5.0), GuardForm::MaxDecrease(1.0)];
        let all = forms.map(|form| other(form, 40.0));
        let levels = |level: f64| {
            let found = broken(&at('e', &[level]), &all, ends);
            let found = found.or_else(|| better(&at('e', &[level]), &all, ends)).unwrap();
            let moved = found.moved.unwrap().into_iter();
            let seen = moved.map(|one| [one.target.baseline, one.target.bad, one.now]);
            seen.map(|levels| levels.map(|level| level.number().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(levels(28.0), [[40.0, 44.0, 28.0]; 2]);
        assert_eq!(levels(60.0), [[40.0, 44.0, 60.0]; 2]);
        let slow = || broken(&at('e', &[28.0]), &all, ends).unwrap();
        assert_eq!(slow().with(slow()).moved.unwrap().len(), 4);
        let crash = seen('e', "ppl", [failed(FailureKind::Crash, "signal")]);
        let crash = broken(&crash, &all, ends).unwrap();
        assert_eq!((crash.moved.clone(), crash.with(slow()).moved), (None, None));
        // The measure fails at the bad end, so nothing is known of it there.
        let ends = [&at('9', &[40.0, 40.0]), &at('1', &[])];
        assert_eq!(broken(&at('e', &[28.0]), &all, ends).unwrap().moved, None);
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
        let ends = [&at('9', &[7.0]), &at('1', &[7.0])];
        assert!(broken(&seen, &[], ends).unwrap().what.starts_with("ppl "));
    }
}
