//! Parses the output of kernel test programs: a line for each check, with or without its distance
//! from the reference.
//!
//! There is no standard format, so lines are recognised by common conventions:
//! - a check passed, failed or was skipped: `[PASS]`, `[OK]`, `[FAIL]`, `[SKIP]` anywhere in a
//!   line (`PASSED`, `FAILED`, `SKIPPED` too), or such a word in capitals as the first or the
//!   last one, with or without a remark in brackets after it;
//! - a check failed in other words: `ERROR`, `TIMEOUT`, `CRASHED`, `MISMATCH`, `NOK`, `Failed` at
//!   the end of a line behind a name, with or without `***` or `!`;
//! - such a word in small letters behind a colon or dots (`rope: ok`, `test rope ... failed`), or
//!   behind a name of one word and with a time behind it (`rope failed after 3s`);
//! - a mark as the first or the last sign of a line: `✓ rope`, `rope: ✗`;
//! - a line of ctest, of pytest's summary or of TAP;
//! - a distance: `max_diff=1.5e-05`, `Max diff: …`, `max_abs=…`, `max_err=…`;
//! - a loss: `loss = 3.14`; if the line has a step number, the loss is part of a series;
//! - a heading: `TEST: GELU Forward`, which is a prefix of the names of the checks below.
//!
//! A time may stand behind each word at the end of a line. Totals (`ALL TESTS PASSED (3/3)`,
//! `FAILED: 2`) are not checks, nor are checks that a summary of failures names again. A check's
//! name is the words of its line before the first named number. If a name occurs again, a number is
//! added to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{
    Failure, Metric, Reading, Resource, UNNAMED_CHECK, Unreadable, Value, is_unnamed_check,
};

use super::value::finite;
use super::word::word;

mod behind;
mod line;
mod mark;
mod runner;
mod state;

use line::{Line, heading};
use state::State;

/// Names of metrics over all checks; a check with such a name becomes `check-NAME`.
const OWN: [&str; 5] = ["passed", "failed", "skipped", "max_diff", "loss"];

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Parity {
    measure: String,
    heading: String,
    /// Whether the lines now belong to a runner's summary, which names checks again.
    is_summary: bool,
    counts: BTreeMap<State, u32>,
    /// How often each name occurred.
    names: BTreeMap<String, u32>,
    ran: BTreeSet<String>,
    failed: BTreeSet<String>,
    skipped: BTreeSet<String>,
    distances: BTreeMap<Metric, f64>,
    worst: Option<f64>,
    loss: Option<f64>,
    steps: Vec<f64>,
    /// The first number that is not finite, and its place.
    broken: Option<(String, f64)>,
}

impl Parity {
    pub(super) fn new(measure: &str) -> Self {
        Self {
            measure: measure.to_owned(),
            heading: String::new(),
            is_summary: false,
            counts: BTreeMap::new(),
            names: BTreeMap::new(),
            ran: BTreeSet::new(),
            failed: BTreeSet::new(),
            skipped: BTreeSet::new(),
            distances: BTreeMap::new(),
            worst: None,
            loss: None,
            steps: Vec::new(),
            broken: None,
        }
    }

    /// Takes one line; true if it holds a check, a value or a heading.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let plain = anstream::adapter::strip_str(line).to_string();
        if let Some(heading) = heading(&plain) {
            self.heading = word(heading);
            return true;
        }
        if let Some(is_summary) = runner::summary(&plain) {
            self.is_summary = is_summary;
        }
        let Line { state, name, distance, loss, step } = Line::of(&plain);
        if state.is_none() && distance.is_none() && loss.is_none() {
            return false;
        }
        let name = self.full_name(&name, state);
        let is_known = name.as_ref().is_some_and(|name| self.names.contains_key(name));
        if self.is_summary && state.is_some() && is_known {
            return true;
        }
        let name = name.map(|name| self.counted(name));
        if let Some(state) = state {
            *self.counts.entry(state).or_default() += 1;
        }
        if let Some(name) = &name {
            if state == Some(State::Skipped) {
                self.skipped.insert(name.clone());
            } else {
                self.ran.insert(name.clone());
            }
            if state == Some(State::Failed) {
                self.failed.insert(name.clone());
            }
        }
        if let Some(distance) = distance {
            self.distance(distance, name.filter(|name| !is_unnamed_check(name)));
        }
        if let Some(loss) = loss {
            self.loss(loss, step);
        }
        true
    }

    /// The name of a check below its heading, which other checks may have too; `None` if the line
    /// has neither a state nor a name.
    fn full_name(&self, name: &str, state: Option<State>) -> Option<String> {
        let name = match (word(name), state) {
            (name, None) if name.is_empty() => return None,
            (name, Some(_)) if name.is_empty() => UNNAMED_CHECK.to_owned(),
            (name, _) if self.heading.is_empty() => name,
            (name, _) => format!("{}-{name}", self.heading),
        };
        let is_taken = OWN.iter().chain(&Resource::NAMES).any(|own| *own == name);
        Some(if is_taken { format!("check-{name}") } else { name })
    }

    /// Counts the name, and adds a number to it if it occurred before.
    fn counted(&mut self, name: String) -> String {
        let count = self.names.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}_{count}") }
    }

    fn distance(&mut self, distance: f64, name: Option<String>) {
        if !distance.is_finite() {
            self.broken.get_or_insert_with(|| {
                (
                    name.as_deref().map_or("a distance".to_owned(), |name| format!("`{name}`")),
                    distance,
                )
            });
            return;
        }
        self.worst = Some(self.worst.map_or(distance, |worst| worst.max(distance)));
        if let Some(name) = name {
            self.distances.insert(Metric::named(&self.measure, &name), distance);
        }
    }

    fn loss(&mut self, loss: f64, step: Option<u64>) {
        if !loss.is_finite() {
            let place =
                step.map_or("the loss".to_owned(), |step| format!("the loss of step {step}"));
            self.broken.get_or_insert((place, loss));
            return;
        }
        self.loss = Some(loss);
        if step.is_some() {
            self.steps.push(loss);
        }
    }

    /// The reading of a run that ended by itself.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        let Self { measure, counts, distances, worst, loss, steps, .. } = self;
        if let Some((place, number)) = self.broken {
            return Err(Failure::not_finite(&place, number));
        }
        if counts.is_empty() && worst.is_none() && loss.is_none() {
            return Err(Failure::unreadable(
                Unreadable::NoCheck,
                "no check that passes or fails, no `max_diff` and no `loss` in the output"
                    .to_owned(),
            ));
        }
        let mut values: BTreeMap<Metric, Value> =
            distances.into_iter().map(|(metric, x)| (metric, Value::Number(x))).collect();
        let mut own = |name: &str, x: f64| -> Result<(), Failure> {
            let metric = Metric::named(&measure, name);
            let value = finite(&metric, x)?;
            values.insert(metric, value);
            Ok(())
        };
        if !counts.is_empty() {
            for state in [State::Passed, State::Failed, State::Skipped] {
                own(state.name(), counts.get(&state).copied().unwrap_or(0).into())?;
            }
        }
        for (name, x) in [("max_diff", worst), ("loss", loss)] {
            if let Some(x) = x {
                own(name, x)?;
            }
        }
        Ok(Reading {
            values,
            chunks: steps,
            checks: Some(self.ran.into_iter().collect()),
            failed: self.failed.into_iter().collect(),
            skipped: self.skipped.into_iter().collect(),
            ..Reading::default()
        })
    }
}

#[cfg(test)]
mod tests;
