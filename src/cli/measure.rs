//! `measure`: measures one commit without a hunt.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use serde_json::json;

use crate::config::Config;
use crate::evaluation::{Metric, Phase, Resource};
use crate::hunt::{self, UsageError};
use crate::oracle::{Observation, OracleError, Request};
use crate::process::{Stop, read_log};
use crate::report;
use crate::stats::{median, winsorised_sd};
use crate::ui::{Ui, plain_json, stored_result, text};

use super::args::Measure;
use super::configuration::configuration;
use super::locate::here;
use super::{Failed, exit, jobs};

/// `measure`.
pub(crate) fn run(args: &Measure, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let repository = here()?;
    let config = configuration(args.config.as_deref(), &repository)?;
    jobs::refuse_outside(&config, "measure")?;
    let pins = hunt::pins(&repository, &config).map_err(Failed::hunt)?;
    let mut oracle =
        hunt::standalone_oracle(&repository, config, pins, stop).map_err(Failed::hunt)?;
    let commit = oracle
        .history
        .resolve(&args.revision)
        .map_err(|error| Failed::hunt(UsageError::from(error).into()))?;
    let measures = oracle.recipes.config.search_measures();
    let look = Request::look(&commit, &measures, Phase::Manual);
    let seen = oracle.evaluate(Request { runs: args.runs as usize, keep: false, ..look });
    let tidied = hunt::tidy(&mut oracle);
    let seen = seen.map_err(|error| match error {
        OracleError::Stopped => Failed::oracle(error)
            .with_hint("the same command goes on: finished runs are taken from the store"),
        other => Failed::oracle(other),
    })?;
    tidied.map_err(Failed::hunt)?;
    let out = if args.json { as_json(&seen) } else { as_text(&seen, &oracle.recipes.config) };
    ui.out(&out).map_err(Failed::stdout)?;
    match failure(&seen) {
        None => {
            for log in oracle.logs_of_exit_codes(&seen).map_err(Failed::oracle)? {
                show(ui, &log);
            }
            Ok(exit::DONE)
        }
        Some((what, stored_at)) => {
            let name = commit.short();
            let stored = stored_at.map(|at| format!(" {}", stored_result(at))).unwrap_or_default();
            let cure = stored_at
                .map(|_| format!("`bisect-ppl store forget {name}` lets it be tried again"));
            ui.error(&anyhow!("{name} cannot be measured: {what}{stored}"), cure.as_deref());
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
        ui.always(&format!("  | {line}"));
    }
    ui.always(&format!("  log: {}", text::line(&log.display().to_string())));
}

/// The first failure, and when it was stored if it comes from the store.
fn failure(seen: &Observation) -> Option<(String, Option<&str>)> {
    if let Some(failure) = &seen.build_failure {
        return Some((text::line(&failure.detail), seen.build_stored_at.as_deref()));
    }
    let mut samples = seen.samples.values().flatten();
    let (failure, stored_at) = samples
        .find_map(|sample| Some((sample.result.as_ref().err()?, sample.stored_at.as_deref())))?;
    Some((text::line(&failure.detail), stored_at))
}

/// Each run with its values, then the median and the noise over the runs of each measure.
fn as_text(seen: &Observation, config: &Config) -> String {
    let mut out = String::new();
    for (measure, samples) in &seen.samples {
        let is_speed = config.measure(measure).is_some_and(|one| one.parser.yields_speeds());
        for (index, sample) in samples.iter().enumerate() {
            let stored = sample.stored_at.as_deref().map(|at| format!("  {}", stored_result(at)));
            let stored = stored.unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(out, "run {} of {measure}{stored}", index + 1);
            for (metric, value) in sample.values(measure) {
                let unit = unit(&metric, is_speed);
                let _ = writeln!(out, "  {metric} {}{unit}", text::full_value(&value));
            }
        }
        if samples.len() > 1 {
            let _ = writeln!(out, "median of {} runs of {measure} ± noise", samples.len());
            out.extend(levels(seen, measure, is_speed));
        }
    }
    out
}

/// `  ppl 7.21 ± 0.003` for each metric of a measure.
fn levels(seen: &Observation, measure: &str, is_speed: bool) -> Vec<String> {
    let runs = seen.of(measure).iter();
    let metrics: BTreeSet<Metric> =
        runs.flat_map(|sample| sample.values(measure).into_keys()).collect();
    let line = |metric: Metric| {
        let numbers = seen.numbers(&metric);
        let (median, sd) = (median(&numbers)?, winsorised_sd(&[&numbers])?);
        let unit = unit(&metric, is_speed);
        Some(format!("  {metric} {} ± {}{unit}\n", text::figure(median), text::rounded(sd)))
    };
    metrics.into_iter().filter_map(line).collect()
}

/// The unit of a metric, with a space before it; empty if the configuration does not name one.
fn unit(metric: &Metric, is_speed: bool) -> &'static str {
    match Resource::of(metric) {
        Some(Resource::WallTime) => " s",
        Some(Resource::PeakMemory) => " MiB",
        None if is_speed => " tokens/s",
        None => "",
    }
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
                "stored_at": sample.stored_at,
                "values": sample.values(measure),
                "failure": sample.result.as_ref().err(),
            })
        })
        .collect();
    let whole = json!({
        "schema": "bisect-ppl/measure/1",
        "commit": seen.commit,
        "build_failure": seen.build_failure,
        "build_stored_at": seen.build_stored_at,
        "runs": runs,
    });
    plain_json(&format!("{whole:#}\n"))
}
