//! `status`: what a hunt is doing, and its results so far.

use std::time::Duration;

use crate::evaluation::Outcome;
use crate::git::Repository;
use crate::oracle::{Activity, Task};
use crate::process::Stop;
use crate::report::{Report, json, terminal_answer};
use crate::store::HuntDir;
use crate::store::journal::Event;
use crate::ui::{Ui, text};

use super::args::Status;
use super::locate::hunt_here;
use super::start::report_failed;
use super::watch::Watch;
use super::{Failed, exit};

/// How often `--wait` and `--watch` check the hunt.
const LOOK: Duration = Duration::from_millis(200);

/// `status`.
pub fn run(args: &Status, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let (_, hunt): (Repository, HuntDir) = hunt_here(args.hunt.as_deref())?;
    if args.watch || args.wait {
        let watch = args.watch.then(|| Watch::begin(&hunt, ui.is_terminal()));
        while hunt.is_driven().map_err(Failed::store)? && !stop.is_requested() {
            std::thread::sleep(LOOK);
        }
        if let Some(watch) = watch {
            watch.end();
        }
        if stop.is_requested() {
            return Ok(exit::INTERRUPTED);
        }
    }
    let report = Report::of(&hunt).map_err(report_failed)?;
    let out = if args.json { json(&report) } else { words(&hunt, &report)? };
    ui.out(&out).map_err(Failed::stdout)?;
    match (args.wait, report.outcome) {
        (false, _) => Ok(exit::DONE),
        (true, Outcome::Interrupted) => stopped(&hunt),
        (true, outcome) => Ok(exit::of_outcome(outcome)),
    }
}

/// The exit code of a stopped hunt: an external fault or the user stopped it.
fn stopped(hunt: &HuntDir) -> Result<u8, Failed> {
    let entries = hunt.entries().map_err(Failed::store)?;
    let by_world = entries.iter().rev().find_map(|entry| match entry.event {
        Event::Stopped { world, .. } => Some(world),
        _ => None,
    });
    Ok(if by_world == Some(true) { exit::WORLD } else { exit::INTERRUPTED })
}

fn words(hunt: &HuntDir, report: &Report) -> Result<String, Failed> {
    let is_driven = hunt.is_driven().map_err(Failed::store)?;
    let mut lines = vec![format!("hunt {}", hunt.id())];
    match (report.outcome, is_driven) {
        (Outcome::Interrupted, true) => lines.push(running(hunt)),
        (Outcome::Interrupted, false) => {
            lines.push(format!("not running; `bisect-ppl resume {}` goes on", hunt.id()));
        }
        _ => {
            lines.push(terminal_answer(report));
            return Ok(lines.join("\n"));
        }
    }
    if let Some(plan) = &report.plan {
        lines.push(format!("plan: {}", crate::report::plan(plan)));
        let said = plan_said(hunt)?;
        lines.extend(said.and_then(|said| crate::report::long_plan(plan, said)));
    }
    for commit in &report.commits {
        lines.push(format!(
            "{:<7} {}  {}",
            commit.verdict.to_string(),
            commit.commit.short(),
            text::line(&commit.reason)
        ));
    }
    Ok(lines.join("\n") + "\n")
}

/// When the plan was made.
fn plan_said(hunt: &HuntDir) -> Result<Option<jiff::Timestamp>, Failed> {
    let entries = hunt.entries().map_err(Failed::store)?;
    let said = entries.iter().find(|entry| matches!(entry.event, Event::Plan(_)));
    Ok(said.and_then(|entry| entry.at.parse().ok()))
}

/// The current activity, as the hunt last wrote it.
fn running(hunt: &HuntDir) -> String {
    let doing = std::fs::read(hunt.now_path())
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Activity>(&bytes).ok());
    let Some(doing) = doing else { return "running".to_owned() };
    let since = doing.since.parse::<jiff::Timestamp>().ok().map_or_else(String::new, |since| {
        let seconds = jiff::Timestamp::now().duration_since(since).as_secs_f64();
        format!(", for {}", text::seconds(seconds.max(0.0)))
    });
    let measure = doing.measure.map_or_else(String::new, |measure| format!(" {measure}"));
    let did = match doing.doing {
        Task::Wait => "next".to_owned(),
        task => task.to_string(),
    };
    let why = doing.waits.as_ref().map_or_else(String::new, |why| format!("{why}; "));
    format!("running: {why}{did}{measure} at {} ({}){since}", doing.commit.short(), doing.phase)
}
