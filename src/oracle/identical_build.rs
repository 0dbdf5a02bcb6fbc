//! If two builds have identical binaries, the first build's result is reused for the second. A
//! program may read more of its build than what is seen of it: it asks for a file's size, say. If
//! runs with identical files show different results, nothing is reused any more.

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, Loaded, Phase, Reading, RunRecord};
use crate::store::journal::Event;
use crate::store::{StoreError, StoredRun, attempt_name};

use super::derive::Derived;
use super::launch::Launch;
use super::loaded::SlotContents;
use super::parts::{Oracle, Placed};
use super::run::put_back;
use super::{OracleError, Request};

impl Oracle {
    /// Reuses a run of another commit's build if that run's own files are identical in this slot,
    /// both slots have the same file names, and both runs have the same settings. The reused run
    /// is stored under this commit's key, with the original log. `None` if the request forbids it,
    /// for exclusive measures, where times matter, and if runs with these files differ.
    pub(super) fn reuse_identical_build(
        &mut self,
        request: Request<'_>,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<Option<(StoredRun, Derived)>, OracleError> {
        let Launch { commit, recipe, measure, key, phase, .. } = launch;
        // What a run loads from folders beside the build is not listed.
        if !request.reuse_identical || measure.is_exclusive() || placed.slot.has_folders_beside() {
            return Ok(None);
        }
        let here = SlotContents::in_slot(&placed.slot);
        let alike = self.runs_alike(commit, recipe, measure, &|loaded| here.would_load(loaded))?;
        // Runs of this same build were looked up before.
        let twin = alike.iter().find(|run| run.record.run_key != key.as_str());
        let Some(twin) = twin else { return Ok(None) };
        if self.differ(&alike, recipe, measure)? {
            let text = format!(
                "runs of {} with identical files of the commit differ: it reads something that is \
                 not seen, such as a file's size, so no result is reused for these files",
                measure.name
            );
            self.recorder.note_once(text)?;
            return Ok(None);
        }
        let put_back = match &twin.record.loaded {
            Some(loaded) => put_back(&self.store, &placed.stamp, loaded)?,
            None => Vec::new(),
        };
        let attempt = attempt_name();
        let pending = self.store.pending_log(&attempt)?;
        std::fs::copy(&twin.log, pending.path()).map_err(StoreError::at(&twin.log))?;
        let record = RunRecord {
            attempt,
            run_key: key.to_string(),
            commit: commit.clone(),
            phase,
            built: placed.stamp.finished.clone(),
            same_as: Some(twin.record.attempt.clone()),
            same_commit: Some(twin.record.commit.clone()),
            ahead: self.recorder.is_ahead(),
            put_back,
            ..RunRecord::clone(&twin.record)
        };
        let run = self.store.put_run(&record, pending.path())?;
        let files = match twin.record.loaded.as_ref().map_or(0, |loaded| loaded.own.len()) {
            1 => "its only file is identical to that".to_owned(),
            many => format!("its {many} files are identical to those"),
        };
        let text = format!(
            "{} was not run for {}: {files} of {}, whose result is reused",
            commit.short(),
            measure.name,
            twin.record.commit.short()
        );
        self.recorder.event(Event::Note { text })?;
        let reference = self.reference(measure, recipe)?;
        let derived = self.derived(&run, measure, recipe, reference.as_ref())?;
        Ok(Some((run, derived)))
    }

    /// Whether a stored run must not count: its result was reused from another build, and meanwhile
    /// two runs with the same files showed different results.
    pub(super) fn is_refuted(
        &self,
        run: &StoredRun,
        commit: &CommitId,
        recipe: &Config,
        measure: &Measure,
    ) -> Result<bool, OracleError> {
        let RunRecord { same_as: Some(_), loaded: Some(files), attempt, .. } = run.record.as_ref()
        else {
            return Ok(false);
        };
        let known = self.recorder.known_count();
        if let Some((checked_at, answer)) = self.stored.refuted.borrow().get(attempt)
            && *checked_at == known
        {
            return Ok(*answer);
        }
        let alike =
            self.runs_alike(commit, recipe, measure, &|loaded| Ok(are_same(files, loaded)))?;
        let answer = self.differ(&alike, recipe, measure)?;
        self.stored.refuted.borrow_mut().insert(attempt.clone(), (known, answer));
        Ok(answer)
    }

    /// The runs of this hunt's commits with the same settings, and with files for which `is_alike`
    /// holds.
    fn runs_alike(
        &self,
        commit: &CommitId,
        recipe: &Config,
        measure: &Measure,
        is_alike: &dyn Fn(&Loaded) -> Result<bool, StoreError>,
    ) -> Result<Vec<StoredRun>, OracleError> {
        let settings = self.recipes.settings_key(commit, recipe, measure);
        let mut alike: Vec<StoredRun> = Vec::new();
        for other in self.recorder.measured() {
            let theirs = self.recipes.at(other)?;
            let Some(their_measure) = theirs.measure(&measure.name) else { continue };
            if self.recipes.settings_key(other, &theirs, their_measure) != settings {
                continue;
            }
            let key = self.recipes.run_key_of(other, &theirs, their_measure)?;
            for run in self.store.runs(&key)? {
                let Some(loaded) = &run.record.loaded else { continue };
                let is_fit = run.record.ended.is_success()
                    && run.record.phase != Phase::Ruler
                    && !self.stored.is_outdated(&run.record, self.recorder.hunt())
                    && !self.stored.is_of_other_libraries(&run, &self.store)?;
                // Most runs have files that were compared already.
                let is_known = |one: &StoredRun| {
                    one.record.loaded.as_ref().is_some_and(|files| are_same(files, loaded))
                };
                if is_fit && (alike.iter().any(is_known) || is_alike(loaded)?) {
                    alike.push(run);
                }
            }
        }
        Ok(alike)
    }

    /// Whether runs differ in what they print. Reused results do not count.
    fn differ(
        &self,
        runs: &[StoredRun],
        recipe: &Config,
        measure: &Measure,
    ) -> Result<bool, OracleError> {
        let reference = self.reference(measure, recipe)?;
        let mut first: Option<Reading> = None;
        for run in runs.iter().filter(|run| run.record.same_as.is_none()) {
            let derived = self.derived(run, measure, recipe, reference.as_ref())?;
            let Ok(reading) = derived.sample.result else { continue };
            if first.as_ref().is_some_and(|first| !first.same_bits(&reading)) {
                return Ok(true);
            }
            first = first.or(Some(reading));
        }
        Ok(false)
    }
}

/// Whether two runs loaded identical files, from builds with the same file names.
fn are_same(one: &Loaded, other: &Loaded) -> bool {
    one.is_whole && other.is_whole && one.names == other.names && one.own == other.own
}
