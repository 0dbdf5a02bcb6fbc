//! The current activity of a hunt, stored in its folder for progress displays.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::build::BuildProgress;
use crate::evaluation::{CommitId, Phase};
use crate::files;
use crate::store::replace;

/// The current activity, for progress displays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Activity {
    /// What the hunt does.
    pub doing: Task,
    /// The commit.
    pub commit: CommitId,
    /// The measure, for a run.
    pub measure: Option<String>,
    /// When it started (RFC 3339, UTC).
    pub since: String,
    /// The phase of the hunt.
    pub phase: Phase,
    /// What the hunt waits for: `waiting for an exclusive run of bisect-ppl to end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// Whether no note is printed about this wait: the journal has one, or the wait is a usual part
    /// of a hunt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_noted: bool,
    /// The process that does it.
    #[serde(default)]
    pub process: u32,
    /// How far a build is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildProgress>,
}

impl Activity {
    /// An activity that begins now.
    pub(super) fn begun(
        doing: Task,
        commit: &CommitId,
        measure: Option<&str>,
        phase: Phase,
    ) -> Self {
        Self {
            doing,
            commit: commit.clone(),
            measure: measure.map(str::to_owned),
            since: jiff::Timestamp::now().to_string(),
            phase,
            process: std::process::id(),
            waits: None,
            is_noted: false,
            build: None,
        }
    }

    /// Publishes that the hunt waits, and why. Keeps the commit, measure and phase of the last
    /// activity. Without one, takes this commit and the phase of the endpoints.
    pub(crate) fn wait(path: &Path, why: String, commit: &CommitId) {
        Self::waiting(path, why, commit).publish(path);
    }

    /// As [`Self::wait`], without a note on the screen.
    pub(crate) fn wait_as_noted(path: &Path, why: String, commit: &CommitId) {
        Self { is_noted: true, ..Self::waiting(path, why, commit) }.publish(path);
    }

    fn waiting(path: &Path, why: String, commit: &CommitId) -> Self {
        let last = Self::read(path);
        let last = last.unwrap_or_else(|| Self::begun(Task::Wait, commit, None, Phase::Endpoint));
        let now = Self::begun(Task::Wait, &last.commit, last.measure.as_deref(), last.phase);
        Self { waits: Some(why), ..now }
    }

    /// Replaces the file. Not durable; a failed write is ignored.
    pub(super) fn publish(&self, path: &Path) {
        let bytes = serde_json::to_vec(self).expect("an activity is plain data");
        replace(path, &bytes, None).ok();
    }

    /// Reads the file; `None` if the hunt does nothing.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&files::read(path).ok()?).ok()
    }

    /// Seconds since the activity began.
    pub(crate) fn seconds(&self) -> f64 {
        let since = self.since.parse::<jiff::Timestamp>();
        since.map_or(0.0, |since| {
            jiff::Timestamp::now().duration_since(since).as_secs_f64().max(0.0)
        })
    }
}

/// What a hunt does at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Builds a commit.
    Build,
    /// Runs a `[[prepare]]` step.
    Prepare,
    /// Runs a measure.
    Run,
    /// Runs a measure without counting the run.
    WarmUp,
    /// Runs or builds the good endpoint, to tell whether the machine is at fault.
    Control,
    /// Waits for other builds and runs to end, or for the machine to cool down.
    Wait,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build => "build",
            Self::Prepare => "prepare",
            Self::Run => "run",
            Self::WarmUp => "warm-up",
            Self::Control => "control",
            Self::Wait => "wait",
        })
    }
}
