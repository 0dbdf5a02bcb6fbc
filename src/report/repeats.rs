//! Noise of metrics that one run prints several times: the spread between runs of one commit, and
//! the spread between repeats within one run.

use std::collections::{BTreeMap, HashSet};

use crate::evaluation::{CommitId, Metric};
use crate::stats;

use super::model::{MeasuredCommit, RepeatLine};

/// The runs of one metric.
#[derive(Default)]
struct MetricRuns<'r> {
    repeats: Vec<&'r [f64]>,
    values: BTreeMap<&'r CommitId, Vec<f64>>,
}

/// A line for each metric that runs print several times. A run of two commits with the same tree
/// counts once.
pub(super) fn of(commits: &[MeasuredCommit]) -> Vec<RepeatLine> {
    let mut seen = HashSet::new();
    let mut metrics: BTreeMap<&Metric, MetricRuns<'_>> = BTreeMap::new();
    for commit in commits {
        for run in commit.runs.iter().filter(|run| run.apart.is_none()) {
            for (metric, repeats) in &run.repeats {
                let sample = commit
                    .samples
                    .iter()
                    .find(|sample| sample.attempt == run.attempt && sample.metric == *metric);
                let value = sample.and_then(|sample| sample.value.as_ref()?.number());
                if let Some(value) = value
                    && seen.insert((metric, &run.attempt))
                {
                    let runs = metrics.entry(metric).or_default();
                    runs.repeats.push(repeats);
                    runs.values.entry(&commit.commit).or_default().push(value);
                }
            }
        }
    }
    metrics.into_iter().filter_map(|(metric, runs)| line(metric, &runs)).collect()
}

fn line(metric: &Metric, runs: &MetricRuns<'_>) -> Option<RepeatLine> {
    let counts = || runs.repeats.iter().map(|repeats| repeats.len());
    let groups: Vec<&[f64]> = runs.values.values().map(Vec::as_slice).collect();
    Some(RepeatLine {
        metric: metric.clone(),
        launches: runs.repeats.len(),
        repeats: [counts().min()?, counts().max()?],
        mean: stats::mean(&groups.concat())?,
        between: stats::winsorised_sd(&groups),
        within: stats::winsorised_sd(&runs.repeats),
    })
}
