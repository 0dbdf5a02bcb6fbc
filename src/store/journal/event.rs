//! What can happen in a hunt.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    Aim, Apart, Around, CommitId, CommitInfo, Culprit, Extent, Failure, Finding, Guard, Judgement,
    Metric, Noise, Phase, Surroundings, Target, Value, Within,
};
use crate::store::CompilerCache;

/// One event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The hunt begins; everything it was asked and what it runs on.
    Begun(Box<Begun>),
    /// A driver took it up again after an interruption.
    Resumed,
    /// A build was made, or found failed in the store.
    Build(BuildDone),
    /// A run was made, or taken from the store.
    Run(RunDone),
    /// A commit was judged.
    Judged(Judged),
    /// The endpoints are measured and the search is planned.
    Targets {
        /// What is hunted.
        targets: Vec<Target>,
        /// Whether the endpoints' values repeated bit for bit.
        steadiness: Steadiness,
        /// Guards that decide nothing here.
        others: Vec<OtherGuard>,
    },
    /// What the search is expected to take, from what the endpoints took.
    Plan(Plan),
    /// A stretch of history is searched: the whole range first, then what the account leaves.
    Search {
        /// Counts from 0.
        stretch: usize,
        /// Its good end.
        good: CommitId,
        /// Its bad end.
        bad: CommitId,
        /// How many commits may be the first bad one.
        commits: usize,
        /// The targets with the baseline of this stretch.
        targets: Vec<Target>,
        /// Pathspecs that limit it.
        paths: Vec<String>,
        /// How; as the targets say where it is not told.
        #[serde(default)]
        method: Option<Steadiness>,
        /// How many chunks of the text it reads, where that is not all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chunks: Option<u32>,
        /// Every build is clean, whatever the configuration says, since builds on top of others
        /// said something else.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        clean: bool,
    },
    /// Git has named a commit, or several.
    SearchEnd {
        /// Which stretch.
        stretch: usize,
        /// What it says.
        end: SearchEnd,
    },
    /// A first bad commit was confirmed against its parents.
    Confirmed(Box<Culprit>),
    /// What a search in noise believes, whenever it has something to claim, and at its end.
    Weighed(Box<Weighed>),
    /// A claim did not survive its confirmation.
    Contradicted {
        /// The commit.
        commit: CommitId,
        /// Why.
        reason: String,
    },
    /// Something a reader should know.
    Note {
        /// The sentence.
        text: String,
    },
    /// The hunt was stopped and can be resumed.
    Stopped {
        /// Why.
        reason: String,
        /// The world's fault (a tool, the disk), not a person's wish.
        world: bool,
    },
    /// The answer.
    Ended {
        /// It.
        finding: Box<Finding>,
        /// The judged commits in order of history, oldest first.
        order: Vec<CommitId>,
    },
}

/// What a search is expected to take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How many commits may be the first bad one.
    pub commits: usize,
    /// Steps of the search: halvings until one commit is left.
    pub steps: usize,
    /// Builds, the confirmation's included; 0 where nothing had to be built.
    pub builds: usize,
    /// Runs, the confirmation's included.
    pub runs: usize,
    /// Seconds, for all of them.
    pub seconds: f64,
}

/// A guard that the bad endpoint does not break, or not for sure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherGuard {
    /// The guard.
    pub guard: Guard,
    /// The level at the good end, where it was measured.
    pub baseline: Option<Value>,
    /// The level at the bad end, where it was measured.
    pub bad: Option<Value>,
    /// Why it decides nothing, in a sentence.
    pub why: String,
}

/// What a hunt was asked and what it runs on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begun {
    /// The hunt's name.
    pub hunt: String,
    /// `bisect-ppl` and its version.
    pub tool: String,
    /// The good endpoint.
    pub good: CommitInfo,
    /// The bad endpoint.
    pub bad: CommitInfo,
    /// What was typed for them.
    pub asked: (String, String),
    /// The revisions that the configuration names, as they were.
    #[serde(default)]
    pub revisions: BTreeMap<String, CommitId>,
    /// The patches that it names: digests of their content, which the store has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, String>,
    /// The engine's commit that is built, where the hunt is inside a dependency of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// How many commits may be the first bad one.
    pub commits: usize,
    /// Options of the command line.
    pub options: Options,
    /// Digest of the frozen configuration.
    pub config_sha256: String,
    /// The folder that relative paths in it start from.
    pub base: String,
    /// Where slots lie.
    pub slots: String,
    /// The inputs.
    pub inputs: BTreeMap<String, InputFile>,
    /// `[environment] probe`: command → output.
    pub environment: BTreeMap<String, String>,
    /// What commands inherit: variables, and compilers in PATH.
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
    /// The older and the newer end.
    pub fn ends(&self) -> [&CommitId; 2] {
        self.options.aim.turned([&self.good.commit, &self.bad.commit])
    }
}

/// Options of `start`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Whether the commit that broke something is sought, or the one that mended it.
    #[serde(default, skip_serializing_if = "Aim::is_regression")]
    pub aim: Aim,
    /// Who chooses the commits.
    #[serde(default)]
    pub search: SearchBy,
    /// The metric whose repeats are to be bit-identical, where that is hunted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_of: Option<Metric>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// End at the first culprit, whatever the account says.
    pub first_only: bool,
    /// Commits not to be tested.
    pub skip: Vec<CommitId>,
    /// Pathspecs after `--`.
    pub paths: Vec<String>,
}

/// An input of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The path as resolved (the first, where it is a pattern).
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// The machine that runs things.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processor model.
    pub cpu: String,
    /// Logical cores.
    pub cores: usize,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// GPUs with their driver, as the machine names them.
    pub gpus: Vec<String>,
    /// Kernel and its release.
    pub kernel: String,
    /// Digest of what makes two machines the same class: model and flags of the processor,
    /// GPU, driver. Samples of different classes are never compared.
    pub class: String,
}

/// A build.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BuildDone {
    /// The commit.
    pub commit: CommitId,
    /// Its attempt in the store.
    pub attempt: String,
    /// Its key.
    pub build_key: String,
    /// What for.
    pub phase: Phase,
    /// Seconds, checkout included.
    pub wall_s: f64,
    /// The log, relative to the hunt.
    pub log: String,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// Known from the store; nothing was built.
    pub reused: bool,
    /// The commands, a word an entry.
    pub commands: Vec<Vec<String>>,
    /// The `[[prepare]]` that was made with a build, where it is no build itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// What a compiler cache answered, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunDone {
    /// The commit.
    pub commit: CommitId,
    /// The measure.
    pub measure: String,
    /// Its attempt in the store.
    pub attempt: String,
    /// Its key in the store.
    pub run_key: String,
    /// Why it ran, now.
    pub phase: Phase,
    /// Seconds.
    pub wall_s: f64,
    /// The log, relative to the hunt.
    pub log: String,
    /// What was read from it (`wall_s` and `peak_rss_mib` included).
    pub values: BTreeMap<Metric, Value>,
    /// How it failed, if it did.
    pub failure: Option<Failure>,
    /// Taken from the store; nothing ran.
    pub reused: bool,
    /// The command, a word an entry.
    pub argv: Vec<String>,
    /// How much text it read, where its output says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Extent>,
    /// What one launch said of a metric that it said several times.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// Why it counts for nothing, where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
    /// What the machine was like around it, where it was alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Box<Around>>,
}

/// A verdict with the runs it was derived from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The commit.
    pub commit: CommitId,
    /// First line of its message; lossy, as written.
    pub subject: String,
    /// The verdict and why.
    pub judgement: Judgement,
    /// Which stretch of history it was judged in.
    pub stretch: usize,
    /// What for.
    pub phase: Phase,
    /// The attempts it rests on.
    pub attempts: Vec<String>,
    /// Commits and steps git thinks are left.
    pub left: Option<(usize, usize)>,
}

/// Whether values repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// Bit for bit: one run a commit is enough, or as many as until one repeats.
    BitIdentical,
    /// They vary, but the endpoints lie well apart: runs until a sequential test settles the
    /// commit by itself.
    #[serde(alias = "apart")]
    Sequential,
    /// They vary too much for that: a posterior over the commits says what to measure.
    Posterior,
}

/// Who chooses which commits are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchBy {
    /// The noise decides.
    #[default]
    Auto,
    /// Git, whatever the noise.
    GitBisect,
    /// The posterior, whatever the noise.
    Posterior,
}

/// What a search in noise believes of the commits, from all samples up to here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    /// Which stretch of history.
    pub stretch: usize,
    /// What was measured.
    pub metric: Metric,
    /// Levels and noise as they are known now.
    pub noise: Noise,
    /// Runs that went into it, those of the ends included.
    pub runs: usize,
    /// The commits in question and those that were measured, oldest first; the others are
    /// beyond doubt.
    pub commits: Vec<WeighedCommit>,
    /// The smallest set of commits that holds 95 % of it, the likeliest first.
    pub smallest_set: Vec<CommitId>,
}

/// What a search in noise believes of one commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeighedCommit {
    /// The commit.
    pub commit: CommitId,
    /// The probability that it is the first bad one.
    pub first: f64,
    /// The probability that it is bad.
    pub bad: f64,
    /// How many samples it has.
    pub samples: usize,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// One commit.
    FirstBad(CommitId),
    /// One of several, the rest being untestable.
    Candidates(Vec<CommitId>),
}
