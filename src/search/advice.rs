//! The messages between a search in noise and its caller, which makes the runs.

use super::calibration::Calibration;
use super::drift::DriftPrior;
use super::passfail::Rates;

/// What can be measured: the good endpoint or a commit of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeasuredCommit {
    /// The good endpoint.
    Good,
    /// A commit of the range. The last one is the bad endpoint.
    Commit(usize),
}

/// The initial settings of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Prior probability of each commit; 0 for a commit that cannot be the first bad one.
    pub prior: Vec<f64>,
    /// Commits that must not be measured.
    pub untestable: Vec<bool>,
    /// Samples of the good endpoint, in order.
    pub good: Vec<f64>,
    /// Samples of the bad endpoint, in order; equally many as of the good one.
    pub bad: Vec<f64>,
    /// Levels or rates computed from these samples.
    pub scale: Scale,
    /// Whether the machine may drift. If likely, the good endpoint runs again now and then.
    pub drift: DriftPrior,
    /// Duration of a build relative to a run; 1 if unknown.
    pub price_of_build: f64,
    /// For each commit, the number of its runs that are stored already and cost nothing; empty if
    /// no commit has any.
    pub stored: Vec<usize>,
    /// For each commit, whether its build is there already; empty if no commit has one.
    pub built: Vec<bool>,
}

/// Levels or failure rates of good and bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Levels, from a calibration.
    Levels(Calibration),
    /// Rates of failure.
    Rates(Rates),
}

/// What the search asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// One run at each of these places, in this order. Report the samples
    /// with [`Noisy::add_samples`](super::Noisy::add_samples).
    Measure(Vec<MeasuredCommit>),
    /// Fresh runs of this candidate; a rejection is reported with
    /// [`Noisy::rejected`](super::Noisy::rejected).
    Confirm(Candidate),
    /// The search ends without a commit.
    Stop(EndReason),
}

/// A commit that is probably the first bad one.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The commit.
    pub commit: usize,
    /// The commits to compare it with: its parents, or their nearest testable ancestors.
    pub against: Vec<MeasuredCommit>,
    /// The commit and the untestable commits between it and `against`, oldest first.
    pub span: Vec<usize>,
    /// The span's share of the posterior.
    pub mass: f64,
}

/// Why a search ended without a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Every commit worth measuring has its maximum of runs.
    Exhausted,
    /// Three candidates were rejected.
    Rejected,
    /// The maximum number of runs is reached.
    OutOfRuns,
    /// The machine drifted, and the paired calibration after the drift failed.
    Drifted,
    /// No commit divides the samples into a better and a worse part.
    Unexplained,
}
