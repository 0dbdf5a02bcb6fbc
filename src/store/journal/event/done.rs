//! The results of a hunt's builds, runs and judgements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    CommitId, ExclusionReason, Failure, Host, Judgement, MachineStates, Metric, Phase, TextLength,
    Value,
};
use crate::store::{AttemptsCost, CompilerCache};

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
    /// The attempts before this one, which failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_attempts: Option<AttemptsCost>,
    /// The node that built, if a job of its own did (`[executor.build]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl BuildDone {
    /// Whether this is a working build that an earlier hunt made.
    pub(crate) fn is_taken(&self) -> bool {
        self.reused && self.failure.is_none() && self.prepare.is_none()
    }
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
    /// Nothing ran because this commit's build in this hunt has the same program: the result is
    /// that of a run of this hunt at the named commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<CommitId>,
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
    /// The computer that made the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<Host>>,
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

/// A worker's work on one commit that the search may ask about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AheadDone {
    /// The commit.
    pub commit: CommitId,
    /// What it was measured for.
    pub phase: Phase,
    /// The number of the executor's slot, from 1.
    pub slot: usize,
    /// Wall-clock seconds of the worker.
    pub seconds: f64,
    /// The names and the seconds of its builds.
    pub builds: Vec<(String, f64)>,
    /// The names and the seconds of its runs.
    pub runs: Vec<(String, f64)>,
    /// Whether it was stopped because no answer could ask for the commit any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
}
