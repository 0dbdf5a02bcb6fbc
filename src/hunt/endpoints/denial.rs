//! The answer "no regression", after a look at what may hide a regression.

use crate::evaluation::{Finding, Guard};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, guarded_measures};
use crate::search::{excluded_rate, runs_to_exclude};
use crate::ui::text;

use super::advice::advice;
use super::checks::no_longer_run;
use super::empty_home::WithEmptyHome;
use super::newly_failed;
use super::noise::EndpointPolicy;

/// Before the finding `no-regression`, the runs of a test that always passed must exclude this
/// failure rate and larger ones.
const RARE: f64 = 0.2;

impl Driver<'_> {
    /// Before the finding `no-regression`: the measures that only pass or fail, passed in all runs
    /// of both endpoints, and need another run of the bad endpoint to exclude a rare failure.
    pub(super) fn to_deny_rare_failures(
        &self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Vec<String> {
        if !self.shows_none(good, bad, policy) {
            return Vec::new();
        }
        let guards = self.guards();
        let wanted = runs_to_exclude(RARE, self.oracle.recipes.config.statistics.confidence);
        let passing = always_pass(good, bad, &guards, policy);
        let is_short = |guard: &&Guard| bad.values(&guard.metric).len() < wanted;
        guarded_measures(&passing.into_iter().filter(is_short).cloned().collect::<Vec<_>>())
    }

    /// The finding that the endpoints show no regression, or what a look at earlier runs, builds,
    /// the home folder and the programs that ran showed instead.
    pub(super) fn denied(
        &mut self,
        mut finding: Box<Finding>,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Result<Box<Finding>, HuntError> {
        if let Some(change) = self.earlier_runs_that_vary(good, bad) {
            return Ok(Box::new(self.begin_after_change(change)?));
        }
        // This comes first, because the checks below replace the builds of both ends.
        let same_program = self.same_program(good, bad)?;
        if let Some(refusal) = self.overwritten(good, bad)? {
            return Ok(refusal);
        }
        match self.check_with_empty_home(good, bad, policy)? {
            WithEmptyHome::Regression => {
                return Ok(Box::new(self.begin_with_empty_home("the endpoints differ")?));
            }
            WithEmptyHome::Same => {
                finding.summary += "; nor do they with an empty home folder";
            }
            WithEmptyHome::Unknown => {}
        }
        let confidence = self.oracle.recipes.config.statistics.confidence;
        for guard in always_pass(good, bad, &self.guards(), policy) {
            finding.summary += "; ";
            finding.summary += &excluded(guard, bad.values(&guard.metric).len(), confidence);
        }
        if let Some(refusal) = same_program {
            return Ok(refusal);
        }
        let odd_nodes = Vec::from_iter(self.set_aside()?).join("; ");
        if !odd_nodes.is_empty() {
            finding.summary += "; no commit did it: ";
            finding.summary += &odd_nodes;
        }
        for told in newly_failed(good, bad).into_iter().chain(no_longer_run(good, bad)) {
            finding.summary += "; but ";
            finding.summary += &told;
        }
        finding.next = advice(good, bad, &self.guards());
        Ok(finding)
    }
}

/// The guards on metrics that only pass or fail, and that passed in every run of both endpoints.
fn always_pass<'g>(
    good: &Observation,
    bad: &Observation,
    guards: &'g [Guard],
    policy: &EndpointPolicy,
) -> Vec<&'g Guard> {
    let passes = |guard: &&Guard| {
        let metric = &guard.metric;
        let Some(level) = good.level(metric) else { return false };
        let mut values = good.values(metric).into_iter().chain(bad.values(metric));
        policy.pass_fail.contains(metric)
            && !policy.is_spread
            && bad.level(metric).is_some()
            && values.all(|value| value == level && !guard.is_broken(&level, &value))
    };
    guards.iter().filter(passes).collect()
}

/// The part of a sentence that says which failure rates the runs of the bad endpoint exclude.
fn excluded(guard: &Guard, runs: usize, confidence: f64) -> String {
    format!(
        "{} passed in each of {} of bad, which excludes a failure rate of {:.0} % or more, but no \
         smaller one",
        guard.metric,
        text::plural(runs, "run"),
        100.0 * excluded_rate(runs, confidence)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric, Value};
    use crate::oracle::fixture::{reading, seen};

    #[test]
    fn a_test_that_always_passes_says_down_to_which_failure_rate() {
        let smoke = || Metric::of("smoke");
        let policy = EndpointPolicy { pass_fail: [smoke()].into(), ..EndpointPolicy::default() };
        let guards = [Guard { metric: smoke(), form: GuardForm::Max(0.0) }];
        let runs = |digit, codes: &[f64]| {
            let code = |x: &f64| reading([(smoke(), Value::Number(*x))]);
            seen(digit, "smoke", codes.iter().map(code))
        };
        let good = runs('1', &[0.0; 5]);
        let passing = |codes: &[f64]| always_pass(&good, &runs('2', codes), &guards, &policy).len();
        assert_eq!(passing(&[0.0; 21]), 1);
        assert_eq!(passing(&[0.0, 0.0, 0.0, 1.0]), 0);
        assert_eq!(
            excluded(&guards[0], 21, 0.99),
            "smoke passed in each of 21 runs of bad, which excludes a failure rate of 20 % or \
             more, but no smaller one"
        );
    }
}
