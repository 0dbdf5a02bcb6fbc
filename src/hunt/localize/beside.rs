//! What the bad endpoint without the cause shows beside the step: guards that are broken then, and
//! measures that fail.

use crate::config::Config;
use crate::evaluation::{CommitId, Guard, GuardForm, Metric, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, guarded_measures};
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
        Ok(broken(&seen, &all))
    }
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

/// Whether a guard is broken by the change from `before` to `now`.
fn is_broken(guard: &Guard, before: &Value, now: &Value) -> bool {
    let (Some(before), Some(now)) = (before.number(), now.number()) else { return before != now };
    let is_percent =
        matches!(guard.form, GuardForm::MaxIncreasePercent(_) | GuardForm::MaxDecreasePercent(_));
    let sure = if is_percent { SURE_PERCENT } else { 1.0 };
    guard.is_worse_by(before, now, sure * guard.limit(before).max(0.0))
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
    fn a_measure_that_fails_is_told() {
        let seen = seen('e', "ppl", [failed(FailureKind::Crash, "signal")]);
        assert!(broken(&seen, &[]).unwrap().what.starts_with("ppl "));
    }
}
