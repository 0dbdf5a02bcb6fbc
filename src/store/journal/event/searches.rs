//! How a hunt searches: the method, its plan, its state, and its end.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Metric, Noise};

/// The expected cost of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Results of the range, or of both endpoints, are in the store, so the hunt may cost less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stored: bool,
    /// What each part of the hunt costs, its endpoints and the work after the search included. Old
    /// journals lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PlanPart>,
    /// GPUs that the hunt has while it works in one slot or job, if the configuration says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// What is measured ahead in other slots or jobs, usually at most; `None` if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<PlanAhead>,
}

/// Builds and runs that other slots or jobs make before the search asks for them. The search uses
/// some of them, and its part of the plan counts those.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanAhead {
    /// Builds.
    pub builds: usize,
    /// Runs.
    pub runs: usize,
    /// Seconds of all slots or jobs that run ahead, added up; 0 if durations are unknown.
    pub seconds: f64,
    /// Whether jobs of a cluster make them, and not slots of one machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_jobs: bool,
}

/// The expected cost of one part of a hunt: at least, and usually at most. Known results cost
/// nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlanPart {
    /// The part.
    pub part: HuntPart,
    /// Builds.
    pub builds: [usize; 2],
    /// Runs.
    pub runs: [usize; 2],
    /// Seconds of these builds and runs; 0 if their durations are unknown.
    pub seconds: [f64; 2],
}

/// A part of a hunt in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HuntPart {
    /// Both ends are measured.
    Ends,
    /// The search.
    Search,
    /// The found commit and its parents are measured afresh. In older plans, which do not have
    /// [`Self::LaterCommits`], this part counts the later commits too.
    Confirmation,
    /// The later commits that tell whether its step lasts.
    LaterCommits,
    /// The change of the found commit is tested in parts.
    Localization,
    /// The cells of `[sweep]`.
    Sweep,
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
