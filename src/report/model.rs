//! The data of a report. The fields that serde does not skip are the format of `report.json`,
//! which other programs read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    Around, Basis, CommitId, Dependency, Differences, ExclusionReason, Failure, Lineage, Metric,
    Outcome, OverText, Phase, Ran, SkipReason, TouchedFile, Value, Verdict, Within,
};
use crate::store::CompilerCache;
use crate::store::journal::{InputFile, Machine, Options, Plan, SearchMethod};

use super::inside::InsideLine;
use super::matrix::MatrixLine;
use super::posterior::{NoiseLine, PosteriorLine};
use super::repeats::RepeatLine;
use super::timed::TimedLine;

/// The format of `report.json`.
pub const SCHEMA: &str = "bisect-ppl/report/1";

/// A finished or interrupted hunt, as its journal tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
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
    pub within: Option<Within>,
    /// The first bad commit with the largest step; `None` if the hunt names none.
    pub culprit: Option<FirstBad>,
    /// All real parents of `culprit`.
    pub parents: Vec<CommitId>,
    /// Every confirmed first bad commit, in order of history.
    pub culprits: Vec<FirstBad>,
    /// Commits that may be the first bad one, the likeliest first.
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
    /// Metrics that one run prints several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<RepeatLine>,
    /// Exclusive measures, and the state of the machine around their runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed: Vec<TimedLine>,
    /// The expected cost, estimated before the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The actual cost.
    pub totals: Totals,
    /// Further remarks for the reader.
    pub notes: Vec<String>,
    /// The inputs of the runs.
    pub inputs: BTreeMap<String, InputFile>,
    /// The environment, as output by command: the configured probes, compiler versions such as
    /// `cc --version`, and `printenv NAME` for each inherited variable that counts.
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
    /// Top of the checkout the hunt was started from.
    pub checkout: Option<String>,
    /// The commits after the older endpoint up to the newer one, oldest first; empty if the hunt
    /// kept none. This field and those below are not in `report.json`: the repository or the
    /// hunt's folder has the same data.
    #[serde(skip)]
    pub history: Vec<Lineage>,
    /// Whether a process drives the hunt right now.
    #[serde(skip)]
    pub is_running: bool,
    /// Time of the journal's last event (RFC 3339, UTC).
    #[serde(skip)]
    pub until: String,
    /// The commits that the searches judged, in order.
    #[serde(skip)]
    pub steps: Vec<StepLine>,
    /// The folder of the build slots.
    #[serde(skip)]
    pub slots: String,
    /// The hunt's folder. Log paths are relative to it. Not in `report.json`: the folder may be
    /// moved.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// An end of the range.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
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

/// A confirmed first bad commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstBad {
    /// The commit.
    pub commit: CommitId,
    /// The worst parent; the step is measured against it.
    pub parent: CommitId,
    /// All its real parents.
    pub parents: Vec<CommitId>,
    /// First line of the commit message, lossy if not UTF-8.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
    /// Confidence in the answer, below 1.
    pub confidence: f64,
    /// What the confidence rests on.
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
    /// Results of the hunts inside those dependencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<InsideLine>,
    /// How the files that its runs loaded differ from those of its parent's runs, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
    /// Other differences between its build and its parent's, if they were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Date and hunt of an earlier confirmation, if this hunt reuses it.
    pub confirmed_before: Option<(String, String)>,
}

/// An [`Effect`](crate::evaluation::Effect) whose numbers may be NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectLine {
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
    pub over_text: Option<OverText>,
}

/// An [`Account`](crate::evaluation::Account) whose numbers may be NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountLine {
    /// The metric.
    pub metric: Metric,
    /// How much worse the bad endpoint is than the good one.
    pub total: Value,
    /// The sum of the confirmed commits' steps.
    pub explained: Value,
    /// `total` minus `explained`.
    pub rest: Value,
    /// The guard's tolerance, in the metric's unit.
    pub limit: Value,
}

/// A [`Contribution`](crate::evaluation::Contribution) whose numbers may be NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rise {
    /// The last commit before the range.
    pub from: CommitId,
    /// The last commit of the range.
    pub to: CommitId,
    /// Number of commits in the range.
    pub commits: usize,
    /// How much worse the metric gets over the range.
    pub rise: Value,
    /// The metric.
    pub metric: Metric,
}

/// A guard and its values at the endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardLine {
    /// The metric.
    pub metric: Metric,
    /// The guard's form, by its key in oracle.toml (`max_increase`); `None` if the journal lacks
    /// the form.
    pub form: Option<String>,
    /// The configured amount, in the form's unit.
    pub amount: Option<Value>,
    /// The tolerance, in the metric's unit.
    pub limit: Option<Value>,
    /// The level at the good endpoint.
    pub baseline: Option<Value>,
    /// The level at the bad endpoint.
    pub bad: Option<Value>,
    /// The value between good and bad; `None` if values repeat bit for bit.
    pub threshold: Option<Value>,
    /// Levels and noise of the endpoints' runs; `None` if values repeat bit for bit.
    #[serde(default)]
    pub noise: Option<NoiseLine>,
    /// Whether the guard decides verdicts.
    pub target: bool,
    /// Why the guard is a target, or why not.
    pub why: String,
}

/// The failure that a hunt looks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetFailure {
    /// The measure that fails; `None` if the build fails.
    pub measure: Option<String>,
    /// The failure.
    pub failure: Failure,
}

/// A range of history that was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchLine {
    /// Number of the search, from 0.
    #[serde(rename = "stretch")]
    pub search_number: usize,
    /// The good end of the range.
    pub good: CommitId,
    /// The bad end of the range.
    pub bad: CommitId,
    /// How many commits could be the first bad one.
    pub commits: usize,
    /// Pathspecs that limit the search.
    pub paths: Vec<String>,
    /// How many chunks of the text each run reads, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// The search method; if `None`, [`Report::steadiness`] holds.
    #[serde(default)]
    pub method: Option<SearchMethod>,
    /// The commit that the search claims as the first bad one.
    #[serde(default)]
    pub named: Option<CommitId>,
}

/// A commit that a search judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// Number of the search.
    pub search_number: usize,
    /// The commit.
    pub commit: CommitId,
    /// The commit's verdict.
    pub verdict: Verdict,
    /// How many commits are left to test after this step; `None` if the store had the answer and
    /// git did not ask.
    pub left: Option<usize>,
}

/// A commit that was built, run or judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredCommit {
    /// The commit.
    pub commit: CommitId,
    /// First line of its message, where the journal has it.
    pub subject: Option<String>,
    /// The commit's last verdict in the first search that judged it. That search compares with
    /// the hunt's own baseline; a later search has another one.
    pub verdict: Verdict,
    /// The reason for the verdict, in one sentence.
    pub reason: String,
    /// Why the commit was skipped, if it was.
    pub skip: Option<SkipReason>,
    /// The targets that the commit breaks.
    pub broken: Vec<Metric>,
    /// The probability that the commit is bad, from the first search that computed one.
    pub p_bad: Option<f64>,
    /// Each value of each run that counts.
    pub samples: Vec<SampleLine>,
    /// Excluded runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<ApartLine>,
    /// Its builds.
    pub builds: Vec<BuildLine>,
    /// All runs. Not in `report.json`: each log begins with its command.
    #[serde(skip)]
    pub runs: Vec<RunLine>,
}

/// One value of one run, or a run's failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleLine {
    /// The metric. A failure without a value has the measure's main metric.
    pub metric: Metric,
    /// The value; `None` for a failure without one.
    pub value: Option<Value>,
    /// The run's log, relative to the hunt.
    pub log: String,
    /// Why the run was made.
    pub phase: Phase,
    /// Whether this is a cache hit: nothing ran.
    pub reused: bool,
    /// Id of the run.
    pub attempt: String,
    /// How the run failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How many chunks the run read, if not as many as the endpoints' runs. The values are then
    /// not comparable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
}

/// An excluded run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApartLine {
    /// The measure.
    pub measure: String,
    /// The reason.
    pub why: ExclusionReason,
    /// The run's log, relative to the hunt.
    pub log: String,
    /// Why the run was made.
    pub phase: Phase,
    /// Whether this is a cache hit: nothing ran.
    pub reused: bool,
    /// Id of the run.
    pub attempt: String,
}

/// One build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildLine {
    /// Id of the build.
    pub attempt: String,
    /// The build's log, relative to the hunt.
    pub log: String,
    /// Why the build was made.
    pub phase: Phase,
    /// Whether this is a cache hit: nothing was built.
    pub reused: bool,
    /// Duration in seconds.
    pub wall_s: f64,
    /// How the build failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Name of the prepare step, if this is one and not a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Hits and misses of the compiler cache, if the build used one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
    /// The commands, one word per entry. Not in `report.json`.
    #[serde(skip)]
    pub commands: Vec<Vec<String>>,
}

/// One run, whatever its result.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLine {
    /// The measure.
    pub measure: String,
    /// Id of the run.
    pub attempt: String,
    /// The run's log, relative to the hunt.
    pub log: String,
    /// Why the run was made.
    pub phase: Phase,
    /// Whether this is a cache hit: nothing ran.
    pub reused: bool,
    /// Duration in seconds.
    pub wall_s: f64,
    /// Largest resident set, MiB, where known.
    pub peak_rss_mib: Option<f64>,
    /// The command, placeholders filled in, one word per entry.
    pub argv: Vec<String>,
    /// The values of each metric that the run printed several times.
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// Set if the run is excluded: the reason.
    pub apart: Option<ExclusionReason>,
    /// State of the machine before and after an exclusive run.
    pub machine: Option<Around>,
}

/// The cost of a hunt. Cache hits do not count; each attempt counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Executions of a measure's command.
    pub runs: usize,
    /// Builds.
    pub builds: usize,
    /// Seconds during which a process drove the hunt.
    pub wall_s: f64,
    /// Seconds of all runs.
    pub run_s: f64,
    /// Seconds of all builds.
    pub build_s: f64,
    /// Seconds that searches on a shorter text saved, estimated from the mean duration of full
    /// runs; less than 0 if the range had to be searched again with the full text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_s: Option<f64>,
}

/// The commands that ran, placeholders filled in, one word per entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// The build commands, at the last commit built.
    pub build: Vec<Vec<String>>,
    /// Each measure's command, at the last commit it ran at.
    pub measures: BTreeMap<String, Vec<String>>,
}
