//! A hunt for a failure that the user did not ask for: the guards compare metrics, and the bad
//! endpoint yields none because it fails. Such a hunt may be useful, but its answer says nothing
//! about the metrics, so it needs the user's permission.

use crate::config::{FailureHunt, Policy};
use crate::evaluation::{Failure, Finding, Guard, Target};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;
use crate::ui::text;

use super::targets::unmeasurable;

impl Driver<'_> {
    /// The finding that ends the hunt if its target is a failure and such a hunt is not allowed.
    pub(crate) fn refuse_failure_hunt(
        &mut self,
        targets: &[Target],
    ) -> Result<Option<Box<Finding>>, HuntError> {
        let failure = targets.iter().find_map(|target| match target {
            Target::Failure { measure, failure, .. } => {
                Some((measure.as_deref(), failure, "bad does not"))
            }
            Target::Guard(_) => {
                let (measure, failure) = target.failure_of_runs()?;
                Some((Some(measure), failure, "bad does not in each run"))
            }
        });
        let Some((measure, failure, bad)) = failure else { return Ok(None) };
        if self.is_wanted(measure, failure) {
            return Ok(None);
        }
        let metrics = guarded_metrics(&self.oracle.recipes.config.guards);
        let who = measure.unwrap_or("the build");
        let is_allowed = match self.oracle.recipes.config.failures.hunt {
            FailureHunt::Yes => true,
            FailureHunt::No => false,
            FailureHunt::Ask => self.ask(&format!(
                "good yields {metrics}, {bad}: {who} {} ({}). Hunt for the commit that \
                 brought this failure? The answer will say nothing about {metrics}.",
                failure.kind, failure.detail
            ))?,
        };
        if is_allowed {
            return Ok(None);
        }
        Ok(Some(unmeasurable(format!(
            "good yields {metrics}, {bad}: {who} {} ({}). A hunt for this failure is not \
             allowed; --allow-failure-hunt allows it, or choose a bad commit that works",
            failure.kind, failure.detail
        ))))
    }

    /// Whether the user asked for this failure: by an option, by a policy that makes commits with
    /// this failure bad, or by the outer hunt.
    fn is_wanted(&self, measure: Option<&str>, failure: &Failure) -> bool {
        let config = &self.oracle.recipes.config;
        let failures = measure.and_then(|name| config.measure(name)).map(|m| &m.failures);
        let policy = failures.unwrap_or(&config.failures).policy(failure.kind);
        self.begun.options.allow_failure_hunt
            || self.begun.within.is_some()
            || policy == Policy::Bad
    }

    /// The user's answer; without a user, yes. The journal stores the answer, so that `resume` does
    /// not ask again.
    fn ask(&mut self, question: &str) -> Result<bool, HuntError> {
        let entries = self.hunt.entries()?;
        let before = entries.iter().rev().find_map(|entry| match entry.event {
            Event::FailureHunt { is_allowed } => Some(is_allowed),
            _ => None,
        });
        if let Some(is_allowed) = before {
            return Ok(is_allowed);
        }
        let answer = (self.asker)(question);
        // Ctrl-C ends the question without an answer.
        if self.stop.is_requested() {
            return Err(HuntError::stopped(&self.stop));
        }
        let Some(is_allowed) = answer else { return Ok(true) };
        self.oracle.recorder.event(Event::FailureHunt { is_allowed })?;
        Ok(is_allowed)
    }
}

/// The metrics of the guards, each once: `ppl, ppl.wall_s and speed.tg`.
fn guarded_metrics(guards: &[Guard]) -> String {
    text::joined(distinct(guards.iter().map(|guard| guard.metric.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;

    #[test]
    fn each_guarded_metric_is_named_once() {
        let guard = |metric: &str, most: f64| Guard {
            metric: metric.parse().unwrap(),
            form: GuardForm::Max(most),
        };
        let guards =
            [guard("ppl", 1.0), guard("speed.tg", 2.0), guard("ppl", 3.0), guard("mem", 4.0)];
        assert_eq!(guarded_metrics(&guards), "ppl, speed.tg and mem");
    }
}
