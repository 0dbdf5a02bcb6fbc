//! What a worker is asked to measure.

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
}

impl AheadJob {
    /// A commit that the search may ask about.
    pub(crate) fn of_search(commit: CommitId) -> Self {
        Self { commit, phase: Phase::Search, measures: Vec::new(), runs: 0, clean: false }
    }
}
