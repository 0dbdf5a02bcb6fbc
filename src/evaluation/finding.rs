//! What a hunt answers. "I could not tell, here are three candidates and why" is an answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Checks, CommitId, Differences, Extent, Failure, Guard, Metric, Noise, Ran, Value};

/// How a hunt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A first bad commit, confirmed against its parents.
    Culprit,
    /// One of several commits; why it could not be narrowed is in the notes.
    Candidates,
    /// The limit is crossed by many small steps; nobody is blamed.
    Gradual,
    /// The endpoints do not show a regression.
    NoRegression,
    /// The endpoints' runs overlap too much to search.
    NoiseTooLarge,
    /// An endpoint cannot be measured.
    EndpointUnmeasurable,
    /// Stopped before an answer; can be resumed.
    Interrupted,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Culprit => "culprit",
            Self::Candidates => "candidates",
            Self::Gradual => "gradual",
            Self::NoRegression => "no-regression",
            Self::NoiseTooLarge => "noise-too-large",
            Self::EndpointUnmeasurable => "endpoint-unmeasurable",
            Self::Interrupted => "interrupted",
        })
    }
}

/// What the certainty of an answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every value repeated bit for bit.
    BitExact,
    /// Runs of each commit until their evidence was enough.
    Sequential,
    /// A posterior over the commits.
    Posterior,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BitExact => "bit-exact",
            Self::Sequential => "sequential",
            Self::Posterior => "posterior",
        })
    }
}

/// A guard that the bad endpoint breaks, or the failure it ends in: what the hunt judges by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A broken guard.
    Guard(GuardTarget),
    /// The bad endpoint fails where the good one does not; commits that fail alike are bad.
    Failure {
        /// The measure that fails; `None` when the build does.
        measure: Option<String>,
        /// How.
        failure: Failure,
        /// The checks that the good end's runs made, where a run must make the same ones to be
        /// judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checks: Option<Checks>,
    },
}

/// A guard with the levels it is judged against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardTarget {
    /// The guard.
    pub guard: Guard,
    /// The level at the good end.
    pub baseline: Value,
    /// The level at the bad end.
    pub bad: Value,
    /// How far the metric may move, in its own unit; 0 for a fact.
    pub limit: f64,
    /// Where runs do not repeat bit for bit: the value that parts good from bad, midway
    /// between the endpoints' runs.
    pub threshold: Option<f64>,
    /// Levels and noise, where runs do not repeat bit for bit.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// How much text the good end's runs read, where they say so: a run that read another
    /// amount is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Extent>,
    /// The checks that the good end's runs made, where a run must make the same ones to be
    /// judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
}

impl Target {
    /// Its name for people: the metric, or how it fails.
    pub fn label(&self) -> String {
        match self {
            Self::Guard(target) => target.guard.metric.to_string(),
            Self::Failure { measure: Some(measure), failure, .. } => {
                format!("{measure} {}", failure.kind)
            }
            Self::Failure { measure: None, failure, .. } => failure.kind.to_string(),
        }
    }
}

/// How a metric moved from the worst parent to the first bad commit, freshly measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The metric.
    pub metric: Metric,
    /// The level at the worst parent.
    pub parent: Value,
    /// The level at the commit.
    pub commit: Value,
    /// How much worse the commit is than that parent, in the metric's unit, positive is
    /// worse; `None` for a fact.
    pub own_step: Option<f64>,
    /// The range of the own step over all pairs of fresh runs; in noise its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// How far the guard lets the metric move.
    pub limit: f64,
    /// The step over the chunks of the text, where the metric is a perplexity over chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_text: Option<OverText>,
}

/// A step over the text that both commits read. The intervals are about the choice of the text,
/// not about noise from run to run; they are in the metric's unit, positive is worse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverText {
    /// How many chunks were read.
    pub chunks: usize,
    /// How many of them moved by more than their noise, and by more than a tenth of the mean.
    pub carrying: usize,
    /// Of both intervals.
    pub confidence: f64,
    /// Chunk against chunk.
    pub paired: [f64; 2],
    /// As if the two had read different texts.
    pub plain: [f64; 2],
}

/// A file that a commit touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// The path; lossy where it is not UTF-8.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_b64: Option<String>,
    /// Lines added; `None` for a binary file, and where they cannot be counted.
    pub added: Option<usize>,
    /// Lines removed; `None` for a binary file, and where they cannot be counted.
    pub removed: Option<usize>,
    /// `necessary`, `innocent` or `unknown`.
    pub role: String,
}

/// Another project's sources that a commit moves on, or back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The submodule, or the file in which it is noted what was taken over.
    pub path: String,
    /// Its commit before.
    pub from: CommitId,
    /// Its commit now.
    pub to: CommitId,
    /// How many of its commits lie between, where that could be counted.
    pub commits: Option<usize>,
    /// Whether it is a submodule.
    pub is_submodule: bool,
}

/// Where the commits of a hunt lie, when they are a dependency's and not the engine's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Within {
    /// The hunt whose first bad commit moved the dependency.
    pub hunt: String,
    /// The engine's commit that is built for each of them, with that one in place of the pinned.
    pub commit: CommitInfo,
    /// Where the dependency lies in it: a submodule, or a folder that holds a copy.
    pub path: String,
    /// The dependency's git folder, in the user's clone.
    pub git_dir: String,
    /// Of a copy, the files that are exchanged, by their paths in the dependency's own tree;
    /// none of a submodule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How that first bad commit fails, where that is what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl Within {
    /// `the submodule lib`, or `what lib is a copy of`.
    pub fn what(&self) -> String {
        if self.files.is_empty() {
            format!("the submodule {}", self.path)
        } else {
            format!("what {} is a copy of", self.path)
        }
    }
}

/// A commit as people know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitInfo {
    /// Its name.
    pub commit: CommitId,
    /// First line of its message; lossy, as written.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
}

/// A first bad commit that a confirmation stands behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Culprit {
    /// The commit.
    pub info: CommitInfo,
    /// All its real parents.
    pub parents: Vec<CommitId>,
    /// The worst of them: what the own step is measured against.
    pub parent: CommitId,
    /// How sure, below 1: one minus the probability that chance alone gave these runs and
    /// builds; in noise the odds that the fresh runs speak for a step.
    pub confidence: f64,
    /// What that rests on.
    pub basis: Basis,
    /// How each broken target moved, the largest relative to its limit first.
    pub effects: Vec<Effect>,
    /// The failure, where that is what broke.
    pub failure: Option<Failure>,
    /// What it touches.
    pub files: Vec<TouchedFile>,
    /// Other projects' sources that it moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// What its runs loaded that those of that parent did not, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
    /// What else is not the same in its build and in that parent's, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Date and hunt of the confirmation, when an earlier one was taken over.
    pub confirmed_before: Option<(String, String)>,
}

/// good → bad = the own steps found + the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// The metric.
    pub metric: Metric,
    /// How much worse the bad endpoint is than the good one, in the metric's unit.
    pub total: f64,
    /// The sum of the own steps found.
    pub explained: f64,
    /// What is left.
    pub rest: f64,
    /// How far the guard lets the metric move.
    pub limit: f64,
}

/// A stretch of history over which a metric rose by a small step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// The last commit before the stretch.
    pub from: CommitId,
    /// Its last commit.
    pub to: CommitId,
    /// How many commits it has.
    pub commits: usize,
    /// How much worse the metric got over it.
    pub rise: f64,
    /// The metric.
    pub metric: Metric,
}

/// The answer of a hunt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// How it ended.
    pub outcome: Outcome,
    /// One or two sentences in plain words.
    pub summary: String,
    /// The first bad commits, in order of history.
    pub culprits: Vec<Culprit>,
    /// Which of `culprits` has the largest own step.
    pub main: Option<usize>,
    /// The commits it may be, the likeliest first; just the first bad commit where it is known.
    pub candidates: Vec<CommitId>,
    /// The account of each targeted metric.
    pub accounts: Vec<Account>,
    /// Where many small steps make the rise.
    pub contributions: Vec<Contribution>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

impl Finding {
    /// A finding with nothing but an outcome and its sentence.
    pub fn plain(outcome: Outcome, summary: impl Into<String>) -> Self {
        Self {
            outcome,
            summary: summary.into(),
            culprits: Vec::new(),
            main: None,
            candidates: Vec::new(),
            accounts: Vec::new(),
            contributions: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The first bad commit with the largest own step.
    pub fn culprit(&self) -> Option<&Culprit> {
        self.main.and_then(|index| self.culprits.get(index))
    }
}
