//! Named checks of a test suite that pass or fail by chance. With them, the number of failed checks
//! varies from run to run and is searched by votes, which seldom decide: one failure more or less is
//! a step for each of them. Without them, the number often repeats, and the search is exact.
//!
//! A check is left out only if runs of one build show both results, if the others still tell the
//! ends apart in every run, and if its own failure rate may be the same at both ends: a check that
//! the bad end surely fails more often is a part of the regression.

use std::collections::BTreeMap;
use std::fmt;

use crate::evaluation::{Checks, CommitId, Guard, Metric, Phase, Reading, is_unnamed_check};
use crate::oracle::{Observation, Request, guarded_measures};
use crate::search::chance_of_rise;
use crate::store::journal::Event;

use super::HuntError;
use super::driver::Driver;

/// The probability from which a check surely fails more often at one end than at the other.
const SURE: f64 = 0.99;

/// So many runs of each end must be there before a check is left out that fails at neither of them. A
/// check that fails in 40 % of the runs since a commit of the range works in all of them in 5 % of
/// hunts.
const LEAST_RUNS: usize = 6;

/// In how many runs of an end a check failed, and how many runs made it.
type Rate = (usize, usize);

/// Checks that can be left out of the counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChanceChecks {
    /// The suite.
    measure: String,
    /// How often each check fails at the good and at the bad end.
    rates: BTreeMap<String, [Rate; 2]>,
}

impl Driver<'_> {
    /// Leaves out the checks that vary in the runs of the endpoints and can be left out. Whether
    /// there are some. Then the endpoints must be judged again.
    pub(crate) fn leave_out_chance_checks(
        &mut self,
        ends: [&Observation; 2],
    ) -> Result<bool, HuntError> {
        // In a hunt for a change of reproducibility, checks that vary are what is sought.
        if self.begun.options.spread_of.is_some() {
            return Ok(false);
        }
        let Some(checks) = ChanceChecks::of(ends, &[], &self.guards()) else { return Ok(false) };
        self.leave_out_checks(&checks)?;
        Ok(true)
    }

    /// Checks that vary in the runs of any measured commit and can be left out.
    pub(crate) fn chance_checks(&mut self) -> Result<Option<ChanceChecks>, HuntError> {
        if self.begun.options.spread_of.is_some() {
            return Ok(None);
        }
        let guards = self.guards();
        let measures = guarded_measures(&guards);
        let ends = self.known_runs_of_ends(&measures)?;
        let mut between = Vec::new();
        for commit in self.measured()? {
            between.push(self.known_runs(&commit, &measures)?);
        }
        let found = ChanceChecks::of(ends.each_ref(), &between, &guards);
        if !found.as_ref().is_some_and(ChanceChecks::needs_more_runs) {
            return Ok(found);
        }
        for end in self.begun.ends().map(CommitId::clone) {
            let look = Request::look(&end, &measures, Phase::Endpoint);
            self.oracle.evaluate(Request { runs: LEAST_RUNS, ..look })?;
        }
        let ends = self.known_runs_of_ends(&measures)?;
        Ok(ChanceChecks::of(ends.each_ref(), &between, &guards))
    }

    /// Leaves these checks out from now on. What runs said before does not hold any more.
    pub(crate) fn leave_out_checks(&mut self, checks: &ChanceChecks) -> Result<(), HuntError> {
        self.oracle.recorder.event(Event::Note { text: checks.to_string() })?;
        let (measure, names) = (checks.measure.clone(), checks.names());
        self.oracle.recipes.config.leave_out_checks(&measure, &names);
        self.oracle.recorder.event(Event::ChecksLeftOut { measure, checks: names })?;
        Ok(())
    }
}

impl ChanceChecks {
    /// Those of the first guarded suite that has some. `between`: the runs of other commits.
    fn of(ends: [&Observation; 2], between: &[Observation], guards: &[Guard]) -> Option<Self> {
        let measures = guarded_measures(guards);
        measures.into_iter().find_map(|measure| Self::of_suite(measure, ends, between, guards))
    }

    fn of_suite(
        measure: String,
        ends: [&Observation; 2],
        between: &[Observation],
        guards: &[Guard],
    ) -> Option<Self> {
        let [good, bad] = ends.map(|seen| all_readings(seen, &measure));
        let (good, bad) = (good?, bad?);
        let all = ends.into_iter().chain(between);
        let varying: Checks = all.flat_map(|seen| varying(seen, &measure)).collect();
        let rates: BTreeMap<String, [Rate; 2]> = varying
            .into_iter()
            .filter_map(|name| {
                let rates = [rate(&good, &name)?, rate(&bad, &name)?];
                // The worst distance of the suite may be that of this check.
                let metric = Metric::named(&measure, &name);
                let has_distance =
                    good.iter().chain(&bad).any(|run| run.values.contains_key(&metric));
                let is_chance = !has_distance && !is_unnamed_check(&name) && !differ(rates);
                is_chance.then_some((name, rates))
            })
            .collect();
        let found = Self { measure, rates };
        let is_left = !found.rates.is_empty() && found.leaves_a_step(&good, &bad, guards);
        is_left.then_some(found)
    }

    /// Whether the runs of each end repeat without these checks, and the bad end still breaks a
    /// guard.
    fn leaves_a_step(&self, good: &[&Reading], bad: &[&Reading], guards: &[Guard]) -> bool {
        let names = self.names();
        let [Some(good), Some(bad)] = [good, bad].map(|runs| repeated(runs, &names)) else {
            return false;
        };
        // Only `parity` has this count, and names each check once.
        if !good.values.contains_key(&Metric::named(&self.measure, "failed")) {
            return false;
        }
        let mut guards = guards.iter().filter(|guard| guard.metric.measure == self.measure);
        guards.any(|guard| {
            let levels = [&good, &bad].map(|run| run.values.get(&guard.metric));
            matches!(levels, [Some(good), Some(bad)] if guard.is_broken(good, bad))
        })
    }

    /// Whether one of the checks fails at neither end, and an end has few runs.
    fn needs_more_runs(&self) -> bool {
        self.rates.values().any(|rates| {
            rates.iter().all(|rate| rate.0 == 0) && rates.iter().any(|rate| rate.1 < LEAST_RUNS)
        })
    }

    fn names(&self) -> Checks {
        self.rates.keys().cloned().collect()
    }
}

impl fmt::Display for ChanceChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.rates.iter().map(|(name, [good, bad])| {
            format!(
                "{name} (fails in {} of {} runs of the good end and in {} of {} of the bad end)",
                good.0, good.1, bad.0, bad.1
            )
        });
        write!(
            f,
            "checks of {} that pass or fail by chance are left out of its counts: {}. The answer is \
             about the other checks; to hunt one of these, let the command run it alone",
            self.measure,
            each.collect::<Vec<_>>().join(", ")
        )
    }
}

/// The readings of all runs of a measure; `None` if there are none, or if a run failed.
fn all_readings<'s>(seen: &'s Observation, measure: &str) -> Option<Vec<&'s Reading>> {
    let runs = seen.of(measure).iter().map(|sample| sample.result.as_ref().ok());
    runs.collect::<Option<Vec<_>>>().filter(|runs| !runs.is_empty())
}

/// The checks that failed in one run of a build and passed in another run of the same build. Other
/// builds of a commit may differ for other reasons.
fn varying(seen: &Observation, measure: &str) -> Checks {
    let runs = seen.of(measure).iter();
    let runs: Vec<(&str, &Reading)> =
        runs.filter_map(|run| Some((run.built.as_str(), run.result.as_ref().ok()?))).collect();
    let mut varying = Checks::default();
    for (place, (built, one)) in runs.iter().enumerate() {
        for (_, other) in runs[place + 1..].iter().filter(|(also, _)| also == built) {
            let (Some(ran), Some(also_ran)) = (one.checks(), other.checks()) else { continue };
            let failed_once = one.failed.without(&other.failed);
            let failed_once = failed_once.with(&other.failed.without(&one.failed));
            varying = varying.with(&failed_once.among(ran).among(also_ran));
        }
    }
    varying
}

/// How often a check fails in these runs; `None` if a run did not make it.
fn rate(runs: &[&Reading], name: &str) -> Option<Rate> {
    let made = |run: &&&Reading| run.checks().is_some_and(|checks| checks.contains(name));
    let failed = runs.iter().filter(|run| run.failed.contains(name)).count();
    (runs.iter().filter(made).count() == runs.len()).then_some((failed, runs.len()))
}

/// Whether a check fails more often at one of two ends: surely, or in all runs of one and in none of
/// the other.
fn differ(rates: [Rate; 2]) -> bool {
    let [good, bad] = rates;
    let always_and_never = |always: Rate, never: Rate| always.0 == always.1 && never.0 == 0;
    always_and_never(good, bad)
        || always_and_never(bad, good)
        || chance_of_rise([good, bad], 0.0) > SURE
        || chance_of_rise([bad, good], 0.0) > SURE
}

/// What all runs give without these checks; `None` if they still differ.
fn repeated(runs: &[&Reading], without: &Checks) -> Option<Reading> {
    let mut rest = runs.iter().map(|run| (*run).clone().without_checks(without));
    let first = rest.next()?;
    rest.all(|run| run.same_bits(&first)).then_some(first)
}

#[cfg(test)]
mod tests;
