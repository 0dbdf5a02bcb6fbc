//! A measured commit with its builds, runs and values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::{
    CommitId, ExclusionReason, Failure, Host, MachineStates, Metric, Phase, SkipReason, Value,
    Verdict,
};
use crate::store::CompilerCache;

/// A commit that was built, run or judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MeasuredCommit {
    /// The commit.
    pub commit: CommitId,
    /// First line of its message, if the journal has it.
    pub subject: Option<String>,
    /// The commit's last verdict in the first search that judged it. That search uses the hunt's
    /// own baseline; a later search has another one.
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
    pub apart: Vec<ExcludedRunLine>,
    /// Its builds.
    pub builds: Vec<BuildLine>,
    /// All runs. Not in `report.json`: each log begins with its command.
    #[serde(skip)]
    pub runs: Vec<RunLine>,
}

impl MeasuredCommit {
    /// When the newest of its results was made, if all of them come from the store.
    pub(crate) fn stored_at(&self) -> Option<&str> {
        let runs = self.runs.iter().map(|run| run.stored_at.as_deref());
        let builds = self.builds.iter().map(|build| build.stored_at.as_deref());
        runs.chain(builds).collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

/// One value of one run, or a run's failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampleLine {
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
    /// When a cache hit was made (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
    /// The commit of this hunt with the same program, if the result is that of its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<CommitId>,
    /// Id of the run.
    pub attempt: String,
    /// The name of the computer that made the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The number of the executor's slot that made the run, from 1; `None` if the hunt has one slot,
    /// and for a run of an earlier hunt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<usize>,
    /// How the run failed, if it did, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The same failure. Not in `report.json`.
    #[serde(skip)]
    pub failed: Option<Failure>,
    /// How many chunks the run read, if not as many as the endpoints' runs. The values are then not
    /// comparable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
}

/// An excluded run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExcludedRunLine {
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
    /// When a cache hit was made (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
    /// The commit of this hunt with the same program, if the result is that of its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<CommitId>,
    /// Id of the run.
    pub attempt: String,
    /// The name of the computer that made the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// One build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuildLine {
    /// Id of the build.
    pub attempt: String,
    /// The build's log, relative to the hunt.
    pub log: String,
    /// Why the build was made.
    pub phase: Phase,
    /// Whether this is a cache hit: nothing was built.
    pub reused: bool,
    /// When a cache hit was made (RFC 3339, UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_at: Option<String>,
    /// Duration in seconds.
    pub wall_s: f64,
    /// How the build failed, if it did, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The same failure. Not in `report.json`.
    #[serde(skip)]
    pub failed: Option<Failure>,
    /// Name of the prepare step, if this is one and not a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Hits and misses of the compiler cache, if the build used one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
    /// The node that built, if a job of its own did (`[executor.build]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The number of the executor's slot that built, from 1; `None` if the hunt has one slot, and
    /// for a build of an earlier hunt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<usize>,
    /// The commands, one word per entry. Not in `report.json`.
    #[serde(skip)]
    pub commands: Vec<Vec<String>>,
}

/// One run, whatever its result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunLine {
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
    /// When a cache hit was made (RFC 3339, UTC).
    pub stored_at: Option<String>,
    /// The commit of this hunt with the same program, if the result is that of its run.
    pub same_as: Option<CommitId>,
    /// Duration in seconds.
    pub wall_s: f64,
    /// Largest resident set, MiB, if known.
    pub peak_rss_mib: Option<f64>,
    /// The command, placeholders filled in, one word per entry.
    pub argv: Vec<String>,
    /// The values of each metric that the run printed several times.
    pub repeats: BTreeMap<Metric, Vec<f64>>,
    /// Set if the run is excluded: the reason.
    pub apart: Option<ExclusionReason>,
    /// The computer that made the run.
    pub host: Option<Host>,
    /// The number of the executor's slot that made the run, as in [`SampleLine`].
    pub slot: Option<usize>,
    /// State of the machine before and after an exclusive run.
    pub machine: Option<MachineStates>,
}
