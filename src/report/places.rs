//! Where the builds and runs of a hunt were made: in which slot of the executor, or on which
//! computer. Shown only if that differs within the hunt.

use std::collections::{BTreeSet, HashMap};

use crate::store::journal::{Entry, Event};
use crate::ui::text;

use super::model::{BuildLine, MeasuredCommit, Report, RunLine, SampleLine};

/// The slot of the hunt's driver. Workers have the others.
const OWN_SLOT: usize = 1;

/// Fills in the slots of builds and runs, from what the workers reported. Without workers there is
/// only one slot, and nothing is filled in.
pub(super) fn fill_in(commits: &mut [MeasuredCommit], entries: &[Entry]) {
    let mut slots: HashMap<&str, usize> = HashMap::new();
    for entry in entries {
        if let Event::Ahead(done) = &entry.event {
            let attempts = done.builds.iter().chain(&done.runs);
            slots.extend(attempts.map(|(attempt, _)| (attempt.as_str(), done.slot)));
        }
    }
    if slots.is_empty() {
        return;
    }
    // An earlier hunt made the results that are reused.
    let slot = |attempt: &str, is_reused: bool| match slots.get(attempt) {
        Some(slot) => Some(*slot),
        None => (!is_reused).then_some(OWN_SLOT),
    };
    for commit in commits {
        for build in &mut commit.builds {
            build.slot = slot(&build.attempt, build.reused);
        }
        for sample in &mut commit.samples {
            sample.slot = slot(&sample.attempt, sample.reused);
        }
        for run in &mut commit.runs {
            run.slot = slot(&run.attempt, run.reused);
        }
    }
}

/// Which places a report shows beside its builds and runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// Runs were made on several computers.
    by_host: bool,
    /// Builds or runs were made in several slots of one computer. Not in a cluster: nobody there
    /// knows the slots of jobs.
    by_slot: bool,
}

impl Places {
    pub(super) fn of(report: &Report) -> Self {
        let by_host = report.hosts.len() > 1;
        let slots: BTreeSet<usize> = report
            .commits
            .iter()
            .flat_map(|commit| {
                let builds = commit.builds.iter().filter_map(|build| build.slot);
                builds.chain(commit.samples.iter().filter_map(|sample| sample.slot))
            })
            .collect();
        let has_jobs = report.totals.node_s.is_some();
        Self { by_host, by_slot: !by_host && !has_jobs && slots.len() > 1 }
    }

    /// ` on n1` or ` in slot 2`; empty if all samples were made in one place.
    pub(super) fn sample(self, sample: &SampleLine) -> String {
        self.words(sample.host.as_deref(), sample.slot)
    }

    /// The same for a run.
    pub(super) fn run(self, run: &RunLine) -> String {
        self.words(run.host.as_ref().map(|host| host.name.as_str()), run.slot)
    }

    /// The same for a build. A node that only builds is always named.
    pub(super) fn build(self, build: &BuildLine) -> String {
        match &build.node {
            Some(node) => format!(" on {}", text::line(node)),
            None => self.words(None, build.slot),
        }
    }

    fn words(self, host: Option<&str>, slot: Option<usize>) -> String {
        let host = host.filter(|_| self.by_host).map(|host| format!(" on {}", text::line(host)));
        let slot = slot.filter(|_| self.by_slot).map(|slot| format!(" in slot {slot}"));
        host.or(slot).unwrap_or_default()
    }
}
