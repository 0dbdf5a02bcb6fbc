//! What a worker is asked to measure.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};

/// A commit to measure ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AheadJob {
    /// The commit.
    pub(crate) commit: CommitId,
    /// Why it is measured. In a search the worker judges the commit by the current targets. As a
    /// control, it builds and runs the commit in its own slot, whatever the store has.
    pub(crate) phase: Phase,
    /// The measures; unused in a search.
    #[serde(default)]
    pub(crate) measures: Vec<String>,
    /// How many runs of each measure; unused in a search.
    #[serde(default)]
    pub(crate) runs: usize,
    /// Whether every build is clean, whatever the configuration says.
    #[serde(default)]
    pub(crate) clean: bool,
    /// What of the work this process does.
    #[serde(default)]
    pub(crate) stage: Stage,
    /// The slot that the driver lends. The driver holds the claim of the commit then, too.
    #[serde(default)]
    pub(crate) lent: Option<PathBuf>,
}

/// A part of a worker's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// Only the build. A commit that does not build is judged at once.
    Build,
    /// Everything that is missing.
    #[default]
    Measure,
}

impl AheadJob {
    /// A commit to measure, in a slot of the worker.
    pub(crate) fn new(commit: CommitId, phase: Phase) -> Self {
        let (stage, lent) = (Stage::default(), None);
        Self { commit, phase, measures: Vec::new(), runs: 0, clean: false, stage, lent }
    }
}
