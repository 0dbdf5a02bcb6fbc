//! What the journal of a hunt has recorded so far.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, ExclusionReason, Metric, Phase, Value};
use crate::store::journal::{BuildDone, Entry, Event};

/// The events of a journal, as far as a recorder needs them.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// The runs and builds in the journal, by [`key`].
    pub(super) known: BTreeSet<String>,
    /// The attempts of all runs in the journal, of every phase.
    pub(super) attempts: BTreeSet<String>,
    /// Attempts of the runs made for this hunt, without reused runs, which cost nothing.
    pub(super) made: BTreeSet<String>,
    /// The builds that failed since a build last worked, or since the hunt was resumed.
    pub(super) failed_builds: Vec<String>,
    /// Attempts of the builds made for this hunt.
    pub(super) built: BTreeSet<String>,
    /// The values that this hunt's runs yielded, with their commits.
    pub(super) values: Vec<(CommitId, Metric, Value)>,
    /// The notes that the journal has already.
    pub(super) notes: BTreeSet<String>,
    /// The runs that others are compared with: run key → attempt.
    pub(super) references: BTreeMap<String, String>,
    /// What the hunt took over from workers.
    pub(super) taken_over: BTreeSet<(CommitId, Phase)>,
    /// Whether the journal has a change of the git folder that all worktrees share.
    pub(super) has_git_folder: bool,
    /// Whether the journal has a run that opened files which were put back after its build.
    pub(super) has_put_back: bool,
}

impl Recorded {
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut recorded = Self::default();
        for entry in entries {
            match &entry.event {
                Event::Run(run) => {
                    recorded.attempts.insert(run.attempt.clone());
                    if run.apart == Some(ExclusionReason::Reference) {
                        recorded.references.insert(run.run_key.clone(), run.attempt.clone());
                    }
                    if !run.reused {
                        recorded.made.insert(run.attempt.clone());
                    }
                    if run.phase.exclusion_reason().is_none() {
                        let seen = run.values.iter().map(|(metric, value)| {
                            (run.commit.clone(), metric.clone(), value.clone())
                        });
                        recorded.values.extend(seen);
                    }
                    recorded.known.insert(key(run.phase, &run.commit, &run.attempt));
                }
                Event::Resumed { .. } => recorded.failed_builds.clear(),
                Event::Build(done) => {
                    count_build(&mut recorded.failed_builds, done);
                    if !done.reused {
                        recorded.built.insert(done.attempt.clone());
                    }
                    recorded.known.insert(key(done.phase, &done.commit, &done.attempt));
                }
                Event::Note { text } => {
                    recorded.notes.insert(text.clone());
                }
                Event::GitFolder(_) => recorded.has_git_folder = true,
                Event::PutBack(_) => recorded.has_put_back = true,
                Event::TookOver { commit, phase, .. } => {
                    recorded.taken_over.insert((commit.clone(), *phase));
                }
                _ => {}
            }
        }
        recorded
    }
}

/// Updates the list of failed builds since the last success. Control builds do not count, nor
/// do stored failures, since nothing was built now.
pub(super) fn count_build(failed: &mut Vec<String>, build: &BuildDone) {
    if build.reused || build.phase == Phase::Control {
        return;
    }
    match &build.failure {
        // No build command ran.
        Some(failure) if failure.kind.leaves_nothing_to_build() => {}
        Some(_) => failed.push(build.attempt.clone()),
        None => failed.clear(),
    }
}

/// The journal's key of a run. Commits with equal trees share runs, and the journal names a
/// run once per commit.
pub(super) fn key(phase: Phase, commit: &CommitId, attempt: &str) -> String {
    format!("{phase} {commit} {attempt}")
}
