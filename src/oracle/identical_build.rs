//! If two builds have identical binaries, the first build's result is reused for the second.

use crate::evaluation::{Phase, RunRecord};
use crate::store::journal::Event;
use crate::store::{StoreError, StoredRun, attempt_name};

use super::derive::Derived;
use super::launch::Launch;
use super::loaded::SlotContents;
use super::parts::{Oracle, Placed};
use super::{OracleError, Request};

impl Oracle {
    /// Reuses a run of another commit's build if that run's own files are identical in this slot,
    /// both slots have the same file names, and both runs have the same settings. The reused run
    /// is stored under this commit's key, with the original log. `None` if the request forbids it,
    /// and for exclusive measures, where times matter.
    pub(super) fn reuse_identical_build(
        &mut self,
        request: Request<'_>,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<Option<(StoredRun, Derived)>, OracleError> {
        let Launch { commit, recipe, measure, key, phase, .. } = launch;
        if !request.reuse_identical || measure.is_exclusive() {
            return Ok(None);
        }
        let Some(twin) = self.find_twin(launch, placed)? else { return Ok(None) };
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
            ahead: self.recorder.is_ahead(),
            ..twin.record.clone()
        };
        let run = self.store.put_run(&record, pending.path())?;
        let files = match twin.record.loaded.map_or(0, |loaded| loaded.own.len()) {
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

    fn find_twin(
        &self,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<Option<StoredRun>, OracleError> {
        let Launch { commit, recipe, measure, .. } = launch;
        // What a run loads from there is not listed.
        if placed.slot.has_folders_beside() {
            return Ok(None);
        }
        let settings = self.recipes.settings_key(commit, recipe, measure);
        let here = SlotContents::in_slot(&placed.slot);
        for other in self.recorder.measured() {
            let theirs = self.recipes.at(other)?;
            let Some(their_measure) = theirs.measure(&measure.name) else { continue };
            if self.recipes.settings_key(other, &theirs, their_measure) != settings {
                continue;
            }
            let key = self.recipes.run_key_of(other, &theirs, their_measure)?;
            // Runs of this same build were looked up before.
            if key == *launch.key {
                continue;
            }
            for run in self.store.runs(&key)? {
                let Some(loaded) = &run.record.loaded else { continue };
                let is_fit = run.record.ended.is_success()
                    && run.record.phase != Phase::Ruler
                    && !self.stored.is_outdated(&run.record, self.recorder.hunt())
                    && !self.stored.is_of_other_libraries(&run, &self.store)?;
                if is_fit && here.would_load(loaded)? {
                    return Ok(Some(run));
                }
            }
        }
        Ok(None)
    }
}
