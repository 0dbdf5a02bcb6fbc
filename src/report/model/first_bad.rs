//! A confirmed first bad commit.

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    Basis, ChangeRequest, ChunkIntervals, CommitId, Dependency, Differences, Doubts, Failure,
    HiddenStep, LoadedFilesComparison, Metric, TouchedFile, Value,
};

use super::change::Change;
use super::inside::InsideLine;

/// A confirmed first bad commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FirstBad {
    /// The commit.
    pub commit: CommitId,
    /// The worst parent, with which the commit is compared.
    pub parent: CommitId,
    /// All its parents in git.
    pub parents: Vec<CommitId>,
    /// First line of the commit message, lossy if not UTF-8.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
    /// Confidence in the answer, below 1.
    pub confidence: f64,
    /// The method behind the confidence.
    pub basis: Basis,
    /// The change of the main target; `None` if the target is a failure.
    pub effect: Option<EffectLine>,
    /// The change of each broken target.
    pub effects: Vec<EffectLine>,
    /// The failure, if the target is a failure.
    pub failure: Option<Failure>,
    /// The files that the commit touches.
    pub files: Vec<TouchedFile>,
    /// Dependencies that the commit moves to another revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// Results of the hunts inside these dependencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<InsideLine>,
    /// For a merge: the files in which it differs from each of its parents, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_files: Option<Vec<String>>,
    /// How the files that its runs loaded differ from those of its parent's runs, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<LoadedFilesComparison>,
    /// Other differences between its build and its parent's, if they were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Its page on the site that hosts the repository, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The pull request of the commit, if its message or that of its merge names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<ChangeRequest>,
    /// Its diff. Not in `report.json`: the hunt's folder has it.
    #[serde(skip)]
    pub change: Option<Change>,
    /// Date and hunt of an earlier confirmation, if this hunt reuses it.
    pub confirmed_before: Option<(String, String)>,
    /// What neither runs nor tests exclude of it.
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

impl FirstBad {
    /// The commit's change of a metric, if the metric is one of its broken targets.
    pub(crate) fn effect_on(&self, metric: &Metric) -> Option<&EffectLine> {
        self.effects.iter().find(|effect| effect.metric == *metric)
    }
}

/// An [`Effect`](crate::evaluation::Effect) whose numbers may be NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EffectLine {
    /// The metric.
    pub metric: Metric,
    /// The level at the worst parent.
    pub parent: Value,
    /// The level at the commit.
    pub commit: Value,
    /// The step from parent to commit, positive is worse; `None` for a fact.
    pub own_step: Option<Value>,
    /// The step's 95 % interval if its guard has `noise`, else its range over all pairs of fresh
    /// runs.
    pub interval: Option<[Value; 2]>,
    /// The guard's tolerance, in the metric's unit.
    pub limit: Value,
    /// In noise: how many runs of parent and commit gave these levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<[usize; 2]>,
    /// The step over the text's chunks, for a perplexity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_text: Option<ChunkIntervals>,
}
