//! Launches and repeats kept apart: how far launches of one commit lie from each other, beside
//! how far the repeats within one launch do.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Metric};
use crate::stats;

use super::model::MeasuredCommit;

/// A metric that a launch says several times: repeats within a launch vary less than launches
/// do, so that a launch is one sample however many repeats it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepeatLine {
    /// The metric.
    pub metric: Metric,
    /// Launches that count.
    pub launches: usize,
    /// The fewest and the most repeats of a launch.
    pub repeats: [usize; 2],
    /// The mean over all launches.
    pub mean: f64,
    /// Standard deviation of a launch's value about its commit's mean, from all commits
    /// together; `None` unless some commit was launched twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<f64>,
    /// Standard deviation of a repeat about its launch's mean, from all launches together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
}

/// The launches of one metric.
#[derive(Default)]
struct Launches<'r> {
    repeats: Vec<&'r [f64]>,
    values: BTreeMap<&'r CommitId, Vec<f64>>,
}

/// A line for each metric that launches say several times. What a launch of two commits with
/// one tree says is told once.
pub(super) fn of(commits: &[MeasuredCommit]) -> Vec<RepeatLine> {
    let mut seen = HashSet::new();
    let mut metrics: BTreeMap<&Metric, Launches<'_>> = BTreeMap::new();
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
                    let launches = metrics.entry(metric).or_default();
                    launches.repeats.push(repeats);
                    launches.values.entry(&commit.commit).or_default().push(value);
                }
            }
        }
    }
    metrics.into_iter().filter_map(|(metric, launches)| line(metric, &launches)).collect()
}

fn line(metric: &Metric, launches: &Launches<'_>) -> Option<RepeatLine> {
    let counts = || launches.repeats.iter().map(|repeats| repeats.len());
    let groups: Vec<&[f64]> = launches.values.values().map(Vec::as_slice).collect();
    Some(RepeatLine {
        metric: metric.clone(),
        launches: launches.repeats.len(),
        repeats: [counts().min()?, counts().max()?],
        mean: stats::mean(&groups.concat())?,
        between: stats::winsorised_sd(&groups),
        within: stats::winsorised_sd(&launches.repeats),
    })
}
