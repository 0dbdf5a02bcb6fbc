//! How a hunt searches: the method, its plan, its state, and its end.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Metric, Noise};

/// The expected cost of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// How many commits may be the first bad one.
    pub commits: usize,
    /// Steps of the search: halvings until one commit is left.
    pub steps: usize,
    /// Builds, confirmation included; 0 if the endpoints needed no build.
    pub builds: usize,
    /// Runs, confirmation included.
    pub runs: usize,
    /// Wall-clock seconds for all builds and runs.
    pub seconds: f64,
    /// Both endpoints' results came from the store, so those of other commits may come from it
    /// too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stored: bool,
}

/// How a search decides about a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SearchMethod {
    /// Values repeat bit for bit, or the target is a failure: usually one run per commit is enough.
    BitIdentical,
    /// Values vary, and the endpoints differ by much more than the noise or the user chose `git
    /// bisect`: a sequential test adds runs until it can judge the commit.
    #[serde(alias = "apart")]
    Sequential,
    /// Values vary too much for a test per commit, or may drift, or the user chose this method: a
    /// posterior over all commits chooses what to measure.
    Posterior,
}

/// Who chooses which commits are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SearchBy {
    /// The noise at the endpoints decides.
    #[default]
    Auto,
    /// `git bisect`, whatever the noise.
    GitBisect,
    /// The posterior, whatever the noise.
    Posterior,
}

/// State of a posterior search, from all samples so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PosteriorSnapshot {
    /// Number of the search.
    #[serde(rename = "stretch")]
    pub search_number: usize,
    /// The metric of the search.
    pub metric: Metric,
    /// Current estimate of the levels and the noise.
    pub noise: Noise,
    /// Runs behind the posterior, endpoint runs included.
    pub runs: usize,
    /// The commits with a non-negligible probability or with samples, oldest first.
    pub commits: Vec<CommitPosterior>,
    /// The smallest set of commits with 95 % of the posterior, most likely first.
    pub smallest_set: Vec<CommitId>,
}

/// Posterior of one commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CommitPosterior {
    /// The commit.
    pub commit: CommitId,
    /// Probability that this is the first bad commit.
    pub first: f64,
    /// Probability that this commit is bad.
    pub bad: f64,
    /// Number of samples of this commit.
    pub samples: usize,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SearchEnd {
    /// The first bad commit.
    FirstBad(CommitId),
    /// The first bad commit is one of these. Commits between them cannot be tested.
    Candidates(Vec<CommitId>),
}
