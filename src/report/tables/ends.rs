//! The endpoints and their noise.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Metric, Phase, Value};
use crate::report::model::{MeasuredCommit, Report};
use crate::ui::text;

use super::{Cell, Table};

/// The endpoints: the revisions as typed and their commits.
pub(in crate::report) fn endpoints(report: &Report) -> Table {
    let rows = [("good", &report.good), ("bad", &report.bad)].into_iter().map(|(end, point)| {
        [
            end.into(),
            Cell::Name(point.commit.clone()),
            point.asked.as_str().into(),
            point.subject.as_str().into(),
            point.date.as_str().into(),
        ]
    });
    Table::new(["end", "commit", "asked for as", "subject", "date"], rows)
}

/// The spread of a metric over the runs at the endpoints, in words.
pub(in crate::report) struct Spread<'r> {
    pub(in crate::report) metric: &'r Metric,
    pub(in crate::report) good: String,
    pub(in crate::report) bad: String,
}

/// The spread of each metric of the endpoints' runs, by metric.
pub(in crate::report) fn spreads(report: &Report) -> impl Iterator<Item = Spread<'_>> {
    let end = |id: &CommitId| report.commits.iter().find(|commit| commit.commit == *id);
    let (good, bad) = (end(&report.good.commit), end(&report.bad.commit));
    let both = [good, bad].into_iter().flatten().flat_map(|commit| &commit.samples);
    let metrics: BTreeSet<_> =
        both.filter(|s| s.phase == Phase::Endpoint).map(|s| &s.metric).collect();
    metrics.into_iter().map(move |metric| Spread {
        metric,
        good: spread(good, metric),
        bad: spread(bad, metric),
    })
}

/// The spread of each metric over the runs at the endpoints.
pub(in crate::report) fn noise(report: &Report) -> Table {
    let rows = spreads(report)
        .map(|spread| [spread.metric.to_string(), spread.good, spread.bad].map(Cell::Text));
    Table::new(["metric", "good endpoint", "bad endpoint"], rows)
}

/// Noise between runs and within a run, for metrics that a run prints several times.
pub(in crate::report) fn repeats(report: &Report) -> Table {
    let rows = report.repeats.iter().map(|line| {
        let spread = |sd: Option<f64>| match sd {
            None => "not known".to_owned(),
            Some(sd) if line.mean == 0.0 => text::figure(sd),
            Some(sd) => {
                let percent = 100.0 * sd / line.mean.abs();
                format!("{} ({percent:.2} %)", text::figure(sd))
            }
        };
        let [fewest, most] = line.repeats;
        let each = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
        [
            line.metric.to_string(),
            line.launches.to_string(),
            each,
            spread(line.between),
            spread(line.within),
        ]
        .map(Cell::Text)
    });
    let columns = [
        "metric",
        "runs",
        "repeats in each run",
        "deviation between runs",
        "deviation within a run",
    ];
    Table::new(columns, rows)
}

/// `7.21 in 3 runs`, `7.19 to 7.23 in 3 runs, 1 failed`, `failed`.
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
    format!("{words} in {runs}{failed}")
}
