//! Records a hunt's events as they happen: the journal, the logs in the hunt's folder, and the
//! current activity.

mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::build::BuildProgress;
use crate::evaluation::{
    CommitId, ExclusionReason, GitFolderChange, Metric, Phase, PutBack, Reading, RunRecord, Value,
};
use crate::store::journal::{BuildDone, Event, Journal, RunDone};
use crate::store::{AheadRecord, BuildRecord, HuntDir, Store, StoreError, StoredRun};
use crate::ui::Progress;

use super::recorded::{Recorded, count_build, key};
use super::{Activity, Sample, Task};

/// Where a recorder writes.
#[derive(Debug)]
enum Sink {
    Journal(Journal),
    /// A worker that measures ahead. It does not write to the journal: the process that takes its
    /// results over does. `record` is what it did, `slot` its slot of the executor.
    Ahead {
        record: AheadRecord,
        slot: usize,
    },
}

/// The recorder of one hunt; without a hunt it writes nothing.
#[derive(Debug)]
pub(crate) struct Recorder {
    hunt: Option<(HuntDir, Sink)>,
    recorded: Recorded,
}

impl Recorder {
    /// A recorder for work that belongs to no hunt: it writes nothing.
    pub(crate) fn none() -> Self {
        Self { hunt: None, recorded: Recorded::default() }
    }

    /// The recorder of a hunt. Attempts that are in its journal already are not added again.
    pub(crate) fn of(hunt: &HuntDir) -> Result<Self, StoreError> {
        Self::with(hunt, Sink::Journal(hunt.journal()?))
    }

    /// The recorder of a worker that measures ahead in this slot of the executor. It knows what the
    /// journal has, and writes nothing there.
    pub(crate) fn ahead(
        hunt: &HuntDir,
        record: AheadRecord,
        slot: usize,
    ) -> Result<Self, StoreError> {
        Self::with(hunt, Sink::Ahead { record, slot })
    }

    fn with(hunt: &HuntDir, sink: Sink) -> Result<Self, StoreError> {
        let recorded = Recorded::of(&hunt.entries()?);
        Ok(Self { hunt: Some((hunt.clone(), sink)), recorded })
    }

    /// The file for the current activity.
    fn now_path(&self) -> Option<PathBuf> {
        self.hunt.as_ref().map(|(hunt, sink)| match sink {
            Sink::Journal(_) => hunt.now_path(),
            Sink::Ahead { slot, .. } => hunt.now_in_slot(*slot),
        })
    }

    /// The hunt's name.
    pub(crate) fn hunt(&self) -> Option<&str> {
        self.hunt.as_ref().map(|(hunt, _)| hunt.id())
    }

    /// Whether this build was made for this hunt.
    pub(crate) fn has_built(&self, attempt: &str) -> bool {
        self.recorded.built.contains(attempt)
    }

    /// The hunt's folder.
    pub(crate) fn folder(&self) -> Option<&HuntDir> {
        self.hunt.as_ref().map(|(hunt, _)| hunt)
    }

    /// How many runs were made for this hunt.
    pub(crate) fn made(&self) -> u32 {
        u32::try_from(self.recorded.made.len()).unwrap_or(u32::MAX)
    }

    /// Reads the runs that the hunt's oracles wrote into the journal in other processes.
    pub(crate) fn count_runs_of_others(&mut self) -> Result<(), StoreError> {
        let Some((hunt, _)) = &self.hunt else { return Ok(()) };
        for entry in &hunt.entries()? {
            let Event::Run(run) = &entry.event else { continue };
            if !self.recorded.attempts.contains(&run.attempt) {
                self.recorded.attempts.insert(run.attempt.clone());
            }
            if !run.reused && !self.recorded.made.contains(&run.attempt) {
                self.recorded.made.insert(run.attempt.clone());
            }
        }
        Ok(())
    }

    /// The values that runs of other commits yielded in this hunt.
    pub(crate) fn known_values(&self, but: &CommitId) -> Vec<(&Metric, &Value)> {
        let others = self.recorded.values.iter().filter(|(commit, ..)| commit != but);
        others.map(|(_, metric, value)| (metric, value)).collect()
    }

    /// The commits whose runs yielded a value in this hunt.
    pub(crate) fn measured(&self) -> BTreeSet<&CommitId> {
        self.recorded.values.iter().map(|(commit, ..)| commit).collect()
    }

    /// How many values are known of this hunt's runs; it grows with each run.
    pub(super) fn known_count(&self) -> usize {
        self.recorded.values.len()
    }

    /// Whether the hunt took over what a worker measured at this commit.
    pub(crate) fn took_over(&self, commit: &CommitId, phase: Phase) -> bool {
        self.recorded.taken_over.contains(&(commit.clone(), phase))
    }

    /// Notes that a worker begins at this commit, perhaps once more: what it measures is taken over
    /// too.
    pub(crate) fn expect_worker(&mut self, commit: &CommitId, phase: Phase) {
        self.recorded.taken_over.remove(&(commit.clone(), phase));
    }

    /// Says in the journal that the hunt takes over what a worker measured, after it waited.
    pub(crate) fn take_over(
        &mut self,
        commit: &CommitId,
        phase: Phase,
        waited_s: f64,
    ) -> Result<(), StoreError> {
        self.recorded.taken_over.insert((commit.clone(), phase));
        self.event(Event::TookOver { commit: commit.clone(), phase, waited_s })
    }

    /// Whether the journal names the attempt already.
    pub(crate) fn names(&self, attempt: &str) -> bool {
        self.recorded.attempts.contains(attempt)
    }

    /// The run under this key that the hunt compares others with, if it has chosen one.
    pub(crate) fn reference(&self, run_key: &str) -> Option<&str> {
        self.recorded.references.get(run_key).map(String::as_str)
    }

    /// The builds that failed in this hunt since a build last worked, or since it was resumed.
    pub(crate) fn failed_builds(&self) -> &[String] {
        &self.recorded.failed_builds
    }

    /// Appends an event.
    pub(crate) fn event(&mut self, event: Event) -> Result<(), StoreError> {
        match &mut self.hunt {
            Some((_, Sink::Journal(journal))) => journal.append(event),
            Some((_, Sink::Ahead { .. })) | None => Ok(()),
        }
    }

    /// Adds a note to the journal unless it is there already; without a hunt, prints the note.
    pub(crate) fn note_once(&mut self, text: String) -> Result<(), StoreError> {
        if self.recorded.notes.contains(&text) {
            return Ok(());
        }
        if self.hunt.is_none() {
            Progress::new(false).note(&text);
        }
        self.recorded.notes.insert(text.clone());
        self.event(Event::Note { text })
    }

    /// Publishes the current activity for displays. Not durable; a failed write is ignored.
    pub(crate) fn now(&self, doing: Task, commit: &CommitId, measure: Option<&str>, phase: Phase) {
        self.tell(doing, commit, measure, phase, None);
    }

    /// Publishes that the hunt waits, and why; without a hunt, prints the reason.
    pub(crate) fn waits(&self, why: &str, commit: &CommitId, measure: Option<&str>, phase: Phase) {
        self.tell(Task::Wait, commit, measure, phase, Some(why));
        if self.hunt.is_none() {
            Progress::new(false).note(why);
        }
    }

    /// Publishes that a build begins. The returned function publishes how far the build is.
    pub(crate) fn builds(
        &self,
        doing: Task,
        commit: &CommitId,
        phase: Phase,
    ) -> impl Fn(BuildProgress) + use<> {
        let path = self.now_path();
        let activity = Activity::begun(doing, commit, None, phase);
        if let Some(path) = &path {
            activity.publish(path);
        }
        move |progress| {
            if let Some(path) = &path {
                Activity { build: Some(progress), ..activity.clone() }.publish(path);
            }
        }
    }

    fn tell(
        &self,
        doing: Task,
        commit: &CommitId,
        measure: Option<&str>,
        phase: Phase,
        waits: Option<&str>,
    ) {
        let Some(path) = self.now_path() else { return };
        let activity = Activity::begun(doing, commit, measure, phase);
        Activity { waits: waits.map(str::to_owned), ..activity }.publish(&path);
    }

    /// Records a run, whether it just ran or comes from the store.
    pub(crate) fn run(
        &mut self,
        run: &StoredRun,
        sample: &Sample,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<(), StoreError> {
        let apart = run.record.exclusion_reason().or(phase.exclusion_reason());
        self.run_apart(run, sample, commit, phase, apart)
    }

    /// Like [`Self::run`], with `apart`: the reason why the run is excluded, if it is.
    pub(crate) fn run_apart(
        &mut self,
        run: &StoredRun,
        sample: &Sample,
        commit: &CommitId,
        phase: Phase,
        apart: Option<ExclusionReason>,
    ) -> Result<(), StoreError> {
        let Some((hunt, sink)) = &mut self.hunt else { return Ok(()) };
        let record = &run.record;
        if !self.recorded.known.insert(key(phase, commit, &record.attempt)) {
            return Ok(());
        }
        let journal = match sink {
            Sink::Journal(journal) => journal,
            Sink::Ahead { record: own, .. } => {
                let is_own = record.hunt.as_deref() == Some(hunt.id());
                if record.ahead && is_own && record.same_as.is_none() {
                    own.runs.push((record.attempt.clone(), record.used.wall_s));
                }
                return hunt.keep_ahead(own);
            }
        };
        let name = format!("{phase}-{}-{}-{}.log", commit.short(), record.measure, record.attempt);
        let log = hunt.adopt_log(&run.log, &name)?;
        let is_own = record.hunt.as_deref() == Some(hunt.id());
        let reused = !is_own || record.same_as.is_some();
        let same_as = record.same_commit.clone().filter(|_| is_own);
        self.recorded.attempts.insert(record.attempt.clone());
        if apart == Some(ExclusionReason::Reference) {
            self.recorded.references.insert(record.run_key.clone(), record.attempt.clone());
        }
        if !reused {
            self.recorded.made.insert(record.attempt.clone());
        }
        let values = sample.values(&record.measure);
        // Values under another ruler, or of other files, are not the commit's.
        if phase.exclusion_reason().is_none() {
            let of = |(metric, value): (&Metric, &Value)| {
                (commit.clone(), metric.clone(), value.clone())
            };
            self.recorded.values.extend(values.iter().map(of));
        }
        journal.append(Event::Run(RunDone {
            commit: commit.clone(),
            measure: record.measure.clone(),
            attempt: record.attempt.clone(),
            run_key: record.run_key.clone(),
            phase,
            wall_s: record.used.wall_s,
            log,
            values,
            failure: sample.result.as_ref().err().cloned(),
            reused,
            stored_at: (reused && same_as.is_none()).then(|| record.started.clone()),
            same_as,
            argv: record.argv.clone(),
            text: sample.result.as_ref().ok().and_then(Reading::text_length),
            repeats: sample.result.as_ref().map_or_else(|_| BTreeMap::new(), |r| r.repeats.clone()),
            apart,
            host: record.host.clone().map(Box::new),
            machine: record.machine.clone().filter(|_| record.alone).map(Box::new),
        }))?;
        self.git_folder(record.git_folder.as_ref())?;
        self.put_back(commit, record)
    }

    /// Records the hunt's first run that opened files which were put back after its build.
    fn put_back(&mut self, commit: &CommitId, record: &RunRecord) -> Result<(), StoreError> {
        if record.put_back.is_empty() || self.recorded.has_put_back {
            return Ok(());
        }
        self.recorded.has_put_back = true;
        self.event(Event::PutBack(PutBack {
            measure: record.measure.clone(),
            commit: commit.clone(),
            paths: record.put_back.clone(),
        }))
    }

    /// Records the hunt's first change of the git folder that all worktrees share.
    fn git_folder(&mut self, change: Option<&GitFolderChange>) -> Result<(), StoreError> {
        let Some(change) = change.filter(|_| !self.recorded.has_git_folder) else { return Ok(()) };
        self.recorded.has_git_folder = true;
        self.event(Event::GitFolder(change.clone()))
    }

    /// Records a build (or, with `reused`, a stored build failure or a build of an earlier hunt).
    pub(crate) fn build(
        &mut self,
        store: &Store,
        record: &BuildRecord,
        commit: &CommitId,
        phase: Phase,
        reused: bool,
    ) -> Result<(), StoreError> {
        let Some((hunt, sink)) = &mut self.hunt else { return Ok(()) };
        if !self.recorded.known.insert(key(phase, commit, &record.attempt)) {
            return Ok(());
        }
        let journal = match sink {
            Sink::Journal(journal) => journal,
            Sink::Ahead { record: own, .. } => {
                if !reused {
                    self.recorded.built.insert(record.attempt.clone());
                    own.building = None;
                    own.builds.push(record.clone());
                } else if record.failure.is_none() && *commit == own.commit {
                    own.take(record);
                }
                return hunt.keep_ahead(own);
            }
        };
        let log = store.build_log(record);
        let kind = record.prepare.as_deref().map_or("build".to_owned(), |p| format!("prepare-{p}"));
        let name = format!("{kind}-{}-{}.log", commit.short(), record.attempt);
        let log = if log.exists() { hunt.adopt_log(&log, &name)? } else { String::new() };
        let done = BuildDone {
            commit: commit.clone(),
            attempt: record.attempt.clone(),
            build_key: record.build_key.to_string(),
            phase,
            wall_s: record.wall_s,
            log,
            failure: record.failure.clone(),
            reused,
            stored_at: reused.then(|| record.finished.clone()),
            commands: record.commands.clone(),
            prepare: record.prepare.clone(),
            compiler_cache: record.compiler_cache,
            failed_attempts: record.failed_attempts,
            node: record.node.clone(),
        };
        count_build(&mut self.recorded.failed_builds, &done);
        if !reused {
            self.recorded.built.insert(record.attempt.clone());
        }
        journal.append(Event::Build(done))?;
        self.git_folder(record.git_folder.as_ref())
    }

    /// Records a run that does not count, with its failure: the machine is at fault, or the run is
    /// repeated.
    pub(crate) fn record_excluded(
        &mut self,
        run: &StoredRun,
        sample: &Sample,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<(), StoreError> {
        self.run(run, sample, commit, phase)?;
        let why = sample.result.as_ref().err().map_or("", |failure| failure.detail.as_str());
        let text = format!("a run of {} did not count: {why}", commit.short());
        self.event(Event::Note { text })
    }
}
