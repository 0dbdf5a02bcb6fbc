//! The events of a hunt's journal.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    Aim, CommitId, CommitInfo, Culprit, DependencyHunt, ExclusionReason, Failure, Finding, Guard,
    Judgement, LevelResult, Limits, MachineStates, Metric, Noise, OptionChange, Phase,
    Surroundings, SweptCell, Target, TensorChange, TextLength, Trial, Value,
};
use crate::store::CompilerCache;

/// One event of a hunt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The hunt begins: its request and its environment. A second one, from `resume`, replaces the
    /// first because the environment has changed.
    Begun(Box<Begun>),
    /// A driver resumes the hunt after an interruption, or after a limit ended it.
    Resumed {
        /// The limits that `resume` got. `None`: the earlier limits hold, unless one of them was
        /// reached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<Limits>,
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
    /// The commits that change nothing that the endpoints' builds read were looked for.
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
    /// The search for the cause inside the first bad commit begins.
    Localizing {
        /// The commit.
        commit: CommitId,
        /// How many files it changes.
        files: usize,
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
    /// The home folder matters. From now on every build and run has an empty one, or every one has
    /// the user's; the last such event counts.
    Home {
        /// Whether it is empty.
        empty: bool,
    },
    /// The machine changed. Runs from before no longer count, and the hunt begins again.
    MachineChanged {
        /// The measures that show it. Their runs of other hunts do not count either.
        measures: Vec<String>,
        /// The runs from before.
        attempts: Vec<String>,
    },
    /// Something a reader should know.
    Note {
        /// The note, in a sentence.
        text: String,
    },
    /// The hunt was stopped and can be resumed.
    Stopped {
        /// The reason, in a sentence.
        reason: String,
        /// True if a tool or the disk failed; false if a person stopped the hunt.
        world: bool,
        /// What the user can do, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// Whether the fault may pass by itself, so that another try may work.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_pass: bool,
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

/// The expected cost of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Both endpoints' results came from the store, so those of other commits may come from it
    /// too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stored: bool,
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

/// A hunt's request and its environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The hunt's name.
    pub hunt: String,
    /// `bisect-ppl` and its version.
    pub tool: String,
    /// The good endpoint.
    pub good: CommitInfo,
    /// The bad endpoint.
    pub bad: CommitInfo,
    /// The good and the bad revision as the user typed them.
    pub asked: (String, String),
    /// Revisions named in the configuration, with the commits they named at the start.
    #[serde(default)]
    pub revisions: BTreeMap<String, CommitId>,
    /// Patches named in the configuration, with the SHA-256 of their content; the store keeps the
    /// content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, String>,
    /// The engine's commit to build, if this hunt searches inside one of its dependencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<DependencyHunt>,
    /// How many commits may be the first bad one.
    pub commits: usize,
    /// Options from the command line.
    pub options: Options,
    /// Digest of the frozen configuration.
    pub config_sha256: String,
    /// The folder that relative paths in the configuration start from.
    pub base: String,
    /// The folder that holds the slots.
    pub slots: String,
    /// The input files by name.
    pub inputs: BTreeMap<String, InputFile>,
    /// Digests of what `[worktree] link` links in, by name. Old journals lack them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// `[environment] probe`: command → output.
    pub environment: BTreeMap<String, String>,
    /// The environment that commands inherit: variables, and the compilers in PATH.
    #[serde(default)]
    pub surroundings: Surroundings,
    /// The machine.
    pub machine: Machine,
    /// Top of the checkout the hunt was started from; `None` in a bare repository.
    pub checkout: Option<String>,
    /// Git's version.
    pub git: String,
}

impl Begun {
    /// The older and the newer endpoint, in this order.
    pub(crate) fn ends(&self) -> [&CommitId; 2] {
        self.options.aim.swap_if_fix([&self.good.commit, &self.bad.commit])
    }
}

/// Options of `start`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub(crate) struct Options {
    /// Whether the hunt looks for the commit that broke something or the one that fixed it.
    #[serde(default, skip_serializing_if = "Aim::is_regression")]
    pub aim: Aim,
    /// Who chooses the next commit.
    #[serde(default)]
    pub search: SearchBy,
    /// Set if the hunt looks for a change of reproducibility: the metric whose repeats should be
    /// bit-identical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_of: Option<Metric>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// End at the first confirmed commit, even if part of the difference stays unexplained.
    pub first_only: bool,
    /// Look for the cause inside the first bad commit. Old journals lack it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub localize: bool,
    /// Hunt for a failure of the bad end without a question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_failure_hunt: bool,
    /// Commits to skip.
    pub skip: Vec<CommitId>,
    /// Pathspecs after `--`.
    pub paths: Vec<String>,
    /// Stored failures of other hunts do not count: their builds and runs are made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_failed: bool,
    /// The limits from the command line.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// What `--set` and `--arg` changed in the configuration. The frozen configuration has these
    /// changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<OptionChange>,
}

/// An input file of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputFile {
    /// The resolved path; the first match of a pattern.
    pub path: String,
    /// SHA-256 of the content.
    pub sha256: String,
}

/// The machine that builds and runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Processor model.
    pub cpu: String,
    /// Logical cores.
    pub cores: usize,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// GPUs and driver, as the machine reports them.
    pub gpus: Vec<String>,
    /// Kernel and its release.
    pub kernel: String,
    /// Digest of the processor's model and flags, the GPU, and the driver. Samples of different
    /// classes are never compared.
    pub class: String,
}

/// A build, as the journal records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BuildDone {
    /// The commit.
    pub commit: CommitId,
    /// Name of the attempt in the store.
    pub attempt: String,
    /// The build key.
    pub build_key: String,
    /// The purpose of the build.
    pub phase: Phase,
    /// Wall-clock seconds, checkout included.
    pub wall_s: f64,
    /// Path of the log, relative to the hunt's folder.
    pub log: String,
    /// The failure, if the build failed.
    pub failure: Option<Failure>,
    /// The result came from the store; nothing was built.
    pub reused: bool,
    /// When a result from the store was made (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
    /// The commands, one list of words each.
    pub commands: Vec<Vec<String>>,
    /// Name of the `[[prepare]]` step, if this event records such a step and not a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Hits and misses of the compiler cache, if one was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
}

/// A run, as the journal records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunDone {
    /// The commit.
    pub commit: CommitId,
    /// Name of the measure.
    pub measure: String,
    /// Name of the attempt in the store.
    pub attempt: String,
    /// The run key.
    pub run_key: String,
    /// What the hunt uses this run for.
    pub phase: Phase,
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Path of the log, relative to the hunt's folder.
    pub log: String,
    /// The values read from the log, with `wall_s` and `peak_rss_mib`.
    pub values: BTreeMap<Metric, Value>,
    /// The failure, if the run failed.
    pub failure: Option<Failure>,
    /// The result came from the store; nothing ran.
    pub reused: bool,
    /// When a result from the store was made: the start of that run (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
    /// The command, as a list of words.
    pub argv: Vec<String>,
    /// How much text the run read, if its output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextLength>,
    /// All values of each metric that the run printed several times.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// Set if the run is excluded: the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<ExclusionReason>,
    /// State of the machine before and after an exclusive run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<MachineStates>>,
}

/// A verdict on a commit and the runs behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// The commit.
    pub commit: CommitId,
    /// First paragraph of the commit message on one line; bytes that are not UTF-8 are replaced.
    pub subject: String,
    /// The verdict and the reason.
    pub judgement: Judgement,
    /// Number of the search.
    #[serde(rename = "stretch")]
    pub search_number: usize,
    /// The purpose of the runs.
    pub phase: Phase,
    /// Names of the attempts behind the verdict.
    pub attempts: Vec<String>,
    /// Commits and steps left, by git's estimate.
    pub left: Option<(usize, usize)>,
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
    /// The first bad commit is one of these; the others could not be tested.
    Candidates(Vec<CommitId>),
}
