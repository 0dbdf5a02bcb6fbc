//! The builds and runs of a hunt so far: the values of commits, and which results are older ones.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Metric, Value};
use crate::store::journal::{BuildDone, Judged, RunDone};

use super::sources;

/// What a hunt's builds and runs gave so far.
#[derive(Default)]
pub(super) struct Results {
    runs: Vec<RunDone>,
    /// For each commit, when its last build was made, if that build failed and came from the store.
    failed_before: BTreeMap<CommitId, Option<String>>,
}

impl Results {
    /// Adds a build.
    pub(super) fn built(&mut self, build: &BuildDone) {
        let stored_at = build.stored_at.clone().filter(|_| build.failure.is_some());
        self.failed_before.insert(build.commit.clone(), stored_at);
    }

    /// Adds a run, unless it does not count as one of its commit.
    pub(super) fn ran(&mut self, run: &RunDone) {
        if run.phase.exclusion_reason().is_none() {
            self.runs.push(run.clone());
        }
    }

    /// The latest value of a metric at a commit, and its run.
    pub(super) fn latest(&self, commit: &CommitId, metric: &Metric) -> Option<(&RunDone, &Value)> {
        let mut runs = self.runs_at(commit).rev();
        runs.find_map(|run| Some((run, run.values.get(metric)?)))
    }

    /// When the newest run of a verdict was made, and the commit with the same program whose runs
    /// gave its results. `None` if one of its runs is new.
    pub(super) fn of_verdict(&self, judged: &Judged) -> (Option<&str>, Option<&CommitId>) {
        if judged.attempts.is_empty() {
            let failed = self.failed_before.get(&judged.commit);
            return (failed.and_then(Option::as_deref), None);
        }
        let runs = || self.runs.iter().filter(|run| judged.attempts.contains(&run.attempt));
        (sources::stored_at(runs()), sources::same_program(runs()))
    }

    /// The same for all runs at a commit.
    pub(super) fn of_commit(&self, commit: &CommitId) -> (Option<&str>, Option<&CommitId>) {
        let runs = || self.runs_at(commit);
        (sources::stored_at(runs()), sources::same_program(runs()))
    }

    /// The runs at a commit, without those that are compared apart.
    fn runs_at(&self, commit: &CommitId) -> impl DoubleEndedIterator<Item = &RunDone> {
        self.runs.iter().filter(move |run| run.commit == *commit && run.apart.is_none())
    }
}
