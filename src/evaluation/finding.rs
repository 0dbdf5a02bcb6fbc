//! A hunt's answer. "Undecided: three candidates and the reasons" is an answer too.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Account, Cause, CommitId, Contribution, Differences, Doubts, Failure, FileRole, HiddenStep,
    Inquiry, JointBackport, JointRevert, LoadedFilesComparison, Metric, OpenStep, ReachedLimit,
    Shapes, Target, UndoneStep, Unexplained, Value, number,
};

/// How a hunt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// The first bad commit was found and confirmed against its parents.
    Culprit,
    /// The first bad commit is one of several. The notes say why there is more than one.
    Candidates,
    /// Many small steps add up to the regression; no single commit is named.
    Gradual,
    /// The endpoints do not show a regression.
    NoRegression,
    /// The noise is too large to distinguish the endpoints.
    NoiseTooLarge,
    /// An endpoint cannot be measured, or no search between the endpoints is possible.
    EndpointUnmeasurable,
    /// The hunt was stopped before an answer; it can be resumed.
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

/// The statistical method behind an answer's confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Basis {
    /// Bit-identical repeats.
    BitExact,
    /// A sequential test per commit.
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

/// The change of a metric from the worst parent to the first bad commit, from fresh runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The metric.
    pub(crate) metric: Metric,
    /// The level at the worst parent.
    pub parent: Value,
    /// The level at the commit.
    pub commit: Value,
    /// How much worse the commit is than that parent, in the metric's unit, positive is worse;
    /// `None` for a fact.
    #[serde(with = "number", default)]
    pub own_step: Option<f64>,
    /// Without noise: the range of the own step over all pairs of fresh runs. In noise: its 95 %
    /// interval.
    #[serde(with = "number", default)]
    pub interval: Option<[f64; 2]>,
    /// The guard's tolerance, in the metric's unit.
    #[serde(with = "number")]
    pub limit: f64,
    /// In noise: how many runs of that parent and of the commit gave these levels. A hunt may have
    /// many more of both: runs that chose the commit are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runs: Option<[usize; 2]>,
    /// The step's statistics over the chunks of text, if the metric is a perplexity over chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) over_text: Option<ChunkIntervals>,
}

/// A step's statistics over the chunks of text that both commits read. The intervals are in the
/// metric's unit, positive is worse. They cover the choice of the text, and in noise also what
/// differs from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChunkIntervals {
    /// How many chunks were read.
    pub chunks: usize,
    /// How many chunks changed by more than their noise and by more than a tenth of the mean
    /// change.
    pub carrying: usize,
    /// The confidence of both intervals.
    pub confidence: f64,
    /// The interval of the chunk-by-chunk differences.
    #[serde(with = "number")]
    pub paired: [f64; 2],
    /// The unpaired interval, as if the two commits had read different texts.
    #[serde(with = "number")]
    pub plain: [f64; 2],
}

/// A file that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TouchedFile {
    /// The path. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The path's bytes in base64, if the path is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_b64: Option<String>,
    /// Lines added; `None` for a binary file, or if git cannot count them.
    pub added: Option<usize>,
    /// Lines removed; `None` for a binary file, or if git cannot count them.
    pub removed: Option<usize>,
    /// The file's role in the regression.
    pub role: FileRole,
}

/// Another project, inside the engine's tree, that a commit moves to another of the project's
/// commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The submodule's path, or the path of the file that names the copied commit.
    pub path: String,
    /// The dependency's commit before the change.
    pub(crate) from: CommitId,
    /// The dependency's commit after the change.
    pub(crate) to: CommitId,
    /// The number of the dependency's commits in between, if known.
    pub commits: Option<usize>,
    /// Whether the dependency is a submodule.
    pub is_submodule: bool,
}

/// The dependency whose commits a hunt searches, instead of the engine's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DependencyHunt {
    /// The hunt whose first bad commit moved the dependency.
    pub hunt: String,
    /// The engine's commit for every build. The dependency's commit under test replaces the pinned
    /// one.
    pub commit: CommitInfo,
    /// The dependency's path in the engine's tree: a submodule, or a folder that holds a copy.
    pub path: String,
    /// The dependency's git folder, in the user's clone.
    pub git_dir: String,
    /// The files that are replaced in a copy, by their paths in the dependency's own tree; empty
    /// for a submodule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The failure of the first bad commit of `hunt`, if that commit fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The confidence of `hunt` in its first bad commit. An answer inside the dependency rests on
    /// that commit, so its confidence is not higher. `None` in hunts of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether `hunt` confirmed its first bad commit, but ended undecided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undecided: bool,
}

impl DependencyHunt {
    /// The confidence in a commit of the dependency, from that which its own runs give.
    pub(crate) fn most_confidence(&self, own: f64) -> f64 {
        self.confidence.map_or(own, |outer| own.min(outer))
    }

    /// `the submodule lib`, or `the project copied to lib`.
    pub(crate) fn what(&self) -> String {
        if self.files.is_empty() {
            format!("the submodule {}", self.path)
        } else {
            format!("the project copied to {}", self.path)
        }
    }
}

/// A commit as people identify it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitInfo {
    /// The commit's full name.
    pub commit: CommitId,
    /// First line of the commit message, lossy if not UTF-8.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
}

/// A confirmed first bad commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Culprit {
    /// The commit.
    pub info: CommitInfo,
    /// All its parents in git.
    pub parents: Vec<CommitId>,
    /// The worst parent, with which the commit is compared.
    pub parent: CommitId,
    /// Confidence, below 1: one minus the probability that chance alone gave these runs and builds.
    /// In noise it is computed from the odds of the fresh runs.
    pub confidence: f64,
    /// The method behind `confidence`.
    pub basis: Basis,
    /// The change of each broken target, the largest relative to its tolerance first.
    pub effects: Vec<Effect>,
    /// The commit's failure, if the target is a failure.
    pub failure: Option<Failure>,
    /// The files that the commit changes.
    pub files: Vec<TouchedFile>,
    /// Other projects' sources that the commit updates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// For a merge: the files in which it differs from each of its parents, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_files: Option<Vec<String>>,
    /// Which files the runs of the commit and of `parent` loaded, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<LoadedFilesComparison>,
    /// Other differences between the commit's build and `parent`'s build, if compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Date and hunt of an earlier confirmation, if it is reused.
    pub confirmed_before: Option<(String, String)>,
    /// What neither runs nor tests exclude of the commit.
    #[serde(flatten)]
    pub doubts: Doubts,
    /// Set if the commit's change was undone, and a later commit landed it again: the first known
    /// commit without the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<CommitId>,
    /// Set if an improvement of the range hid the commit's step until it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenStep>,
}

impl Culprit {
    /// A commit and the parent that it is compared with; nothing else is known.
    pub(crate) fn bare(info: CommitInfo, parent: CommitId) -> Self {
        Self {
            info,
            parents: vec![parent.clone()],
            parent,
            confidence: 0.0,
            basis: Basis::BitExact,
            effects: Vec::new(),
            failure: None,
            files: Vec::new(),
            dependencies: Vec::new(),
            own_files: None,
            ran: None,
            differences: None,
            confirmed_before: None,
            doubts: Doubts::default(),
            undone_by: None,
            hidden: None,
        }
    }

    /// The commit's change of a metric, if the metric is one of its broken targets.
    pub(crate) fn effect_on(&self, metric: &Metric) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.metric == *metric)
    }

    /// Whether the target is one of those that the commit breaks.
    pub(crate) fn breaks(&self, target: &Target) -> bool {
        match target {
            Target::Guard(target) => self.effect_on(&target.guard.metric).is_some(),
            Target::Failure { .. } => self.failure.is_some(),
        }
    }
}

/// The answer of a hunt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// How the hunt ended.
    pub outcome: Outcome,
    /// One or two sentences in plain words.
    pub summary: String,
    /// The confirmed first bad commits, in order of history.
    pub culprits: Vec<Culprit>,
    /// The index of the culprit with the largest own step.
    pub main: Option<usize>,
    /// The commits that may be the first bad one, the most likely first; a single entry if that
    /// commit is known.
    pub candidates: Vec<CommitId>,
    /// One account per targeted metric.
    pub accounts: Vec<Account>,
    /// What is bad at the bad end and not explained by the confirmed commits. If there is anything,
    /// the answer is not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Unexplained>,
    /// What an undecided hunt measured: confirmed steps that the bad end may have, and later
    /// improvements. Both in order of history, the steps first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_steps: Vec<OpenStep>,
    /// Confirmed steps that later commits undid, in order of history. Their commits are not named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone_steps: Vec<UndoneStep>,
    /// The ranges whose small steps add up to the change.
    pub contributions: Vec<Contribution>,
    /// Further remarks for the reader.
    pub notes: Vec<String>,
    /// What the user can try next, one sentence each. The lines below a sentence, if there are any,
    /// are lines for `oracle.toml`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// The limit that ended the hunt early. `resume` continues the hunt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<ReachedLimit>,
    /// Whether the summary says that a limit ended the hunt. Needed only until `next` says how to go
    /// on, so it is not stored.
    #[serde(skip)]
    pub says_limit: bool,
    /// The cause within the main first bad commit, if it was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The causes within the other first bad commits, in order of history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_causes: Vec<Cause>,
    /// What the newer end shows without the causes of all first bad commits, if that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_revert: Option<JointRevert>,
    /// What the bad end shows with the causes of all first fixed commits, if that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_backport: Option<JointBackport>,
    /// The cells in which the main first bad commit regressed, if a sweep was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<Shapes>,
    /// Further measurements of the main first bad commit.
    #[serde(flatten)]
    pub inquiry: Inquiry,
}

impl Finding {
    /// A finding with only an outcome and its summary.
    pub(crate) fn plain(outcome: Outcome, summary: impl Into<String>) -> Self {
        Self {
            outcome,
            summary: summary.into(),
            culprits: Vec::new(),
            main: None,
            candidates: Vec::new(),
            accounts: Vec::new(),
            unexplained: Vec::new(),
            open_steps: Vec::new(),
            undone_steps: Vec::new(),
            contributions: Vec::new(),
            notes: Vec::new(),
            next: Vec::new(),
            limit: None,
            says_limit: false,
            cause: None,
            other_causes: Vec::new(),
            joint_revert: None,
            joint_backport: None,
            inquiry: Inquiry::default(),
            shapes: None,
        }
    }

    /// The first bad commit with the largest own step.
    pub(crate) fn culprit(&self) -> Option<&Culprit> {
        self.main.and_then(|index| self.culprits.get(index))
    }
}
