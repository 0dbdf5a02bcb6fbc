//! What a verification found, for people and for programs.

use serde::Serialize;

use crate::evaluation::{CommitId, Metric, OptionChange, Outcome, Value};

/// The format of `verify --json`.
pub(crate) const VERIFY_SCHEMA: &str = "bisect-ppl/verify/1";

/// Whether something holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Conclusion {
    Holds,
    /// The measurements do not decide, or something cannot be measured here.
    Undecided,
    DoesNotHold,
}

/// What a verification found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verification {
    /// [`VERIFY_SCHEMA`].
    pub schema: &'static str,
    /// The version of this program.
    pub tool: &'static str,
    /// The hunt that the report is about.
    pub hunt: String,
    /// The version of the program that made the report.
    pub report_tool: String,
    /// When that hunt began (RFC 3339, UTC).
    pub began: String,
    pub outcome: Outcome,
    /// Whether every claim of the report holds here; with `--fix`, whether the fix heals all cells.
    pub verdict: Conclusion,
    /// How this machine differs from the report's.
    pub machine: MachineCompared,
    /// What `--input` and `--set` changed in the configuration.
    pub changes: Vec<OptionChange>,
    /// One for each first bad commit of the report.
    pub claims: Vec<ClaimVerified>,
    /// What `--fix` asked, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixVerified>,
    /// Remarks for the reader.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The folder with the logs of all builds and runs.
    pub folder: String,
}

/// This machine beside that of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MachineCompared {
    /// Whether nothing differs that results may depend on.
    pub is_alike: bool,
    /// What differs, in words.
    pub differences: Vec<String>,
}

/// A first bad commit, measured again.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClaimVerified {
    pub commit: CommitId,
    /// Its subject in this clone.
    pub subject: String,
    /// The parents that it was measured against, the one of the report first.
    pub parents: Vec<CommitId>,
    /// Whether the claim holds: each of its checks does.
    pub verdict: Conclusion,
    /// One for each metric, or for the failure.
    pub checks: Vec<Check>,
}

/// One metric or failure of a claim.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    /// The metric; `None` for a failure.
    pub metric: Option<Metric>,
    /// What was claimed of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether it shows here.
    pub verdict: Conclusion,
    /// Why, in words.
    pub reason: String,
    /// The values in the report.
    pub reported: Sides,
    /// The values here.
    pub here: Sides,
    /// The guard's tolerance here, in the metric's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Value>,
    /// If the verdict is `holds`: the probability that this is no chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Fresh runs of each commit.
    pub runs: usize,
    /// The logs of these runs, relative to `folder`.
    pub logs: Vec<String>,
}

/// The levels of parent and commit, and their difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Sides {
    /// The level at the parent.
    pub parent: Option<Value>,
    /// The level at the commit.
    pub commit: Option<Value>,
    /// How much worse the commit is, in the metric's unit; for a fix, the parent.
    pub own_step: Option<Value>,
}

/// Whether a revision heals what the first bad commit broke.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FixVerified {
    /// The revision as typed.
    pub asked: String,
    pub commit: CommitId,
    pub subject: String,
    /// The healthy commit that it is compared with: the parent of the oldest first bad commit.
    pub against: CommitId,
    /// Whether all cells are healed.
    pub verdict: Conclusion,
    /// Every guard, level and cell.
    pub cells: Vec<FixCell>,
}

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CellKind {
    /// A guard; those of a `[matrix]` are one for each of its cells.
    Guard,
    /// The failure that the hunt was about.
    Failure,
    /// A `[[level]]`.
    Level,
    /// A cell of `[sweep]`.
    Sweep,
}

/// One cell at the fix and at the healthy commit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FixCell {
    pub kind: CellKind,
    pub name: String,
    /// Whether the report shows the regression there.
    pub showed: bool,
    /// Whether the fix is as good as the healthy commit there.
    pub verdict: Conclusion,
    /// Why, in words.
    pub reason: String,
    /// The level at the healthy commit.
    pub against: Option<Value>,
    /// The level at the fix.
    pub fix: Option<Value>,
}

/// The conclusion of several: it holds if all of them hold, and does not hold if one does not.
pub(super) fn all(verdicts: impl IntoIterator<Item = Conclusion>) -> Conclusion {
    verdicts.into_iter().max().unwrap_or(Conclusion::Undecided)
}
