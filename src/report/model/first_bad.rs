//! A confirmed first bad commit.

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    Basis, ChangeRequest, ChunkIntervals, CommitId, Dependency, Differences, Failure, FormChange,
    HomeDoubt, LoadedFilesComparison, Metric, TouchedFile, Value,
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
    /// Set if no test shows that the newer end needs it: how many later commits the hunt did not
    /// measure, or could not judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured_after: Option<usize>,
    /// Set if one later commit took most of the step back, or improved the metric by more than the
    /// step: that commit. It may have undone the whole step; then another change made the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub perhaps_mended_by: Option<CommitId>,
    /// Set if no test shows that the newer end needs it, and other commits gained back as much as
    /// its whole step: the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gained_back: Option<Metric>,
    /// Set if files in the home folder may carry results from one commit to another: why the
    /// confirmation does not exclude that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_doubt: Option<HomeDoubt>,
    /// Set if builds or runs ask git which branches or tags lead to HEAD, and no test with a
    /// changed tree shows what it would show at a commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference_doubt: bool,
    /// Set if a metric's value comes from another place of the output since this commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form_change: Option<FormChange>,
    /// Set if its step is one unit of a metric's last printed digit, so that rounding may hide steps
    /// of earlier commits: the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_digit: Option<Metric>,
    /// Set if the commit's change was undone, and a later commit landed it again: the first known
    /// commit without the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<CommitId>,
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
    /// The step over the text's chunks, for a perplexity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_text: Option<ChunkIntervals>,
}
