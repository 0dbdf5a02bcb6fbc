//! Parses llama-bench's JSON, of any version: `-o json` prints one list of tests, `-o jsonl`
//! (since 2024-09) one test per line.
//!
//! A test's name is the one in llama-bench's table, in the letters that a metric may have: `pp512`,
//! `tg128`, `pp512_tg128` for `pp512+tg128`, and `pp512_d4096` for `pp512 @ d4096`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use crate::config::Pick;
use crate::evaluation::{Checks, Failure, FailureKind, Metric, Reading, Unreadable, Value};

use super::json::{document_in, no_document};
use super::repeats::{are_repeats, made_of};
use super::value::{finite, number_in, reading};

/// Fields of a test that hold results, not settings.
const RESULTS: [&str; 7] =
    ["test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts", "samples_ns", "samples_ts"];

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Bench {
    measure: String,
    pick: Pick,
}

/// One entry of the output.
type Test = Map<String, Json>;

impl Bench {
    pub(super) fn new(measure: &str, pick: Pick) -> Self {
        Self { measure: measure.to_owned(), pick }
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(self, text: &str) -> Result<Reading, Failure> {
        let mut tests: BTreeMap<String, Test> = BTreeMap::new();
        for test in tests_in(text)? {
            let name = name(&test)?;
            if let Some(other) = tests.get(&name) {
                return Err(twice(&name, other, &test));
            }
            tests.insert(name, test);
        }
        let mut repeats = BTreeMap::new();
        let mut values = Vec::new();
        for (name, test) in &tests {
            let metric = Metric::named(&self.measure, name);
            let value = self.value(test, &metric, &mut repeats);
            values.push((metric, value));
        }
        let checks: Checks = tests.into_keys().collect();
        Ok(Reading { repeats, checks: Some(checks), ..reading(values)? })
    }

    /// Tokens per second, from the values of all repetitions.
    fn value(
        &self,
        test: &Test,
        metric: &Metric,
        repeats: &mut BTreeMap<Metric, Vec<f64>>,
    ) -> Result<Value, Failure> {
        let samples = test.get("samples_ts").and_then(Json::as_array).filter(|all| !all.is_empty());
        let Some(samples) = samples else {
            let average = test.get("avg_ts").ok_or_else(|| {
                Failure::unreadable(
                    Unreadable::NoSpeed(metric.to_string()),
                    format!("{metric}: the test has neither `samples_ts` nor `avg_ts`"),
                )
            })?;
            return speed(metric, average);
        };
        let values = samples.iter().map(|sample| speed(metric, sample));
        let numbers: Vec<f64> =
            values.collect::<Result<Vec<_>, _>>()?.iter().filter_map(Value::number).collect();
        if are_repeats(self.pick, &numbers) {
            repeats.insert(metric.clone(), numbers.clone());
        }
        finite(metric, made_of(self.pick, &numbers).unwrap_or(f64::NAN))
    }
}

/// Reads a speed. A bare NaN arrives as a string: [`document_in`] quotes it.
fn speed(metric: &Metric, json: &Json) -> Result<Value, Failure> {
    match json.as_f64() {
        Some(number) => finite(metric, number),
        None => number_in(metric, json.as_str().unwrap_or(&json.to_string())),
    }
}

/// The entries, in order; at least one.
fn tests_in(text: &str) -> Result<Vec<Test>, Failure> {
    let mut lines = text.lines().map(str::trim);
    // The list of `-o json` has a line with only `[`.
    let entries = if lines.any(|line| line == "[") { listed(text)? } else { one_a_line(text)? };
    let tests: Vec<Test> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            Json::Object(fields) => Some(fields),
            _ => None,
        })
        .collect();
    if tests.is_empty() {
        return Err(Failure::unreadable(
            Unreadable::NoTest,
            "the list of tests is empty".to_owned(),
        ));
    }
    Ok(tests)
}

fn listed(text: &str) -> Result<Vec<Json>, Failure> {
    match document_in(text) {
        Some(Json::Array(entries)) => Ok(entries),
        // In a list that is cut, the last test alone would still parse as a document.
        _ => Err(cut_off(text.lines().filter(|line| line.trim().starts_with('}')).count())),
    }
}

fn one_a_line(text: &str) -> Result<Vec<Json>, Failure> {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with('{'));
    let mut entries = Vec::new();
    for line in lines {
        entries.push(document_in(line).ok_or_else(|| cut_off(entries.len()))?);
    }
    if !entries.is_empty() {
        return Ok(entries);
    }
    // Another tool may have put the list on one line.
    match document_in(text) {
        Some(Json::Array(entries)) => Ok(entries),
        _ if text.contains(" t/s |") => Err(Failure::unreadable(
            Unreadable::NoJson,
            "llama-bench printed its table; add `-o json` to the command".to_owned(),
        )),
        _ => Err(no_document(text)),
    }
}

fn cut_off(tests: usize) -> Failure {
    let plural = if tests == 1 { "" } else { "s" };
    Failure::plain(
        FailureKind::Incomplete,
        format!("the JSON is cut off after {tests} complete test{plural}"),
    )
}

/// The test's name in llama-bench, as a part of a metric's name.
fn name(test: &Test) -> Result<String, Failure> {
    let tokens = |key: &str| test.get(key).and_then(Json::as_u64);
    let (Some(prompt), Some(generated)) = (tokens("n_prompt"), tokens("n_gen")) else {
        return Err(Failure::unreadable(
            Unreadable::NoLlamaBench,
            "an entry without `n_prompt` and `n_gen` is no test of llama-bench".to_owned(),
        ));
    };
    let what = match (prompt, generated) {
        (prompt, 0) => format!("pp{prompt}"),
        (0, generated) => format!("tg{generated}"),
        (prompt, generated) => format!("pp{prompt}_tg{generated}"),
    };
    Ok(match tokens("n_depth") {
        None | Some(0) => what,
        Some(depth) => format!("{what}_d{depth}"),
    })
}

/// The failure if two tests have the same name. A name made of their settings would depend on the
/// fields that this version of llama-bench prints, so such output is refused.
fn twice(name: &str, one: &Test, other: &Test) -> Failure {
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ =
        |key: &&&String| !RESULTS.contains(&key.as_str()) && one.get(**key) != other.get(**key);
    let shown = |test: &Test, key: &str| test.get(key).map_or("none".to_owned(), Json::to_string);
    let with: Vec<String> = keys
        .iter()
        .filter(differ)
        .map(|key| format!("{key} {} and {}", shown(one, key), shown(other, key)))
        .collect();
    let with = match with.as_slice() {
        [] => "with the same settings".to_owned(),
        with => format!("with {}", with.join(", ")),
    };
    Failure::unreadable(
        Unreadable::Twice(name.to_owned()),
        format!(
            "{name} was measured more than once, {with}: give one value of each option, and the \
             others in measures of their own"
        ),
    )
}

#[cfg(test)]
mod tests;
