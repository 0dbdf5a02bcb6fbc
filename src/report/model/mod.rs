//! The data of a report. The fields that serde does not skip are the format of `report.json`,
//! which other programs read.

mod account;
mod cause;
mod change;
mod commit;
mod failed;
mod first_bad;
mod guard;
mod host;
mod inside;
mod matrix;
mod recheck;
mod repeats;
mod search;
mod shapes;
mod timed;
mod totals;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    CommitId, DependencyHunt, Forge, Inquiry, Lineage, OpenStep, Outcome, ReachedLimit, UndoneStep,
    Unexplained,
};
use crate::report::ahead::Ahead;
use crate::store::journal::{InputFile, Machine, Options, Plan, SearchMethod, Unread};

pub(crate) use account::{AccountLine, Rise};
pub(crate) use cause::{CauseLine, JointBackportLine, JointRevertLine};
pub(crate) use change::{CandidateLine, Change};
pub(crate) use commit::{BuildLine, ExcludedRunLine, MeasuredCommit, RunLine, SampleLine};
pub(crate) use failed::FailedLine;
pub(crate) use first_bad::{EffectLine, FirstBad};
pub(crate) use guard::{FormName, GuardLine, NoiseLine, TargetFailure};
pub(crate) use host::{BuildNodeLine, HostLine};
pub(crate) use inside::InsideLine;
pub(crate) use matrix::{CellLine, CellStep, MatrixLine};
pub(crate) use recheck::{ClaimLine, PatchText, Recheck};
pub(crate) use repeats::RepeatLine;
pub(crate) use search::{LikelyCommit, PosteriorLine, SearchLine, StepLine};
pub(crate) use shapes::ShapesLine;
pub(crate) use timed::TimedLine;
pub(crate) use totals::Totals;

/// The format of `report.json`.
pub(crate) const SCHEMA: &str = "bisect-ppl/report/1";

/// A finished or interrupted hunt, from its journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The hunt's name.
    pub hunt: String,
    /// Name and version of the program that ran the hunt.
    pub tool: String,
    /// How the hunt ended; [`Outcome::Interrupted`] if the journal has no end.
    pub outcome: Outcome,
    /// The result in one or two sentences.
    pub summary: String,
    /// The good endpoint.
    pub good: Endpoint,
    /// The bad endpoint.
    pub bad: Endpoint,
    /// For a hunt over a dependency's commits: the engine commit that each build uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<DependencyHunt>,
    /// The first bad commit with the largest step; `None` if the hunt names none.
    pub culprit: Option<FirstBad>,
    /// The cause of the step of `culprit`, if it was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseLine>,
    /// The causes of the steps of the other commits in `culprits`, in order of history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_causes: Vec<CauseLine>,
    /// The newer endpoint without the causes of all `culprits`, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_revert: Option<JointRevertLine>,
    /// In a hunt for a fix: the bad endpoint with the causes of all `culprits`, if there are
    /// several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_backport: Option<JointBackportLine>,
    /// Further measurements of `culprit`.
    #[serde(flatten)]
    pub inquiry: Inquiry,
    /// The logs of these further measurements, by name, relative to the hunt's folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inquiry_logs: BTreeMap<String, String>,
    /// Where `culprit` shows its regression, if a sweep was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<ShapesLine>,
    /// All parents of `culprit` in git.
    pub parents: Vec<CommitId>,
    /// Every confirmed first bad commit, in order of history.
    pub culprits: Vec<FirstBad>,
    /// Commits that may be the first bad one, the most likely first.
    pub candidates: Vec<CommitId>,
    /// How much of the main metric's total change the confirmed commits explain.
    pub account: Option<AccountLine>,
    /// The same for each targeted metric.
    pub accounts: Vec<AccountLine>,
    /// Ranges that add up to the total change, if it comes from many small steps.
    pub contributions: Vec<Rise>,
    /// Guarded metrics of a `[matrix]`: the levels of each cell and the commits that changed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<MatrixLine>,
    /// Every guard; those with `target` decide verdicts.
    pub guards: Vec<GuardLine>,
    /// The failure that the hunt looks for; `None` if it looks for a change of a metric.
    pub target_failure: Option<TargetFailure>,
    /// The search method, which depends on how much the endpoints' values vary.
    pub steadiness: Option<SearchMethod>,
    /// The ranges of history that were searched.
    pub searches: Vec<SearchLine>,
    /// The last posterior of each search that computed one.
    #[serde(default)]
    pub posterior: Vec<PosteriorLine>,
    /// Every commit that was built, run or judged, in order of history.
    pub commits: Vec<MeasuredCommit>,
    /// The output of failed builds and runs: of the first bad commit, or else of the endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedLine>,
    /// Metrics that one run prints several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<RepeatLine>,
    /// The computers that made the runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostLine>,
    /// The nodes that only build; empty if commits are built where they run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub build_nodes: Vec<BuildNodeLine>,
    /// Exclusive measures, and the state of the machine around their runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed: Vec<TimedLine>,
    /// The commits that change nothing that the endpoints' builds read, and were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Unread>,
    /// The expected cost, estimated before the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The actual cost.
    pub totals: Totals,
    /// What was measured ahead in other slots; `None` with one slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Ahead>,
    /// Further remarks for the reader.
    pub notes: Vec<String>,
    /// What the user can try next, one sentence each. The lines below a sentence, if there are any,
    /// are lines for `oracle.toml`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// What the confirmed commits do not explain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Unexplained>,
    /// Without `culprit`: the confirmed steps that may explain the newer end, and the measured
    /// improvements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_steps: Vec<OpenStep>,
    /// Confirmed steps that later commits undid. Their commits are not among `culprits`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone_steps: Vec<UndoneStep>,
    /// The limit that ended the hunt early, if one did. `resume` continues the hunt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<ReachedLimit>,
    /// The inputs of the runs.
    pub inputs: BTreeMap<String, InputFile>,
    /// The environment, as output by command: the configured probes, compiler versions such as `cc
    /// --version`, and `printenv NAME` for each relevant inherited variable.
    pub environment: BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
    /// The commands that ran.
    pub commands: Commands,
    /// Options of the command line.
    pub options: Options,
    /// Number of commits that could be the first bad one at the start.
    pub range: usize,
    /// When the hunt began (RFC 3339, UTC).
    pub began: String,
    /// Git's version.
    pub git: String,
    /// Digest of the frozen configuration.
    pub config_sha256: String,
    /// Top of the checkout in which the hunt was started.
    pub checkout: Option<String>,
    /// What `verify` needs to measure the first bad commits again; `None` in reports of older
    /// versions, and if the frozen configuration was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck: Option<Recheck>,
    /// The commits after the older endpoint up to the newer one, oldest first; empty if the hunt
    /// stored none. This field and those below are not in `report.json`: the repository or the
    /// hunt's folder has the same data.
    #[serde(skip)]
    pub history: Vec<Lineage>,
    /// Whether a process drives the hunt right now.
    #[serde(skip)]
    pub is_running: bool,
    /// Whether the hunt's folder is a temporary copy, unpacked from a bundle.
    #[serde(skip)]
    pub is_unpacked: bool,
    /// Time of the journal's last event (RFC 3339, UTC).
    #[serde(skip)]
    pub until: String,
    /// The commits that the searches judged, in order.
    #[serde(skip)]
    pub steps: Vec<StepLine>,
    /// The candidates whose changes are stored, the most likely first.
    #[serde(skip)]
    pub candidate_changes: Vec<CandidateLine>,
    /// The folder of the build slots.
    #[serde(skip)]
    pub slots: String,
    /// Where people read the commits in a browser, if known.
    #[serde(skip)]
    pub forge: Option<Forge>,
    /// The hunt's folder. Log paths are relative to it. Not in `report.json`: the folder may be
    /// moved.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Report {
    /// The candidates that are not confirmed; the confirmed ones have a list of their own.
    pub(crate) fn unconfirmed(&self) -> Vec<&CommitId> {
        let is_confirmed =
            |commit: &CommitId| self.culprits.iter().any(|one| one.commit == *commit);
        self.candidates.iter().filter(|commit| !is_confirmed(commit)).collect()
    }

    /// The subject of a commit; empty if unknown.
    pub(super) fn subject(&self, commit: &CommitId) -> &str {
        let measured = self.commits.iter().filter(|measured| measured.commit == *commit);
        let candidates = self.candidate_changes.iter().map(|line| &line.info);
        let candidate = candidates.filter(|info| info.commit == *commit).map(|info| &info.subject);
        let known = measured.filter_map(|measured| measured.subject.as_ref()).chain(candidate);
        known.map(String::as_str).find(|subject| !subject.is_empty()).unwrap_or_default()
    }

    /// The newer end of the range.
    pub(crate) fn newest(&self) -> &CommitId {
        &self.ends()[1].commit
    }
}

/// An end of the range.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    /// The commit.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
    /// The revision as the user typed it.
    pub asked: String,
}

/// The commands that ran, placeholders filled in, one word per entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Commands {
    /// The build commands, at the last commit built.
    pub build: Vec<Vec<String>>,
    /// Each measure's command, at the last commit it ran at.
    pub measures: BTreeMap<String, Vec<String>>,
}
