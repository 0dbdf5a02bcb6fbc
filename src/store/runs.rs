//! Stored runs: a record beside its log. Runs are added, never changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::evaluation::RunRecord;

use super::damaged::read_record;
use super::record_files::{publish_record, record_files};
use super::{Damage, RunKey, Store, StoreError, publish_log};

/// A run in the store.
#[derive(Clone, Debug)]
pub(crate) struct StoredRun {
    /// The run's data, shared with what the store remembers.
    pub record: Arc<RunRecord>,
    /// Path of the run's output.
    pub log: PathBuf,
    /// The control run's result, if the run failed and the machine may be the cause.
    pub control: Option<Control>,
}

/// A log before its publication. Drop removes an unpublished log: on a full disk, each try would
/// otherwise leave another file.
#[derive(Debug)]
pub(crate) struct PendingLog(PathBuf);

impl PendingLog {
    /// Path of the log. Companion files have the same name with another extension.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PendingLog {
    fn drop(&mut self) {
        for ending in ["log", "part", "aside", "zst"] {
            std::fs::remove_file(self.0.with_extension(ending)).ok();
        }
    }
}

/// Result of a control: the good endpoint was run or built again right after a failure, to tell
/// whether the commit or the machine is at fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Control {
    /// Name of the failed attempt.
    pub about: String,
    /// Name of the control's own attempt.
    pub attempt: String,
    /// True: the failure is the commit's fault. False: the good commit fails too, so the machine
    /// is at fault and the failed attempt does not count.
    pub worked: bool,
}

impl Store {
    /// The file into which this process writes the output of its current build or run; `None` if
    /// there is none. A build writes each command's output into a `part` first.
    pub(crate) fn output_now(&self, process: u32) -> Option<PathBuf> {
        let files = std::fs::read_dir(self.root().join("pending")).ok()?;
        let own = format!("-{process:x}-");
        let is_own = |path: &PathBuf| {
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
            let is_output = path.extension().is_some_and(|end| end == "log" || end == "part");
            is_output && name.is_some_and(|name| name.contains(&own))
        };
        let own = files.filter_map(|file| Some(file.ok()?.path())).filter(is_own);
        // Names begin with the time; `part` is after `log`.
        own.max()
    }

    /// Path for a log until its run is published.
    pub(crate) fn pending_log(&self, attempt: &str) -> Result<PendingLog, StoreError> {
        let folder = self.root().join("pending");
        std::fs::create_dir_all(&folder).map_err(StoreError::at(&folder))?;
        Ok(PendingLog(folder.join(format!("{attempt}.log"))))
    }

    /// Publishes a run: first its log, which must be synced already, then the record with the
    /// log's digest. Only the record makes the run count.
    pub(crate) fn put_run(
        &self,
        record: &RunRecord,
        pending_log: &Path,
    ) -> Result<StoredRun, StoreError> {
        let folder = self.keyed("runs", &record.run_key);
        let log = folder.join(format!("{}.log", record.attempt));
        publish_log(pending_log, &log)?;
        let log_sha256 = Some(self.log_digest(&log)?);
        let record = RunRecord { log_sha256, ..record.clone() };
        let published = publish_record(&folder.join(format!("{}.json", record.attempt)), &record);
        if published.is_err() {
            // A log without a record is never read.
            std::fs::remove_file(&log).ok();
        }
        published?;
        Ok(StoredRun { record: Arc::new(record), log, control: None })
    }

    /// All runs under a key that count, oldest first. Leaves out excluded runs, runs that failed
    /// by the machine's fault, and damaged runs, which are set aside.
    pub(crate) fn runs(&self, key: &RunKey) -> Result<Vec<StoredRun>, StoreError> {
        let mut runs = Vec::new();
        for path in record_files(&self.keyed("runs", key.as_str()))? {
            let Some(record) = self.run_record(&path) else { continue };
            if record.exclusion_reason().is_some() {
                continue;
            }
            let Some(run) = self.if_undamaged(&path, record)? else { continue };
            if run.control.as_ref().is_none_or(|c| c.worked) {
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// One run by its key and attempt, even if it does not count; `None` if it is missing or
    /// damaged.
    pub(crate) fn run(&self, key: &str, attempt: &str) -> Result<Option<StoredRun>, StoreError> {
        let path = self.keyed("runs", key).join(format!("{attempt}.json"));
        match self.run_record(&path) {
            Some(record) => self.if_undamaged(&path, record),
            None => Ok(None),
        }
    }

    /// All runs whose record `is_wanted` accepts, oldest first. Includes runs that do not count,
    /// but no damaged ones.
    pub(crate) fn runs_where(
        &self,
        is_wanted: impl Fn(&RunRecord) -> bool,
    ) -> Result<Vec<StoredRun>, StoreError> {
        let mut found = Vec::new();
        for attempt in self.attempts("runs")? {
            let Some(path) = attempt.record else { continue };
            let Some(record) = self.run_record(&path) else { continue };
            if is_wanted(&record) {
                found.extend(self.if_undamaged(&path, record)?);
            }
        }
        found.sort_by(|a, b| a.record.started.cmp(&b.record.started));
        Ok(found)
    }

    /// The run of a readable record; `None` if its log, dump, control or path is wrong.
    fn if_undamaged(
        &self,
        path: &Path,
        record: Arc<RunRecord>,
    ) -> Result<Option<StoredRun>, StoreError> {
        let log = path.with_extension("log");
        let (control, mut damage) = self.control(&record.attempt);
        if !is_in_place(path, &record.run_key, &record.attempt) {
            damage = Some(Damage::Misplaced);
        } else if damage.is_none() {
            damage = self.log_damage(&log, record.log_sha256.as_deref())?;
            damage = damage.or_else(|| self.dumps_damage(&record));
        }
        let Some(damage) = damage else { return Ok(Some(StoredRun { record, log, control })) };
        let RunRecord { measure, commit, started, .. } = record.as_ref();
        let what = format!("the run of {measure} at {}, begun {started},", commit.short());
        self.set_aside(path, what, damage);
        Ok(None)
    }

    /// Stores a control's result.
    pub(crate) fn put_control(&self, control: &Control) -> Result<(), StoreError> {
        publish_record(&self.control_path(&control.about), control)
    }

    /// The control's result about a failed attempt, or the damage if the result's file does not
    /// parse or has changed. With such damage nobody knows whether the failure counts.
    pub(super) fn control(&self, attempt: &str) -> (Option<Control>, Option<Damage>) {
        match read_record(&self.control_path(attempt)) {
            Some(Ok(control)) => (Some(control), None),
            Some(Err(_)) => (None, Some(Damage::Control)),
            None => (None, None),
        }
    }

    fn control_path(&self, attempt: &str) -> PathBuf {
        self.root().join("controls").join(format!("{attempt}.json"))
    }
}

/// Whether a record's path matches its own key and attempt.
pub(super) fn is_in_place(path: &Path, key: &str, attempt: &str) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name == key) && path.file_stem().is_some_and(|name| name == attempt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::attempt_name;

    #[test]
    fn the_output_of_a_process_is_that_of_its_latest_attempt() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let own = std::process::id();
        assert_eq!(store.output_now(own), None);
        let begin = |name: &str| {
            let log = store.pending_log(name).unwrap();
            std::fs::write(log.path(), "").unwrap();
            log
        };
        let other = begin("9999999999999999-0-0");
        let older = begin(&attempt_name());
        std::thread::sleep(std::time::Duration::from_millis(1));
        let newer = begin(&attempt_name());
        assert_eq!(store.output_now(own).as_deref(), Some(newer.path()));
        let part = newer.path().with_extension("part");
        std::fs::write(&part, "").unwrap();
        std::fs::write(newer.path().with_extension("aside"), "").unwrap();
        assert_eq!(store.output_now(own), Some(part.clone()));
        std::fs::remove_file(part).unwrap();
        drop(newer);
        assert_eq!(store.output_now(own).as_deref(), Some(older.path()));
        drop((older, other));
    }
}
