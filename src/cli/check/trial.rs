//! `check --build`: builds one commit and runs each measure once, as a hunt would. The result is
//! stored, so a hunt takes it from there.

use std::time::Instant;

use crate::config::Config;
use crate::evaluation::{CommitId, Phase, Resource};
use crate::git::Repository;
use crate::hunt::{self, not_yielded};
use crate::oracle::{Observation, Oracle, References, Request};
use crate::process::{Stop, read_log};
use crate::report;
use crate::ui::{Ui, text};

use super::super::Failed;
use super::lines::Lines;

/// Most values shown of one run.
const MOST_VALUES: usize = 6;

/// Builds and measures one commit.
pub fn check(
    lines: &mut Lines,
    repository: &Repository,
    config: &Config,
    commit: &CommitId,
    (ui, stop): (Ui, &Stop),
) -> Result<(), Failed> {
    let begun = Instant::now();
    ui.line(&format!("building {} and running each measure once", commit.short()));
    let pins = hunt::pins(repository, config).map_err(Failed::hunt)?;
    let mut oracle = hunt::alone(repository, config.clone(), pins, stop).map_err(Failed::hunt)?;
    let measures = config.search_measures();
    // Logits are compared with those of another run of the same commit.
    oracle.references = References::at(Some(commit.clone()));
    let look = Request::look(commit, &measures, Phase::Manual);
    let seen = oracle.evaluate(Request { runs: 1, keep: false, ..look });
    let tidied = hunt::tidy(&oracle);
    let seen = seen.map_err(Failed::oracle)?;
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
                    let values = sample.values(measure).into_iter();
                    let own = values.filter(|(metric, _)| Resource::of(metric).is_none());
                    let mut own: Vec<String> = own
                        .map(|(metric, value)| format!("{metric} {}", text::value(&value)))
                        .collect();
                    let more = own.len().saturating_sub(MOST_VALUES);
                    if more > 0 {
                        own.truncate(MOST_VALUES);
                        own.push(format!("and {more} more"));
                    }
                    let took = text::seconds(sample.used.wall_s);
                    lines.ok("run", &format!("{measure}: {} in {took}", own.join("  ")));
                }
                Err(failure) => {
                    lines.fail("run", &format!("{measure}: {}", failure.detail), None);
                    failed(lines, &oracle, &seen)?;
                }
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

/// What the failed command printed, and where its log is.
fn failed(lines: &mut Lines, oracle: &Oracle, seen: &Observation) -> Result<(), Failed> {
    let Some(log) = oracle.failed_log(seen).map_err(Failed::oracle)? else { return Ok(()) };
    let told = read_log(&log).map(|log| report::telling(&log)).unwrap_or_default();
    let mut more: Vec<String> = told.iter().map(|line| format!("| {line}")).collect();
    more.push(format!("log: {}", log.display()));
    lines.more(&more);
    Ok(())
}
