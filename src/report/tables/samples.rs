//! Tables of measured values, each with a link to its log.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Metric, Phase, Resource, Verdict};
use crate::report::model::{MeasuredCommit, Report, SampleLine};
use crate::report::places::Places;
use crate::report::words;

use super::{Cell, Output, Table};
use crate::ui::text;

/// Every sample of every commit. Wall time and memory only if guarded.
pub(in crate::report) fn measured(report: &Report) -> Table {
    let (main, _) = metrics(report);
    let mut table = samples(report, &main);
    table.columns.push("why".to_owned());
    for (row, commit) in table.rows.iter_mut().zip(&report.commits) {
        row.push(commit.reason.as_str().into());
    }
    table
}

/// Wall time and peak memory of the runs, if not guarded.
pub(in crate::report) fn resources(report: &Report) -> Table {
    let (_, resources) = metrics(report);
    if resources.is_empty() { Table::default() } else { samples(report, &resources) }
}

/// The measured metrics, and the resources (wall time, peak memory) without a guard.
fn metrics(report: &Report) -> (BTreeSet<&Metric>, BTreeSet<&Metric>) {
    let guarded: BTreeSet<_> = report.guards.iter().map(|guard| &guard.metric).collect();
    let all = report.commits.iter().flat_map(|commit| &commit.samples).map(|s| &s.metric);
    all.partition(|metric| guarded.contains(metric) || Resource::of(metric).is_none())
}

fn samples(report: &Report, metrics: &BTreeSet<&Metric>) -> Table {
    let mut columns = vec!["commit".to_owned(), "verdict".to_owned()];
    columns.extend(metrics.iter().map(ToString::to_string));
    let places = Places::of(report);
    let row = |commit: &MeasuredCommit| {
        let mut row = vec![name(commit), Cell::Verdict(commit.verdict)];
        row.extend(metrics.iter().map(|metric| cell(commit, metric, places)));
        row
    };
    Table { columns, rows: report.commits.iter().map(row).collect() }
}

pub(super) fn name(commit: &MeasuredCommit) -> Cell {
    Cell::Commit(commit.commit.clone(), commit.subject.clone().unwrap_or_default())
}

/// The samples of a commit; each with its place if places differ.
fn cell(commit: &MeasuredCommit, metric: &Metric, places: Places) -> Cell {
    let samples = commit.samples.iter().filter(|sample| sample.metric == *metric);
    by_phase(samples.map(|sample| (sample.phase, placed(sample, places))))
}

/// What was printed, grouped by purpose.
pub(super) fn by_phase(outputs: impl Iterator<Item = (Phase, Output)>) -> Cell {
    let mut groups = BTreeMap::<Phase, Vec<Output>>::new();
    for (phase, output) in outputs {
        groups.entry(phase).or_default().push(output);
    }
    Cell::Samples(groups.into_iter().collect())
}

/// A sample as text, with the slot or computer that made it if these differ.
fn placed(sample: &SampleLine, places: Places) -> Output {
    let output = figure(sample);
    Output { words: output.words + &places.sample(sample), ..output }
}

/// A sample as text.
pub(in crate::report) fn figure(sample: &SampleLine) -> Output {
    let words = match (&sample.value, &sample.failed) {
        (Some(value), _) => text::value(value),
        (None, Some(failure)) => words::failure_kind(failure),
        (None, None) => "none".to_owned(),
    };
    let words = match sample.chunks {
        Some(chunks) => format!("{words} ({})", text::plural(chunks, "chunk")),
        None => words,
    };
    Output {
        words,
        log: sample.log.clone(),
        stored: words::taken_from(
            sample.reused,
            sample.stored_at.as_deref(),
            sample.same_as.as_ref(),
        ),
    }
}

/// Excluded runs, grouped by measure and reason.
pub(in crate::report) fn apart(report: &Report) -> Table {
    let mut rows: Vec<[Cell; 4]> = Vec::new();
    for commit in &report.commits {
        let mut kinds = BTreeMap::<_, Vec<Output>>::new();
        for line in &commit.apart {
            let outputs = kinds.entry((&line.measure, &line.why)).or_default();
            let (words, log) = ("output".to_owned(), line.log.clone());
            let at = line.stored_at.as_deref();
            let stored = words::taken_from(line.reused, at, line.same_as.as_ref());
            outputs.push(Output { words, log, stored });
        }
        rows.extend(kinds.into_iter().map(|((measure, why), outputs)| {
            let why = why.to_string().into();
            [name(commit), measure.as_str().into(), why, Cell::Outputs(outputs)]
        }));
    }
    Table::new(["commit", "measure", "why", "output"], rows.into_iter())
}

/// Skipped commits, with the reason and the logs.
pub(in crate::report) fn skipped(report: &Report) -> Table {
    let skipped = report.commits.iter().filter(|commit| commit.verdict == Verdict::Skip);
    let output = |words: &str, log: &String, stored| Output {
        words: words.to_owned(),
        log: log.clone(),
        stored,
    };
    let rows = skipped.map(|commit| {
        let builds = commit.builds.iter().filter(|build| build.failure.is_some());
        let builds = builds.map(|build| {
            let stored = words::taken_from(build.reused, build.stored_at.as_deref(), None);
            output("build", &build.log, stored)
        });
        let mut seen = BTreeSet::new();
        let runs = commit.samples.iter().filter(|sample| sample.failure.is_some());
        let runs = runs.filter(|sample| seen.insert(&sample.log));
        let runs = runs.map(|sample| {
            let at = sample.stored_at.as_deref();
            let stored = words::taken_from(sample.reused, at, sample.same_as.as_ref());
            output(&sample.metric.measure, &sample.log, stored)
        });
        [name(commit), commit.reason.as_str().into(), Cell::Outputs(builds.chain(runs).collect())]
    });
    Table::new(["commit", "why", "output"], rows)
}
