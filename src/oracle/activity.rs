//! The current activity of a hunt, stored in its folder for progress displays.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};

/// The current activity, for progress displays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// What the hunt does.
    pub doing: Task,
    /// The commit.
    pub commit: CommitId,
    /// The measure, for a run.
    pub measure: Option<String>,
    /// When it started (RFC 3339, UTC).
    pub since: String,
    /// The purpose.
    pub phase: Phase,
    /// What the hunt waits for: `waiting for an exclusive run of bisect-ppl to end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// What a hunt does at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
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
