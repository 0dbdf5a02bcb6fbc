//! A search of a range: its commits, its steps and its posterior.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Metric, Verdict};
use crate::store::journal::{CommitPosterior, SearchMethod};

use super::guard::NoiseLine;

/// A range of history that was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchLine {
    /// Number of the search, from 0.
    #[serde(rename = "stretch")]
    pub search_number: usize,
    /// The good end of the range.
    pub good: CommitId,
    /// The bad end of the range.
    pub bad: CommitId,
    /// How many commits could be the first bad one.
    pub commits: usize,
    /// Pathspecs that limit the search.
    pub paths: Vec<String>,
    /// How many chunks of the text each run reads, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// The search method; if `None`, that of the report's `steadiness`.
    #[serde(default)]
    pub method: Option<SearchMethod>,
    /// The commit that the search claims as the first bad one.
    #[serde(default)]
    pub named: Option<CommitId>,
}

/// A commit that a search judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepLine {
    /// Number of the search.
    pub search_number: usize,
    /// The commit.
    pub commit: CommitId,
    /// The commit's verdict.
    pub verdict: Verdict,
    /// How many commits are left to test after this step. `None` if the store had the answer and
    /// git did not ask.
    pub left: Option<usize>,
}

/// The last posterior of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PosteriorLine {
    /// Number of the search, from 0.
    #[serde(rename = "stretch")]
    pub search_number: usize,
    /// The measured metric.
    pub metric: Metric,
    /// Levels and noise before the search, from the runs at its two ends.
    pub calibrated: Option<NoiseLine>,
    /// Levels and noise at the end of the search.
    pub noise: NoiseLine,
    /// Runs behind the posterior, including those of the ends.
    pub runs: usize,
    /// The smallest set of commits that holds 95 % of the probability, the most likely first.
    pub smallest_set: Vec<LikelyCommit>,
    /// The measured commits and those in question, oldest first. All others are certain.
    pub commits: Vec<CommitPosterior>,
}

/// A commit with the probability that it is the first bad one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LikelyCommit {
    /// The commit.
    pub commit: CommitId,
    /// The probability.
    pub first: f64,
}
