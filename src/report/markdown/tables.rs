//! What was measured, each figure with a link to the output it was read from.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Metric, Phase, Value, Verdict};
use crate::report::measured::is_resource;
use crate::report::model::{MeasuredCommit, Report, SampleLine};
use crate::ui::text;

use super::escape::{inline, target};
use super::page::Page;

/// Every sample of every commit: what was measured first, then what the runs took.
pub(super) fn measured(page: &mut Page, report: &Report) {
    if report.commits.is_empty() {
        return;
    }
    let guarded: BTreeSet<_> = report.guards.iter().map(|guard| &guard.metric).collect();
    let all = report.commits.iter().flat_map(|commit| &commit.samples).map(|s| &s.metric);
    let (main, resources): (BTreeSet<_>, BTreeSet<_>) =
        all.partition(|metric| guarded.contains(metric) || !is_resource(metric));
    page.heading(2, "Measured commits");
    samples(page, report, &main.into_iter().collect::<Vec<_>>(), true);
    if !resources.is_empty() {
        page.heading(3, "Time and memory of the runs");
        samples(page, report, &resources.into_iter().collect::<Vec<_>>(), false);
    }
}

fn samples(page: &mut Page, report: &Report, metrics: &[&Metric], reasons: bool) {
    let names: Vec<_> = metrics.iter().map(ToString::to_string).collect();
    let mut columns = vec!["commit", "verdict"];
    columns.extend(names.iter().map(String::as_str));
    if reasons {
        columns.push("why");
    }
    let rows = report.commits.iter().map(|commit| {
        let mut row = vec![name(commit), commit.verdict.to_string()];
        row.extend(metrics.iter().map(|metric| cell(commit, metric)));
        if reasons {
            row.push(inline(&commit.reason));
        }
        row
    });
    page.wide_table(&columns, &rows.collect::<Vec<_>>());
}

fn name(commit: &MeasuredCommit) -> String {
    inline(&text::commit(&commit.commit, commit.subject.as_deref().unwrap_or_default()))
}

/// `endpoint [7.21](logs/a.log) [7.21](logs/b.log); confirm [7.21](logs/c.log)`.
fn cell(commit: &MeasuredCommit, metric: &Metric) -> String {
    let samples: Vec<_> = commit.samples.iter().filter(|s| s.metric == *metric).collect();
    let phases: BTreeSet<_> = samples.iter().map(|sample| sample.phase).collect();
    let shown = |phase: &Phase| {
        let figures = samples.iter().filter(|s| s.phase == *phase).map(|s| linked(s));
        format!("{phase} {}", figures.collect::<Vec<_>>().join(" "))
    };
    phases.iter().map(shown).collect::<Vec<_>>().join("; ")
}

fn linked(sample: &SampleLine) -> String {
    let figure = match (&sample.value, &sample.failure) {
        (Some(value), _) => text::value(value),
        (None, Some(failure)) => failure.clone(),
        (None, None) => "none".to_owned(),
    };
    let reused = if sample.reused { " (reused)" } else { "" };
    format!("{}{reused}", link(&figure, &sample.log))
}

fn link(words: &str, path: &str) -> String {
    // An empty fact would leave nothing to click on.
    let words = inline(words);
    let words = if words.is_empty() { "(empty)" } else { &words };
    format!("[{words}]({})", target(path))
}

/// The spread of each metric over the runs at the endpoints.
pub(super) fn noise(page: &mut Page, report: &Report) {
    let end = |id: &CommitId| report.commits.iter().find(|commit| commit.commit == *id);
    let (good, bad) = (end(&report.good.commit), end(&report.bad.commit));
    let both = [good, bad].into_iter().flatten().flat_map(|commit| &commit.samples);
    let metrics: BTreeSet<_> =
        both.filter(|s| s.phase == Phase::Endpoint).map(|s| &s.metric).collect();
    let rows = metrics
        .into_iter()
        .map(|metric| [inline(&metric.to_string()), spread(good, metric), spread(bad, metric)]);
    page.table(["metric", "good endpoint", "bad endpoint"], rows.collect());
}

/// `7.21 in 3 runs`, `7.19 to 7.23 in 3 runs`, `2 of 3 runs failed`.
fn spread(end: Option<&MeasuredCommit>, metric: &Metric) -> String {
    let samples: Vec<_> = end
        .into_iter()
        .flat_map(|commit| &commit.samples)
        .filter(|sample| sample.phase == Phase::Endpoint && sample.metric == *metric)
        .collect();
    let values: Vec<&Value> = samples.iter().filter_map(|sample| sample.value.as_ref()).collect();
    let runs = text::plural(samples.len(), "run");
    let Some(first) = values.first() else {
        return if samples.is_empty() { "not measured" } else { "failed" }.to_owned();
    };
    let failed = samples.len() - values.len();
    let failed = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    let numbers: Vec<_> = values.iter().filter_map(|value| value.number()).collect();
    let words = if values.iter().all(|value| value == first) {
        text::value(first)
    } else if numbers.len() == values.len() {
        let low = numbers.iter().copied().min_by(f64::total_cmp).unwrap_or(f64::NAN);
        let high = numbers.iter().copied().max_by(f64::total_cmp).unwrap_or(f64::NAN);
        format!("{} to {}", text::figure(low), text::figure(high))
    } else {
        "varies".to_owned()
    };
    inline(&format!("{words} in {runs}{failed}"))
}

/// What could not be tested, why, and where to look.
pub(super) fn skipped(page: &mut Page, report: &Report) {
    let skipped: Vec<_> =
        report.commits.iter().filter(|commit| commit.verdict == Verdict::Skip).collect();
    if skipped.is_empty() {
        return;
    }
    page.heading(2, "Skipped commits");
    let rows = skipped.into_iter().map(|commit| {
        let builds = commit.builds.iter().filter(|build| build.failure.is_some());
        let builds = builds.map(|build| link("build", &build.log));
        let mut seen = BTreeSet::new();
        let runs = commit.samples.iter().filter(|sample| sample.failure.is_some());
        let runs = runs.filter(|sample| seen.insert(&sample.log));
        let runs = runs.map(|sample| link(&sample.metric.measure, &sample.log));
        let logs = builds.chain(runs).collect::<Vec<_>>().join(" ");
        [name(commit), inline(&commit.reason), logs]
    });
    page.table(["commit", "why", "output"], rows.collect());
}
