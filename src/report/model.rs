//! What a report says: the fields of `report.json`, which others rely on, and nothing else.

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

/// A finished or interrupted hunt, as far as its journal tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The hunt's name.
    pub hunt: String,
    /// The program that ran it, with its version.
    pub tool: String,
    /// How it ended; [`Outcome::Interrupted`] where the journal has no end.
    pub outcome: Outcome,
    /// One or two sentences in plain words.
    pub summary: String,
    /// The good endpoint.
    pub good: Endpoint,
    /// The bad endpoint.
    pub bad: Endpoint,
    /// The engine's commit that is built each time, where these are commits of a dependency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// The first bad commit with the largest own step, where the hunt names one.
    pub culprit: Option<FirstBad>,
    /// All real parents of `culprit`.
    pub parents: Vec<CommitId>,
    /// Every confirmed first bad commit, in order of history.
    pub culprits: Vec<FirstBad>,
    /// The commits it may be, the likeliest first.
    pub candidates: Vec<CommitId>,
    /// The account of the main metric.
    pub account: Option<AccountLine>,
    /// The account of each targeted metric.
    pub accounts: Vec<AccountLine>,
    /// Where many small steps make the rise.
    pub contributions: Vec<Rise>,
    /// Guarded metrics that have cells, and which commit did what in which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<MatrixLine>,
    /// Every guard; those with `target` decided.
    pub guards: Vec<GuardLine>,
    /// The failure that was hunted, where that was the target.
    pub target_failure: Option<TargetFailure>,
    /// Whether the endpoints' values repeated bit for bit.
    pub steadiness: Option<SearchMethod>,
    /// The ranges of history that were searched.
    pub searches: Vec<SearchLine>,
    /// What each search in noise believed in the end.
    #[serde(default)]
    pub posterior: Vec<PosteriorLine>,
    /// Every commit that was built, run or judged, in order of first appearance.
    pub commits: Vec<MeasuredCommit>,
    /// Metrics that a launch says several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<RepeatLine>,
    /// Measures that had the machine to themselves, and what it was like then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timed: Vec<TimedLine>,
    /// What it was expected to cost, said before the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What it cost.
    pub totals: Totals,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// The inputs of the runs.
    pub inputs: BTreeMap<String, InputFile>,
    /// What was asked of the environment, by command: the configured probes, `cc --version` and its
    /// like, and `printenv NAME` for each inherited variable that counts.
    pub environment: BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
    /// What was run.
    pub commands: Commands,
    /// Options of the command line.
    pub options: Options,
    /// How many commits may have been the first bad one at the start.
    pub range: usize,
    /// When it began (RFC 3339, UTC).
    pub began: String,
    /// Git's version.
    pub git: String,
    /// Digest of the frozen configuration.
    pub config_sha256: String,
    /// Top of the checkout the hunt was started from.
    pub checkout: Option<String>,
    /// The commits after the good endpoint up to the bad one, oldest first; empty where the
    /// hunt kept none. Not part of the document, nor is what follows: anybody with the
    /// repository has it, or it lies in the hunt's folder.
    #[serde(skip)]
    pub history: Vec<Lineage>,
    /// Somebody drives the hunt at this moment.
    #[serde(skip)]
    pub is_running: bool,
    /// When the last thing happened (RFC 3339, UTC).
    #[serde(skip)]
    pub until: String,
    /// What each step of the search asked, in order.
    #[serde(skip)]
    pub steps: Vec<StepLine>,
    /// Where slots lie.
    #[serde(skip)]
    pub slots: String,
    /// The hunt's folder: what the logs' paths are relative to. Not part of the document,
    /// since it may be moved.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// An end of the range.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    /// Its name.
    pub commit: CommitId,
    /// First line of its message.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
    /// What was typed for it.
    pub asked: String,
}

/// A confirmed first bad commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstBad {
    /// The commit.
    pub commit: CommitId,
    /// The worst of its parents: what the own step is measured against.
    pub parent: CommitId,
    /// All its real parents.
    pub parents: Vec<CommitId>,
    /// First line of its message; lossy, as written.
    pub subject: String,
    /// `Name <email>`.
    pub author: String,
    /// The author's date (RFC 3339).
    pub date: String,
    /// How sure.
    pub confidence: f64,
    /// What that rests on.
    pub basis: Basis,
    /// How the main target moved; `None` where a failure is what broke.
    pub effect: Option<EffectLine>,
    /// How each broken target moved.
    pub effects: Vec<EffectLine>,
    /// The failure, where that is what broke.
    pub failure: Option<Failure>,
    /// What it touches.
    pub files: Vec<TouchedFile>,
    /// Other projects' sources that it moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// What came of going on inside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<InsideLine>,
    /// What its runs loaded that those of its parent did not, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Ran>,
    /// What else is not the same in its build and in that parent's, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Date and hunt of the confirmation, when an earlier one was taken over.
    pub confirmed_before: Option<(String, String)>,
}

/// An [`Effect`](crate::evaluation::Effect) whose numbers may be anything a float can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectLine {
    /// The metric.
    pub metric: Metric,
    /// The level at the worst parent.
    pub parent: Value,
    /// The level at the commit.
    pub commit: Value,
    /// How much worse, positive is worse; `None` for a fact.
    pub own_step: Option<Value>,
    /// The own step's 95 % interval where its guard has `noise`, else its range over all pairs
    /// of fresh runs.
    pub interval: Option<[Value; 2]>,
    /// How far the guard lets the metric move.
    pub limit: Value,
    /// The step over the chunks of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_text: Option<OverText>,
}

/// An [`Account`](crate::evaluation::Account) whose numbers may be anything a float can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountLine {
    /// The metric.
    pub metric: Metric,
    /// How much worse the bad endpoint is than the good one.
    pub total: Value,
    /// The sum of the own steps found.
    pub explained: Value,
    /// What is left.
    pub rest: Value,
    /// How far the guard lets the metric move.
    pub limit: Value,
}

/// A [`Contribution`](crate::evaluation::Contribution) whose numbers may be anything a float can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rise {
    /// The last commit before it.
    pub from: CommitId,
    /// Its last commit.
    pub to: CommitId,
    /// How many commits it has.
    pub commits: usize,
    /// How much worse the metric got over it.
    pub rise: Value,
    /// The metric.
    pub metric: Metric,
}

/// A guard and what the endpoints made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardLine {
    /// The metric.
    pub metric: Metric,
    /// The form, in the words of oracle.toml (`max_increase`); `None` where the journal does
    /// not have it.
    pub form: Option<String>,
    /// The amount as configured, in the form's unit.
    pub amount: Option<Value>,
    /// How far the metric may move, in its own unit.
    pub limit: Option<Value>,
    /// The level at the good endpoint.
    pub baseline: Option<Value>,
    /// The level at the bad endpoint.
    pub bad: Option<Value>,
    /// What parts good from bad where values do not repeat.
    pub threshold: Option<Value>,
    /// What the endpoints' runs came to where values do not repeat.
    #[serde(default)]
    pub noise: Option<NoiseLine>,
    /// Whether it decided.
    pub target: bool,
    /// Why, or why not.
    pub why: String,
}

/// A failure that was hunted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetFailure {
    /// The measure that fails; `None` when the build does.
    pub measure: Option<String>,
    /// How.
    pub failure: Failure,
}

/// A range of history that was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchLine {
    /// Counts from 0.
    #[serde(rename = "stretch")]
    pub search_number: usize,
    /// Its good end.
    pub good: CommitId,
    /// Its bad end.
    pub bad: CommitId,
    /// How many commits could be the first bad one.
    pub commits: usize,
    /// Pathspecs that limited it.
    pub paths: Vec<String>,
    /// How many chunks of the text it read, where that was not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// How; as [`Report::steadiness`] says where it is not told.
    #[serde(default)]
    pub method: Option<SearchMethod>,
    /// The commit that it pointed at.
    #[serde(default)]
    pub named: Option<CommitId>,
}

/// A commit that a search judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// Of which search.
    pub search_number: usize,
    /// The commit.
    pub commit: CommitId,
    /// What was said of it.
    pub verdict: Verdict,
    /// How many commits git had left to test after it; `None` where git did not have to ask,
    /// since the store knew.
    pub left: Option<usize>,
}

/// A commit that was built, run or judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredCommit {
    /// The commit.
    pub commit: CommitId,
    /// First line of its message, where the journal has it.
    pub subject: Option<String>,
    /// Its last verdict in the first search it was judged in: against the hunt's own
    /// baseline, not that of a later search.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
    /// Why skipped, where it was.
    pub skip: Option<SkipReason>,
    /// The targets it breaks.
    pub broken: Vec<Metric>,
    /// The probability that it is the first bad one or comes after it, as the first range of
    /// history saw it in which that was weighed.
    pub p_bad: Option<f64>,
    /// Each value of each run.
    pub samples: Vec<SampleLine>,
    /// Runs that count for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<ApartLine>,
    /// Its builds.
    pub builds: Vec<BuildLine>,
    /// Its runs. Not part of the document: each log begins with its command.
    #[serde(skip)]
    pub runs: Vec<RunLine>,
}

/// One value of one run, or a run's failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleLine {
    /// The metric; the measure's own for a failure without a value.
    pub metric: Metric,
    /// The value; `None` for a failure without one.
    pub value: Option<Value>,
    /// The run's log, relative to the hunt.
    pub log: String,
    /// Why it ran.
    pub phase: Phase,
    /// Taken from the store; nothing ran.
    pub reused: bool,
    /// The run.
    pub attempt: String,
    /// How the run failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How many chunks it read, where the endpoints' runs read another number: its value is not
    /// to be compared with theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
}

/// A run that is kept and counts for nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApartLine {
    /// The measure.
    pub measure: String,
    /// Why.
    pub why: ExclusionReason,
    /// The run's log, relative to the hunt.
    pub log: String,
    /// Why it ran.
    pub phase: Phase,
    /// Taken from the store; nothing ran.
    pub reused: bool,
    /// The run.
    pub attempt: String,
}

/// One build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildLine {
    /// The build.
    pub attempt: String,
    /// Its log, relative to the hunt.
    pub log: String,
    /// What for.
    pub phase: Phase,
    /// Known from the store; nothing was built.
    pub reused: bool,
    /// Seconds.
    pub wall_s: f64,
    /// How it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The step between build and measures that it was, where it was no build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// What a compiler cache answered, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
    /// The commands, a word an entry; not part of the document.
    #[serde(skip)]
    pub commands: Vec<Vec<String>>,
}

/// One run, whatever it yielded.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLine {
    /// The measure.
    pub measure: String,
    /// The run.
    pub attempt: String,
    /// Its log, relative to the hunt.
    pub log: String,
    /// What for.
    pub phase: Phase,
    /// Taken from the store; nothing ran.
    pub reused: bool,
    /// Seconds.
    pub wall_s: f64,
    /// Largest resident set, MiB, where known.
    pub peak_rss_mib: Option<f64>,
    /// The command, placeholders filled in, a word an entry.
    pub argv: Vec<String>,
    /// What one launch said of a metric that it said several times.
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// Why it counts for nothing, where it does not.
    pub apart: Option<ExclusionReason>,
    /// What the machine was like around it, where it was alone.
    pub machine: Option<Around>,
}

/// What a hunt cost. What came from the store is left out, every attempt counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Executions of a measure's command.
    pub runs: usize,
    /// Builds.
    pub builds: usize,
    /// Seconds during which a driver was at work.
    pub wall_s: f64,
    /// Seconds of all runs.
    pub run_s: f64,
    /// Seconds of all builds.
    pub build_s: f64,
    /// Seconds that a search on a shorter text saved, estimated from the means of the runs
    /// that were made; less than 0 where it had to be searched again with the full text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_s: Option<f64>,
}

/// What was run, placeholders filled in, a word an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    /// The build commands, at the last commit built.
    pub build: Vec<Vec<String>>,
    /// Each measure's command, at the last commit it ran at.
    pub measures: BTreeMap<String, Vec<String>>,
}
