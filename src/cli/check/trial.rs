//! `check --build`: builds one commit and runs each measure once, as a hunt would. The result is
//! stored, so a hunt takes it from there.

use std::time::Instant;

use crate::config::{Config, Parser};
use crate::evaluation::{CommitId, Phase, Resource};
use crate::git::Repository;
use crate::hunt::{self, not_yielded};
use crate::oracle::{Observation, Oracle, OracleError, References, Request, Sample};
use crate::process::{Stop, read_log};
use crate::report;
use crate::ui::{Ui, text};

use super::super::{Failed, jobs};
use super::lines::Lines;

/// Most values shown of one run.
const MOST_VALUES: usize = 6;

/// Builds and measures one commit.
pub(crate) fn check(
    lines: &mut Lines,
    repository: &Repository,
    config: &Config,
    commit: &CommitId,
    (ui, stop): (Ui, &Stop),
) -> Result<(), Failed> {
    if let Err(refused) = jobs::refuse_outside(config, "check --build") {
        lines.fail("trial", &refused.error.to_string(), refused.hint);
        return Ok(());
    }
    let begun = Instant::now();
    ui.line(&format!("building {} and running each measure once", commit.short()));
    let pins = hunt::pins(repository, config).map_err(Failed::hunt)?;
    let mut oracle =
        hunt::standalone_oracle(repository, config.clone(), pins, stop).map_err(Failed::hunt)?;
    let measures = config.search_measures();
    // Logits are compared with those of another run of the same commit.
    oracle.references = References::at(Some(commit.clone()));
    let look = Request::look(commit, &measures, Phase::Manual);
    let seen = oracle.evaluate(Request { runs: 1, ..look });
    let inside = match &seen {
        Ok(seen) if seen.build_failure.is_none() => try_for_cause(&mut oracle, commit),
        _ => Ok(Vec::new()),
    };
    let tidied = hunt::tidy(&mut oracle);
    let seen = seen.map_err(Failed::oracle)?;
    let inside = inside.map_err(Failed::oracle)?;
    tidied.map_err(Failed::hunt)?;
    let took = text::duration(begun.elapsed());
    if let Some(failure) = &seen.build_failure {
        let about = format!("{} does not build: {}", commit.short(), failure.detail);
        lines.fail("build", &about, None);
        return failed(lines, &oracle, &seen);
    }
    lines.ok("build", &format!("{}; built and measured in {took}", commit.short()));
    for (measure, samples) in &seen.samples {
        for sample in samples {
            match &sample.result {
                Ok(_) => {
                    let took = text::seconds(sample.used.wall_s);
                    lines.ok("run", &format!("{measure}: {} in {took}", values(measure, sample)));
                }
                Err(failure) => {
                    lines.fail("run", &format!("{measure}: {}", failure.detail), None);
                    failed(lines, &oracle, &seen)?;
                }
            }
        }
    }
    for tried in inside {
        match tried.result {
            Ok(values) => {
                let took = text::seconds(tried.seconds);
                lines.ok("cause", &format!("{}: {values} in {took}", tried.measure));
            }
            Err(why) => {
                let about = format!("{}: {why}", tried.measure);
                lines.warn("cause", &about, "correct it, or the report will not have its result");
                lines.more(&tried.output);
            }
        }
    }
    if lines.is_well()
        && let Some(what) = not_yielded(&seen, &config.guards, commit.short())
    {
        lines.fail("metric", &what, None);
    }
    Ok(())
}

/// The values of a run, in a few words.
fn values(measure: &str, sample: &Sample) -> String {
    let values = sample.values(measure).into_iter();
    let own = values.filter(|(metric, _)| Resource::of(metric).is_none());
    let mut own: Vec<String> =
        own.map(|(metric, value)| format!("{metric} {}", text::value(&value))).collect();
    let more = own.len().saturating_sub(MOST_VALUES);
    if more > 0 {
        own.truncate(MOST_VALUES);
        own.push(format!("and {more} more"));
    }
    own.join("  ")
}

/// One run of a measure that a hunt runs only inside a first bad commit.
struct Tried {
    measure: String,
    /// Its values, or why there are none.
    result: Result<String, String>,
    seconds: f64,
    /// What it printed, if it failed.
    output: Vec<String>,
}

/// Runs each measure that a hunt runs only inside a first bad commit.
fn try_for_cause(oracle: &mut Oracle, commit: &CommitId) -> Result<Vec<Tried>, OracleError> {
    let (recipe, names) = oracle.recipes.at(commit)?.to_try_for_cause();
    let mut all = Vec::new();
    for name in names {
        let measures = [name.clone()];
        let look = Request::look(commit, &measures, Phase::Manual);
        let seen = oracle.evaluate(Request { runs: 1, recipe: Some(&recipe), ..look })?;
        let Some(sample) = seen.of(&name).last() else { continue };
        let result = match &sample.result {
            Err(failure) => Err(failure.detail.clone()),
            Ok(_) => match recipe.measure(&name) {
                Some(measure) if matches!(measure.parser, Parser::Tensors) => oracle
                    .count_tensors(commit, measure)?
                    .map(|count| text::plural(count, "tensor")),
                _ => Ok(values(&name, sample)),
            },
        };
        let output = if result.is_err() { output(oracle, &seen)? } else { Vec::new() };
        all.push(Tried { measure: name, result, seconds: sample.used.wall_s, output });
    }
    Ok(all)
}

/// What the failed command printed, and where its log is.
fn output(oracle: &Oracle, seen: &Observation) -> Result<Vec<String>, OracleError> {
    let Some(log) = oracle.failed_log(seen)? else { return Ok(Vec::new()) };
    let told = read_log(&log).map(|log| report::telling(&log)).unwrap_or_default();
    let mut more: Vec<String> = told.iter().map(|line| format!("| {line}")).collect();
    more.push(format!("log: {}", log.display()));
    Ok(more)
}

fn failed(lines: &mut Lines, oracle: &Oracle, seen: &Observation) -> Result<(), Failed> {
    let output = output(oracle, seen).map_err(Failed::oracle)?;
    lines.more(&output);
    Ok(())
}
