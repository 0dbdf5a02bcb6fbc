//! What the bad endpoint without the cause shows beside the step: guards that are broken then, and
//! measures that fail.

use crate::config::Config;
use crate::evaluation::{CommitId, GuardForm, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, guarded_measures};
use crate::store::journal::OtherGuard;
use crate::ui::text;

/// A guard in percent counts as broken only beyond this multiple of its tolerance, because it is
/// judged by a single run, which has noise.
const SURE_PERCENT: f64 = 2.0;

impl Driver<'_> {
    /// Runs all guarded measures of the reverted endpoint once. Says what fails there, or which
    /// guard of `others` is broken; `None` if nothing is. `others`: the guards that the hunt does
    /// not search for.
    pub(super) fn broken_beside(
        &mut self,
        end: &CommitId,
        reverted: &Config,
        others: &[OtherGuard],
    ) -> Result<Option<String>, HuntError> {
        let measures = guarded_measures(&self.oracle.recipes.config.guards);
        let look = Request::look(end, &measures, Phase::Localize);
        let request = Request { runs: 1, recipe: Some(reverted), reuse_identical: true, ..look };
        let seen = self.oracle.evaluate(request)?;
        Ok(broken(&seen, others))
    }
}

/// A sentence about the first failure, or about the first broken guard of `others`.
fn broken(seen: &Observation, others: &[OtherGuard]) -> Option<String> {
    for (measure, samples) in &seen.samples {
        let failure = samples.iter().find_map(|sample| sample.result.as_ref().err());
        if let Some(failure) = failure {
            return Some(format!("{measure} {} ({})", failure.kind, failure.detail));
        }
    }
    others.iter().find_map(|other| {
        let guard = &other.guard;
        let (before, now) = (other.baseline.as_ref()?, seen.level(&guard.metric)?);
        let is_broken = match (before.number(), now.number()) {
            (Some(before), Some(now)) => {
                let is_percent = matches!(
                    guard.form,
                    GuardForm::MaxIncreasePercent(_) | GuardForm::MaxDecreasePercent(_)
                );
                let sure = if is_percent { SURE_PERCENT } else { 1.0 };
                guard.worsening(before, now) > sure * guard.limit(before).max(0.0)
            }
            _ => *before != now,
        };
        is_broken.then(|| {
            let (before, now) = (text::value(before), text::value(&now));
            format!("{} goes from {before} to {now}", guard.metric)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, Guard, Metric, Value};
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
        assert_eq!(found(exact, 12.0).unwrap(), "ppl goes from 5 to 12");
        let percent = GuardForm::MaxIncreasePercent(10.0);
        assert_eq!(found(percent, 5.9), None);
        assert!(found(percent, 6.1).is_some());
    }

    #[test]
    fn a_measure_that_fails_is_told() {
        let seen = seen('e', "ppl", [failed(FailureKind::Crash, "signal")]);
        assert!(broken(&seen, &[]).unwrap().starts_with("ppl "));
    }
}
