//! What a worker is asked to measure.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};

/// A commit to measure ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AheadJob {
    /// The commit.
    pub(crate) commit: CommitId,
    /// Why it is measured. As a control, the worker builds and runs the commit in its own slot,
    /// even if the store has runs.
    pub(crate) phase: Phase,
    /// The measures; none: the commit is only built.
    #[serde(default)]
    pub(crate) measures: Vec<String>,
    /// How many runs of each measure the store has afterwards. With 0, a search by git asks, and
    /// the worker makes as many as it needs to judge the commit.
    #[serde(default)]
    pub(crate) runs: usize,
    /// Whether every build is clean, whatever the configuration says.
    #[serde(default)]
    pub(crate) clean: bool,
    /// Which part of the work this is.
    #[serde(default)]
    pub(crate) part: JobPart,
}

/// Who builds a commit, and who runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JobPart {
    /// One process builds and runs the commit.
    #[default]
    Whole,
    /// A process beside the driver, while a job waits for a node. It builds the commit. It runs the
    /// commit too if the search asks for it before the job has a node.
    Build,
    /// The job of the cluster: it runs what that process built.
    Run,
}

impl AheadJob {
    /// A commit that the search may ask about.
    pub(crate) fn of_search(commit: CommitId) -> Self {
        let (phase, part) = (Phase::Search, JobPart::Whole);
        Self { commit, phase, measures: Vec::new(), runs: 0, clean: false, part }
    }

    /// A commit that a search in noise may ask for. Without a measure it is only built.
    pub(crate) fn in_noise(
        commit: CommitId,
        measure: Option<String>,
        runs: usize,
        clean: bool,
    ) -> Self {
        let measures = measure.into_iter().collect();
        Self { measures, runs, clean, ..Self::of_search(commit) }
    }

    /// Whether the worker judges the commit by the search's current targets: in a search by git.
    pub(crate) fn is_judged(&self) -> bool {
        self.phase == Phase::Search && self.runs == 0
    }

    /// This part of the work.
    pub(crate) fn with_part(&self, part: JobPart) -> Self {
        Self { part, ..self.clone() }
    }
}
