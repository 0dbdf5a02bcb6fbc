//! `measure`: measures one commit without a hunt.

use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use serde_json::json;

use crate::evaluation::Phase;
use crate::hunt::{self, UsageError};
use crate::oracle::{Observation, Request};
use crate::process::{Stop, read_log};
use crate::report;
use crate::ui::{Ui, text};

use super::args::Measure;
use super::configuration::configuration;
use super::locate::here;
use super::{Failed, exit};

/// `measure`.
pub fn run(args: &Measure, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let repository = here()?;
    let config = configuration(args.config.as_deref(), &repository)?;
    let pins = hunt::pins(&repository, &config).map_err(Failed::hunt)?;
    let mut oracle = hunt::alone(&repository, config, pins, stop).map_err(Failed::hunt)?;
    let commit = oracle
        .history
        .resolve(&args.revision)
        .map_err(|error| Failed::hunt(UsageError::from(error).into()))?;
    let measures: Vec<String> =
        oracle.recipes.config.measures.iter().map(|m| m.name.clone()).collect();
    let look = Request::look(&commit, &measures, Phase::Manual);
    let seen = oracle.evaluate(Request { runs: args.runs as usize, keep: false, ..look });
    let tidied = hunt::tidy(&oracle);
    let seen = seen.map_err(Failed::oracle)?;
    tidied.map_err(Failed::hunt)?;
    let out = if args.json { as_json(&seen) } else { as_text(&seen) };
    ui.out(&out).map_err(Failed::stdout)?;
    match failure(&seen) {
        None => Ok(exit::DONE),
        Some(what) => {
            ui.error(&anyhow!("{} cannot be measured: {what}", commit.short()), None);
            if let Some(log) = oracle.failed_log(&seen).map_err(Failed::oracle)? {
                show(ui, &log);
            }
            Ok(exit::FAILED)
        }
    }
}

/// Shows the lines of a log that say why the command failed, and where the log is.
fn show(ui: Ui, log: &Path) {
    let lines = read_log(log).map(|log| report::telling(&log)).unwrap_or_default();
    for line in lines {
        ui.line(&format!("  | {line}"));
    }
    ui.line(&format!("  log: {}", text::line(&log.display().to_string())));
}

fn failure(seen: &Observation) -> Option<String> {
    if let Some(failure) = &seen.build_failure {
        return Some(text::line(&failure.detail));
    }
    let mut samples = seen.samples.values().flatten();
    let failure = samples.find_map(|sample| sample.result.as_ref().err())?;
    Some(text::line(&failure.detail))
}

fn as_text(seen: &Observation) -> String {
    let mut out = String::new();
    for (measure, samples) in &seen.samples {
        for sample in samples {
            for (metric, value) in sample.values(measure) {
                // Writing to a string cannot fail.
                let _ = writeln!(out, "{metric} {}", text::line(&value.to_string()));
            }
        }
    }
    out
}

fn as_json(seen: &Observation) -> String {
    let runs: Vec<_> = seen
        .samples
        .iter()
        .flat_map(|(measure, samples)| samples.iter().map(move |sample| (measure, sample)))
        .map(|(measure, sample)| {
            json!({
                "measure": measure,
                "attempt": sample.attempt,
                "values": sample.values(measure),
                "failure": sample.result.as_ref().err(),
            })
        })
        .collect();
    let whole = json!({
        "schema": "bisect-ppl/measure/1",
        "commit": seen.commit,
        "build_failure": seen.build_failure,
        "runs": runs,
    });
    format!("{whole:#}\n")
}
