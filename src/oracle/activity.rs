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
    /// The commit and the phase of the hunt. `None` if the hunt waits, and what comes next is not
    /// known: a job that ends leaves no activity, and the next job looks in the store first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(CommitId, Phase)>,
    /// The measure, for a run.
    pub measure: Option<String>,
    /// When it started (RFC 3339, UTC).
    pub since: String,
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
        let at = Some((commit.clone(), phase));
        Self { at, measure: measure.map(str::to_owned), ..Self::of(doing) }
    }

    /// An activity that begins now, at no commit.
    fn of(doing: Task) -> Self {
        Self {
            doing,
            at: None,
            measure: None,
            since: jiff::Timestamp::now().to_string(),
            process: std::process::id(),
            waits: None,
            is_noted: false,
            build: None,
        }
    }

    /// Publishes that the hunt waits, and why. Keeps the commit, measure and phase of the last
    /// activity, if there is one.
    pub(crate) fn wait(path: &Path, why: String) {
        Self::waiting(path, why).publish(path);
    }

    /// As [`Self::wait`], without a note on the screen.
    pub(crate) fn wait_as_noted(path: &Path, why: String) {
        Self { is_noted: true, ..Self::waiting(path, why) }.publish(path);
    }

    fn waiting(path: &Path, why: String) -> Self {
        let (at, measure) = Self::read(path).map_or((None, None), |last| (last.at, last.measure));
        Self { at, measure, waits: Some(why), ..Self::of(Task::Wait) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_names_what_comes_next_only_if_an_activity_was_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("now.json");
        let waits = || Activity::read(&path).unwrap();
        let commit: CommitId = "5".repeat(40).parse().unwrap();
        Activity::wait(&path, "waiting for a job".to_owned());
        assert_eq!((waits().at, waits().measure, waits().is_noted), (None, None, false));
        Activity::begun(Task::Run, &commit, Some("ppl"), Phase::Search).publish(&path);
        Activity::wait_as_noted(&path, "waiting 1 s before another try".to_owned());
        assert_eq!(waits().at, Some((commit.clone(), Phase::Search)));
        assert_eq!((waits().measure.as_deref(), waits().is_noted), (Some("ppl"), true));
        // A further wait keeps it, too.
        Activity::wait(&path, "waiting for a job".to_owned());
        assert_eq!(waits().at, Some((commit, Phase::Search)));
        assert_eq!(waits().waits.as_deref(), Some("waiting for a job"));
    }
}
