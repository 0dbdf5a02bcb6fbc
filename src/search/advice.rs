//! What goes between a search in noise and whoever makes its measurements.

use super::calibration::Calibration;
use super::passfail::Rates;

/// A place that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The good endpoint.
    Good,
    /// A commit of the range; the last one is the bad endpoint.
    Commit(usize),
}

/// How a search begins.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How likely each commit is to begin with; 0 for one that cannot be it.
    pub prior: Vec<f64>,
    /// Commits that must not be measured.
    pub untestable: Vec<bool>,
    /// Samples of the good endpoint, in order.
    pub good: Vec<f64>,
    /// Samples of the bad endpoint, in order; as many.
    pub bad: Vec<f64>,
    /// What they came to.
    pub scale: Scale,
    /// Whether the machine may drift.
    pub may_drift: bool,
    /// What a build takes beside a run; 1 where that is not known.
    pub price_of_build: f64,
}

/// What samples are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Levels, from a calibration.
    Levels(Calibration),
    /// Rates of failure.
    Rates(Rates),
}

/// What the search wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// One run at each of these, in this order; told with [`Noisy::told`](super::Noisy::told).
    Measure(Vec<Place>),
    /// Fresh runs of the commit against each of these; if they do not hold, told with [`Noisy::rejected`](super::Noisy::rejected).
    Confirm(Candidate),
    /// It cannot get further.
    Stop(Answer),
}

/// A commit that the posterior points at.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The commit.
    pub commit: usize,
    /// What it is compared with: its parents, or where those cannot be measured their nearest
    /// ancestors that can.
    pub against: Vec<Place>,
    /// The commit, and those that cannot be measured between it and them, oldest first.
    pub span: Vec<usize>,
    /// What they hold of the posterior.
    pub mass: f64,
}

/// Where a search ends without a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every commit worth measuring had all the runs that could help.
    Exhausted,
    /// Three commits in turn were not confirmed.
    Rejected,
    /// As many runs as a search may make.
    OutOfRuns,
    /// The machine drifted, and in pairs the endpoints do not lie apart.
    Drifted,
    /// No commit divides what was measured into a better and a worse part.
    Unexplained,
}
