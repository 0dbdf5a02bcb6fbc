//! What a worker is asked to measure.

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase, Target};
use crate::oracle::{Oracle, OracleError, Request, measures_of};

/// A commit to measure ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Whether missing runs need a new build.
    #[serde(default)]
    pub(crate) rebuild: bool,
    /// The targets by which the hunt will judge the commit. The worker makes the runs that this
    /// judgement needs. Empty: it makes `runs` of each measure.
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
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
        Self::of_runs(commit, &[], Phase::Search, 0)
    }

    /// A commit to measure while others are measured: so many runs of each of these measures.
    pub(super) fn of_runs(
        commit: CommitId,
        measures: &[String],
        phase: Phase,
        runs: usize,
    ) -> Self {
        Self {
            commit,
            phase,
            measures: measures.to_vec(),
            runs,
            rebuild: false,
            targets: Vec::new(),
            clean: false,
            part: JobPart::Whole,
        }
    }

    /// A commit that the hunt will judge by these targets, after a search.
    pub(super) fn of_judgement(commit: CommitId, targets: &[Target]) -> Self {
        let job = Self::of_runs(commit, &measures_of(targets), Phase::Search, 1);
        Self { targets: targets.to_vec(), ..job }
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

    /// Makes the runs.
    pub(super) fn measure(&self, oracle: &mut Oracle) -> Result<(), OracleError> {
        if self.targets.is_empty() {
            let look = Request::look(&self.commit, &self.measures, self.phase);
            oracle.evaluate(Request { runs: self.runs, rebuild: self.rebuild, ..look })?;
        } else {
            oracle.judge_until_decided(&self.commit, &self.targets, self.phase, None)?;
        }
        Ok(())
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
