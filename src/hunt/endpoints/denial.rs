//! The answer "no regression", after a look at what may hide a regression.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Finding, Guard, Metric, Phase};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, guarded_measures};
use crate::search::{excluded_rate, excluded_rate_above, runs_to_exclude, runs_to_exclude_above};
use crate::store::journal::Event;
use crate::ui::text;

use super::advice::advice;
use super::checks::no_longer_run;
use super::empty_home::WithEmptyHome;
use super::failure_rate::{BY_EXIT_CODE, without_strays};
use super::newly_failed;
use super::noise::EndpointPolicy;
use super::nothing_ran::TextsOnly;
use super::other_places::other_places;
use super::stray_failures::StrayFailures;

/// Before the finding `no-regression`, the runs of a test that always passed, or of a measure that
/// failed once, must exclude this failure rate and larger ones.
const RARE: f64 = 0.2;

impl Driver<'_> {
    /// Before the finding `no-regression`: the measures that need another run of the bad endpoint
    /// to exclude a rare failure. They only pass or fail, and passed in all runs of both endpoints,
    /// or they failed once at the bad endpoint alone.
    pub(super) fn to_deny_rare_failures(
        &self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Result<Vec<String>, HuntError> {
        // A failed run among many is one of those that are looked for here.
        let others = without_strays(bad);
        if !self.shows_none(good, &others, policy) {
            return Ok(Vec::new());
        }
        let guards = self.guards();
        let confidence = self.oracle.recipes.config.statistics.confidence;
        let wanted = runs_to_exclude(RARE, confidence);
        let passing = always_pass(good, &others, &guards, policy);
        let is_short = |guard: &&Guard| others.values(&guard.metric).len() < wanted;
        let passing = passing.into_iter().filter(is_short).cloned().collect::<Vec<_>>();
        let at_good = self.failed_runs_of(good)?;
        let mut failed = self.failed_runs_of(bad)?;
        failed.retain(|measure, details| {
            let (failed, others) = (details.len(), others.of(measure).len());
            let wanted = runs_to_exclude_above(failed, RARE, confidence);
            !at_good.contains_key(measure) && failed + others < wanted
        });
        Ok(distinct(guarded_measures(&passing).into_iter().chain(failed.into_keys())))
    }

    /// The finding that the endpoints show no regression, or what a look at earlier runs, builds,
    /// the home folder and the programs that ran showed instead. `strays`: failures of the bad end
    /// that may be the regression; then the finding is that nobody knows.
    pub(super) fn denied(
        &mut self,
        mut finding: Box<Finding>,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
        strays: Option<&StrayFailures>,
    ) -> Result<Box<Finding>, HuntError> {
        if let Some(change) = self.earlier_runs_that_vary(good, bad) {
            return Ok(Box::new(self.begin_after_change(change)?));
        }
        // This comes first, because the checks below replace the builds of both ends.
        let same_program = self.same_program(good, bad)?;
        // What the build wrote may be the reason why the ends opened the same files.
        let unmeasured = self.put_back(good, bad)?.or(same_program);
        if let Some(refusal) = self.overwritten(good, bad)? {
            return Ok(refusal);
        }
        match self.check_with_empty_home(good, bad, policy)? {
            WithEmptyHome::Regression => {
                if let Some(kept) = self.file_kept_at_home()? {
                    let why = "the endpoints differ";
                    return Ok(Box::new(self.begin_with_empty_home(why, &kept)?));
                }
                if let Some(again) = self.begin_if_new_builds_differ(good, bad, policy)? {
                    return Ok(again);
                }
                finding.summary += "; they do with an empty home folder, but builds and runs only \
                                    read what is in yours, so the answer is for your settings there";
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
        let mut failed = self.failed_runs_of(bad)?;
        let mut guards = self.guards();
        guards.retain(|guard| !failed.contains_key(&guard.metric.measure));
        failed.retain(|measure, _| !strays.is_some_and(|strays| strays.are_of(measure)));
        for (measure, details) in &failed {
            finding.summary += "; ";
            finding.summary +=
                &excluded_failures(measure, details, bad.of(measure).len(), confidence);
        }
        if let Some(runs) = runs_without_another_result(good, bad, &guards, policy) {
            finding.summary += "; ";
            finding.summary += &excluded_share(runs, confidence);
        }
        if let Some(refusal) = unmeasured {
            return Ok(refusal);
        }
        match self.with_one_ruler(good, bad, policy)? {
            Ok(told) => finding.summary += &told,
            Err(refusal) => return Ok(refusal),
        }
        match self.uneven_builds(good, bad, policy, &finding)? {
            Ok(uneven) => return Ok(uneven),
            Err(told) => finding.summary += told,
        }
        let odd_nodes = Vec::from_iter(self.set_aside()?).join("; ");
        if !odd_nodes.is_empty() {
            finding.summary = after_odd_nodes(&odd_nodes, &finding.summary);
        }
        let moved = other_places(good, bad, &self.guards());
        let hidden = newly_failed(good, bad).into_iter().chain(no_longer_run(good, bad));
        let texts = self.texts_only(good, bad)?;
        let read = texts.iter().map(TextsOnly::told);
        for told in read.chain(hidden).chain(moved) {
            finding.summary += "; but ";
            finding.summary += &told;
        }
        finding.next = texts.iter().map(TextsOnly::cure).collect();
        finding.next.extend(self.lacked_local_files(good, bad)?);
        finding.next.extend(advice(good, bad, &self.guards()));
        if !failed.is_empty() {
            finding.next.push(BY_EXIT_CODE.to_owned());
        }
        if let Some(shown) = self.shown_with_user_home()?.filter(|shown| !shown.is_empty()) {
            return Ok(Box::new(self.gone_with_empty_home(*finding, &shown)?));
        }
        Ok(match strays {
            Some(strays) => Box::new(strays.doubt(*finding)),
            None => finding,
        })
    }

    /// What each failed run of an endpoint said, by measure: in this hunt, and crashes and time-outs
    /// in earlier ones. A crash that was not seen twice is no sample of the endpoint, but it may be
    /// the regression.
    pub(super) fn failed_runs_of(
        &self,
        seen: &Observation,
    ) -> Result<BTreeMap<String, Vec<String>>, HuntError> {
        let guarded = guarded_measures(&self.guards());
        let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut counted: BTreeSet<String> = seen.attempts().into_iter().collect();
        for entry in &self.hunt.entries_in_force()? {
            let Event::Run(run) = &entry.event else { continue };
            let is_its = run.commit == seen.commit && run.phase == Phase::Endpoint;
            let counts = is_its && run.apart.is_none() && guarded.contains(&run.measure);
            if let Some(failure) = run.failure.as_ref().filter(|_| counts) {
                failed.entry(run.measure.clone()).or_default().push(failure.detail.clone());
                counted.insert(run.attempt.clone());
            }
        }
        for measure in guarded {
            for (attempt, detail) in self.oracle.earlier_failures(&seen.commit, &measure)? {
                if !counted.contains(&attempt) {
                    let told = format!("{detail}; an earlier hunt saw it");
                    failed.entry(measure.clone()).or_default().push(told);
                }
            }
        }
        Ok(failed)
    }
}

/// The summary of a hunt that set nodes aside: they come first, because they are what the user can
/// repair. `summary` is of the runs on the other nodes.
fn after_odd_nodes(odd_nodes: &str, summary: &str) -> String {
    format!("no commit did it: {odd_nodes}. On the other nodes, {summary}")
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

/// The fewest runs of the bad endpoint behind a guard whose metric repeats at both endpoints, and
/// of which [`always_pass`] says nothing. No run of the bad endpoint failed or had another value.
fn runs_without_another_result(
    good: &Observation,
    bad: &Observation,
    guards: &[Guard],
    policy: &EndpointPolicy,
) -> Option<usize> {
    if policy.is_spread {
        return None;
    }
    let repeats = |metric: &Metric| {
        good.repeats(metric) && bad.repeats(metric) && bad.level(metric).is_some()
    };
    let metrics = guards.iter().map(|guard| &guard.metric);
    let silent = metrics.filter(|&metric| !policy.pass_fail.contains(metric) && repeats(metric));
    silent.map(|metric| bad.values(metric).len()).min()
}

/// The part of a sentence that says which failure rates the runs of the bad endpoint exclude if
/// some failed. `details`: one for each failed run. `others`: how many runs did not fail.
fn excluded_failures(measure: &str, details: &[String], others: usize, confidence: f64) -> String {
    let (failed, runs) = (details.len(), details.len() + others);
    format!(
        "{measure} failed in {failed} of {} of bad ({}), which do not count here; a failure rate \
         of {:.0} % or more is excluded, but no smaller one",
        text::plural(runs, "run"),
        details.first().map_or("", String::as_str),
        100.0 * excluded_rate_above(failed, runs, confidence)
    )
}

/// The part of a sentence that says which share of other results the runs of the bad endpoint
/// may have missed.
fn excluded_share(runs: usize, confidence: f64) -> String {
    format!(
        "all {} of bad were alike: another value or a failure in less than {:.0} % of the runs may \
         have been missed",
        text::plural(runs, "run"),
        100.0 * excluded_rate(runs, confidence)
    )
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
    use crate::evaluation::{FailureKind, GuardForm, Value};
    use crate::oracle::fixture::{at, failed, guard, reading, seen};

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

    #[test]
    fn a_slow_node_comes_first() {
        let told = after_odd_nodes("node n2 is slow", "the endpoints are alike");
        let wanted =
            "no commit did it: node n2 is slow. On the other nodes, the endpoints are alike";
        assert_eq!(told, wanted);
    }

    #[test]
    fn equal_values_say_down_to_which_share_of_other_runs() {
        let policy = EndpointPolicy::default();
        let guards = [guard(GuardForm::MaxIncrease(0.5))];
        let good = at('1', &[6.0; 4]);
        let runs = |bad: &Observation| runs_without_another_result(&good, bad, &guards, &policy);
        assert_eq!(runs(&at('2', &[6.0; 4])), Some(4));
        assert_eq!(runs(&at('2', &[6.0, 6.0, 6.0, 6.1])), None);
        let mut crashed = at('2', &[6.0; 4]);
        crashed.samples.get_mut("ppl").unwrap().push(failed(FailureKind::Crash, "x"));
        assert_eq!(runs(&crashed), None);
        let told = excluded_share(4, 0.99);
        assert_eq!(
            told,
            "all 4 runs of bad were alike: another value or a failure in less than 68 % of the runs \
             may have been missed"
        );
    }

    #[test]
    fn a_failed_run_that_does_not_count_is_told() {
        let told = excluded_failures("ppl", &["exit code 134".to_owned()], 4, 0.99);
        assert_eq!(
            told,
            "ppl failed in 1 of 5 runs of bad (exit code 134), which do not count here; a failure \
             rate of 78 % or more is excluded, but no smaller one"
        );
    }
}
