//! The events of a hunt's journal.

mod begun;
mod done;
mod searches;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    Checks, CommitId, Culprit, Finding, GitFolderChange, Guard, LevelResult, Limits, Neighbours,
    Phase, PutBack, SweptCell, Target, TensorChange, Trial, Value,
};

use crate::store::RecordedFault;

pub(crate) use begun::{Begun, BuildNode, InputFile, Machine, Options};
pub(crate) use done::{AheadDone, BuildDone, Judged, RunDone};
pub(crate) use searches::{
    CommitPosterior, HuntPart, Plan, PlanAhead, PlanPart, PosteriorSnapshot, SearchBy, SearchEnd,
    SearchMethod,
};

/// One event of a hunt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The hunt begins: its request and its environment. If the environment has changed, `resume`
    /// writes a second such event, which replaces the first.
    Begun(Box<Begun>),
    /// A driver resumes the hunt after an interruption, or after a limit ended it.
    Resumed {
        /// The limits that `resume` got. `None`: the earlier limits hold, unless one of them was
        /// reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<Limits>,
        /// When the process that drives the hunt took the hunt's lock (RFC 3339, UTC). A driver
        /// that goes on after a pause, or with another job, is still the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        driver_since: Option<String>,
    },
    /// A build was made, or its failure was taken from the store.
    Build(BuildDone),
    /// A run was made, or its result was taken from the store.
    Run(RunDone),
    /// A commit was judged.
    Judged(Judged),
    /// The endpoints are measured and the search is planned.
    Targets {
        /// What the hunt looks for.
        targets: Vec<Target>,
        /// The search method, chosen from the noise at the endpoints and the options.
        steadiness: SearchMethod,
        /// Guards that this hunt does not search for.
        others: Vec<OtherGuard>,
    },
    /// The user was asked whether to hunt for the bad endpoint's failure.
    FailureHunt {
        /// The answer.
        is_allowed: bool,
    },
    /// The hunt looked for commits that change nothing that the endpoints' builds read.
    Unread(Unread),
    /// The expected cost of the search, estimated from the endpoints.
    Plan(Plan),
    /// A search over a range of commits: first the whole range, then the parts that still hold an
    /// unexplained difference.
    Search {
        /// Number of the search, from 0.
        #[serde(rename = "stretch")]
        search_number: usize,
        /// The good end of the range.
        good: CommitId,
        /// The bad end of the range.
        bad: CommitId,
        /// How many commits may be the first bad one.
        commits: usize,
        /// The targets with the baseline of this search.
        targets: Vec<Target>,
        /// Pathspecs that limit the range.
        paths: Vec<String>,
        /// The search method. Old journals lack it: the one in `Targets` then holds.
        #[serde(default)]
        method: Option<SearchMethod>,
        /// How many chunks of the text each run reads; `None` means all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chunks: Option<u32>,
        /// Every build is clean, whatever the configuration says: incremental builds gave other
        /// results than clean ones.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        clean: bool,
    },
    /// The search ended with one commit or several candidates.
    SearchEnd {
        /// Number of the search.
        #[serde(rename = "stretch")]
        search_number: usize,
        /// Its result.
        end: SearchEnd,
    },
    /// A first bad commit was confirmed against its parents.
    Confirmed(Box<Culprit>),
    /// State of a posterior search, written whenever it can name a commit, and at its end.
    Weighed(Box<PosteriorSnapshot>),
    /// The confirmation rejected a commit that a search had named.
    Contradicted {
        /// The rejected commit.
        commit: CommitId,
        /// The reason, in a sentence.
        reason: String,
    },
    /// In noise, neighbours of a found commit are measured, each until it tells.
    Neighbours {
        /// The found commit, or its parent if the commits before the parent are measured.
        of: CommitId,
        /// Which neighbours.
        side: Neighbours,
        /// The maximum number of commits.
        most: usize,
    },
    /// A neighbour of a found commit was measured.
    Neighbour {
        /// The neighbour.
        commit: CommitId,
        /// The first line of its message.
        subject: String,
        /// The commit that it was compared with.
        of: CommitId,
        /// On which side of that commit it is.
        side: Neighbours,
    },
    /// The search for the cause inside the first bad commit begins.
    Localizing {
        /// The commit.
        commit: CommitId,
        /// How many files it changes.
        files: usize,
    },
    /// In noise, the bad end is built and run without the changes of named commits, to see whether
    /// it needs them, or whether it is good without them.
    EndWithout {
        /// These commits.
        commits: Vec<CommitId>,
    },
    /// Part of the first bad commit's change was tested.
    Trial(Box<Trial>),
    /// A level of the engine was checked at the first bad commit and its parent.
    Level(Box<LevelResult>),
    /// The first bad commit is compared with its parent in the cells of a sweep.
    Sweeping {
        /// The commit.
        commit: CommitId,
        /// How many cells the grids have.
        cells: usize,
    },
    /// A cell of the sweep was judged.
    Swept(Box<SweptCell>),
    /// The tensors of the first bad commit were compared with its parent's.
    Tensors(Box<TensorChange>),
    /// The home folder changes results. From now on every build and run gets an empty home folder,
    /// or every one gets the user's. The last such event counts.
    Home {
        /// Whether it is empty.
        empty: bool,
    },
    /// Runs of one commit differ with one and the same home folder, so other values with an empty
    /// one do not show that the home folder matters. From now on it is used as configured.
    HomeChecked,
    /// Files changed in the git folder that all worktrees share, during a build or run. Usually only
    /// the first change of a hunt is recorded.
    GitFolder(GitFolderChange),
    /// A run opened files that git tracks, that its build wrote, and that were put back after the
    /// build. Only the first such run of a hunt is recorded.
    PutBack(PutBack),
    /// The direct mode of a compiler cache gave builds of the search objects of other commits. From
    /// now on no build uses it, and the hunt begins again.
    NoDirectMode,
    /// The machine changed. Runs from before no longer count, and the hunt begins again.
    MachineChanged {
        /// The measures that show it. Their runs of other hunts do not count either.
        measures: Vec<String>,
        /// The runs from before.
        attempts: Vec<String>,
    },
    /// Checks of a suite pass or fail by chance. From now on they are left out of the counts, and the
    /// hunt begins again. Verdicts from before no longer count, but runs do.
    ChecksLeftOut {
        /// The suite.
        measure: String,
        /// The checks.
        checks: Checks,
    },
    /// At both endpoints, the first run of a build is slower or faster than the later ones. From
    /// now on each build first gets a run that does not count.
    WarmsUp {
        /// The measure. Its runs of other hunts do not count.
        measure: String,
        /// The first runs of the endpoints' builds, which no longer count.
        attempts: Vec<String>,
    },
    /// The slots give different values, and the hunt begins again with one slot.
    OneSlot {
        /// The runs in the other slots, which no longer count.
        attempts: Vec<String>,
    },
    /// A node of the cluster gives the good endpoint another level than the nodes before it. No
    /// further job runs there.
    NodeSetAside {
        /// The node.
        node: String,
        /// The difference, in a sentence.
        why: String,
        /// Runs on the node, which do not count.
        attempts: Vec<String>,
    },
    /// The confirmation of a commit takes place in the next job, on another node of the cluster.
    ConfirmsElsewhere {
        /// The commit.
        commit: CommitId,
        /// The node of this job. The next job must run on another node.
        node: String,
    },
    /// A worker that measured a commit ahead has ended.
    Ahead(AheadDone),
    /// The search took over what a worker had measured.
    TookOver {
        /// The commit.
        commit: CommitId,
        /// What it was measured for.
        phase: Phase,
        /// Seconds for which the search waited for the worker.
        waited_s: f64,
    },
    /// Something a reader should know.
    Note {
        /// The note, in a sentence.
        text: String,
    },
    /// The hunt was stopped and can be resumed.
    Stopped {
        /// True if a tool or the disk failed; false if a person stopped the hunt.
        world: bool,
        /// Why.
        #[serde(flatten)]
        fault: RecordedFault,
    },
    /// The hunt ended with a result.
    Ended {
        /// The result.
        finding: Box<Finding>,
        /// The judged commits in history order, oldest first.
        order: Vec<CommitId>,
    },
}

/// The commits that the search leaves out because they change nothing that the endpoints' builds
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unread {
    /// How many commits are left out.
    pub left_out: usize,
    /// How many commits could be the first bad one before.
    pub commits: usize,
    /// Files and folders that neither build read, from the top of the tree: the commits that change
    /// nothing else are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Why no commit is left out, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// A guard that the bad endpoint does not break, or does not break for certain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OtherGuard {
    /// The guard.
    pub guard: Guard,
    /// The level at the good end, if it was measured.
    pub baseline: Option<Value>,
    /// The level at the bad end, if it was measured.
    pub bad: Option<Value>,
    /// Why the hunt does not search for it, in a sentence.
    pub why: String,
}
