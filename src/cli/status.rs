//! `status`: what a hunt is doing, and its results so far.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::evaluation::{Metric, Outcome, Resource};
use crate::git::Repository;
use crate::hunt;
use crate::oracle::{Activity, Task};
use crate::process::Stop;
use crate::report::{
    Clock, MeasuredCommit, Pace, Report, course, json, limits_left, printed_lines, terminal_answer,
};
use crate::store::journal::{Entry, Event, LimitsInForce};
use crate::store::{HuntDir, RecordedFault};
use crate::ui::{Ui, stored_result, text};

use super::args::Status;
use super::ended::{self, died, report_failed};
use super::locate::hunt_here;
use super::watch::Watch;
use super::{Failed, exit};

/// How often `--wait` and `--watch` check the hunt.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Most metrics shown per commit. A dump of tensors has thousands.
const MOST_METRICS: usize = 6;

/// `status`.
pub(crate) fn run(args: &Status, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let (_, hunt): (Repository, HuntDir) = hunt_here(args.hunt.as_deref())?;
    if args.watch || args.wait {
        return until_it_ends(args, &hunt::outermost(&hunt), ui, stop);
    }
    let report = Report::of(&hunt).map_err(report_failed)?;
    let out = if args.json { json(&report) } else { words(&hunt, &report)? };
    ui.out(&out).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}

/// `--wait` and `--watch`: the result and the exit code are those of `start`. A signal ends only
/// this process.
fn until_it_ends(args: &Status, hunt: &HuntDir, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let watch = args.watch.then(|| Watch::begin(hunt, ui));
    while hunt.is_driven().map_err(Failed::store)? && !stop.is_requested() {
        std::thread::sleep(POLL_INTERVAL);
    }
    if let Some(watch) = watch {
        watch.end();
    }
    if stop.is_requested() {
        return Ok(exit::INTERRUPTED);
    }
    if !args.json {
        return ended::answer(hunt, ui);
    }
    let report = Report::of(hunt).map_err(report_failed)?;
    ui.out(&json(&report)).map_err(Failed::stdout)?;
    ended::code(hunt, &report)
}

fn words(hunt: &HuntDir, report: &Report) -> Result<String, Failed> {
    let is_driven = hunt.is_driven().map_err(Failed::store)?;
    let mut lines = vec![format!("hunt {}", hunt.id())];
    if report.outcome != Outcome::Interrupted {
        // A driver that was just started, for example.
        if is_driven {
            lines.push("running: a process works on this hunt; its last answer:".to_owned());
        }
        lines.push(terminal_answer(report));
        return Ok(lines.join("\n"));
    }
    let entries = hunt.entries().map_err(Failed::store)?;
    let doing = Activity::read(&hunt.now_path()).filter(|_| is_driven);
    if let Some(doing) = &doing {
        lines.push(running(doing));
    } else if is_driven {
        let driver = hunt.holder().map_err(Failed::store)?.filter(|_| hunt.jobs().is_dir());
        lines.push(between_jobs(driver.and_then(|driver| driver.since), &entries));
    } else {
        lines.push(format!("not running: {}", why_not(&entries)));
        let fault = fault(&entries);
        let cure = fault.and_then(|fault| fault.hint.as_deref());
        lines.extend(cure.map(|cure| format!("hint: {}", text::line(cure))));
        if fault.is_none_or(|fault| !fault.needs_new_hunt) {
            lines.push(format!("Next: `bisect-ppl resume {}` continues the hunt", hunt.id()));
        }
    }
    if is_driven {
        let ahead = hunt.slots_at_work().map_err(Failed::store)?.into_iter().flatten();
        let doing = ahead.filter_map(|(slot, path)| Some((slot, Activity::read(&path)?)));
        lines.extend(
            doing.map(|(slot, doing)| {
                format!("{}: {}", hunt::place_beside(hunt, slot), task(&doing))
            }),
        );
    }
    let now = is_driven.then(jiff::Timestamp::now);
    lines.push(course(&Pace::of(&entries), now, doing.as_ref().map_or(0.0, Activity::seconds)));
    let limits = LimitsInForce::of(&entries);
    let left = limits_left(&limits, jiff::Timestamp::now(), Clock::Here);
    lines.extend(left.map(|left| format!("limits: {left}")));
    if let Some(plan) = &report.plan {
        lines.push(format!("plan: {}", crate::report::plan(plan)));
        let at = planned_at(&entries);
        lines.extend(at.and_then(|at| crate::report::long_plan(plan, at)));
    }
    for commit in &report.commits {
        let stored = commit.stored_at().map(|at| format!("  {}", stored_result(at)));
        lines.push(format!(
            "{:<7} {}  {}{}",
            commit.verdict.to_string(),
            commit.commit.short(),
            text::line(&commit.reason),
            stored.unwrap_or_default()
        ));
        lines.extend(values(commit, report));
    }
    lines.extend(printed_lines(report));
    Ok(lines.join("\n") + "\n")
}

/// The values of a commit's runs, one line per metric, guarded ones first: `        ppl 7.21, 7.21`.
fn values(commit: &MeasuredCommit, report: &Report) -> Vec<String> {
    let mut by_metric: BTreeMap<&Metric, Vec<String>> = BTreeMap::new();
    for sample in &commit.samples {
        if let Some(value) = &sample.value
            && Resource::of(&sample.metric).is_none()
        {
            by_metric.entry(&sample.metric).or_default().push(text::value(value));
        }
    }
    let more = by_metric.len().saturating_sub(MOST_METRICS);
    let is_guarded = |metric: &Metric| report.guards.iter().any(|guard| guard.metric == *metric);
    let mut by_metric: Vec<_> = by_metric.into_iter().collect();
    by_metric.sort_by_key(|(metric, _)| !is_guarded(metric));
    let mut lines: Vec<String> = by_metric
        .into_iter()
        .take(MOST_METRICS)
        .map(|(metric, values)| format!("        {metric} {}", values.join(", ")))
        .collect();
    if more > 0 {
        lines.push(format!("        and {}", text::plural(more, "more metric")));
    }
    lines
}

/// Why no process drives a hunt that has no answer.
fn why_not(entries: &[Entry]) -> String {
    let Some(last) = entries.last() else { return "it has not begun".to_owned() };
    match &last.event {
        Event::Stopped { world: true, fault } => {
            format!("stopped: {}", text::line(&fault.reason))
        }
        Event::Stopped { .. } => "interrupted by Ctrl-C, TERM or `bisect-ppl stop`".to_owned(),
        _ => died(entries),
    }
}

/// The fault of the machine that stopped the hunt.
fn fault(entries: &[Entry]) -> Option<&RecordedFault> {
    match &entries.last()?.event {
        Event::Stopped { world: true, fault } => Some(fault),
        _ => None,
    }
}

/// When the plan was made.
fn planned_at(entries: &[Entry]) -> Option<jiff::Timestamp> {
    let planned = entries.iter().find(|entry| matches!(entry.event, Event::Plan(_)))?;
    planned.at.parse().ok()
}

/// `running`, and what a hunt in jobs waits for if its job was ended since its driver began, at
/// `since`: the hunt submits the next job when Slurm has said why.
fn between_jobs(since: Option<jiff::Timestamp>, entries: &[Entry]) -> String {
    let stopped = entries.last().filter(|last| matches!(last.event, Event::Stopped { .. }));
    let stopped_at = stopped.and_then(|last| last.at.parse::<jiff::Timestamp>().ok());
    if let (Some(since), Some(at)) = (since, stopped_at)
        && at >= since
    {
        let why = "its job was ended; waiting for Slurm to say why, then the hunt tries again";
        return format!("running: {why}");
    }
    "running".to_owned()
}

/// `running: build at 1a2b3c4d5e (search), for 12 s, 12 of 345`.
fn running(doing: &Activity) -> String {
    format!("running: {}", task(doing))
}

/// The same without the first word.
fn task(doing: &Activity) -> String {
    let measure = doing.measure.as_ref().map_or_else(String::new, |measure| format!(" {measure}"));
    let did = match doing.doing {
        Task::Wait => "next".to_owned(),
        task => task.to_string(),
    };
    let build = doing.build.map_or_else(String::new, |progress| format!(", {progress}"));
    let since = format!("for {}", text::seconds(doing.seconds()));
    let at = doing.at.as_ref();
    let task = at.map(|(commit, phase)| format!("{did}{measure} at {} ({phase})", commit.short()));
    match (&doing.waits, task) {
        (Some(why), Some(task)) => format!("{why}, {since}; {task}"),
        (Some(why), None) => format!("{why}, {since}"),
        (None, task) => format!("{}, {since}{build}", task.unwrap_or(did)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_whose_job_was_ended_says_what_it_waits_for() {
        let fault = RecordedFault::default();
        let event = Event::Stopped { world: false, fault };
        let stopped = [Entry { at: "2026-01-02T03:04:05Z".to_owned(), event }];
        let since = |at: &str| Some(at.parse().unwrap());
        let told = between_jobs(since("2026-01-02T03:00:00Z"), &stopped);
        assert!(told.starts_with("running: its job was ended; waiting for Slurm"), "{told}");
        let resumed = since("2026-01-02T03:05:00Z");
        assert_eq!(between_jobs(resumed, &stopped), "running", "the hunt was stopped before");
        assert_eq!(between_jobs(None, &stopped), "running", "on one machine");
        assert_eq!(between_jobs(resumed, &[]), "running");
    }
}
