//! Runs: each a record beside its log, append-only.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::RunRecord;

use super::damaged::read_record;
use super::{Damage, RunKey, Store, StoreError, publish, publish_file, record_files};

/// A run in the store.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// The fact.
    pub record: RunRecord,
    /// Its output.
    pub log: PathBuf,
    /// What the control said of it, where it failed and whose fault was not plain.
    pub control: Option<Control>,
}

/// A log under way. What is not published by its end goes: where the disk is full, each try
/// would leave less room for the next one.
#[derive(Debug)]
pub struct PendingLog(PathBuf);

impl PendingLog {
    /// The log; what belongs to it beside it has the same name with another ending.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PendingLog {
    fn drop(&mut self) {
        for ending in ["log", "part", "aside"] {
            std::fs::remove_file(self.0.with_extension(ending)).ok();
        }
    }
}

/// The good endpoint's kept build was run right after a failure, to tell whose fault it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The attempt it was asked about.
    pub about: String,
    /// The control run itself.
    pub attempt: String,
    /// It worked: the failure is the commit's. It failed too: the world's, and the failed run
    /// counts for nothing.
    pub worked: bool,
}

impl Store {
    /// Where a run's log is written before the run is published.
    pub fn pending_log(&self, attempt: &str) -> Result<PendingLog, StoreError> {
        let folder = self.root().join("pending");
        std::fs::create_dir_all(&folder).map_err(StoreError::at(&folder))?;
        Ok(PendingLog(folder.join(format!("{attempt}.log"))))
    }

    /// Publishes a run: its (already synced) log first, then the record, which makes it count and
    /// has the log's digest.
    pub fn put_run(&self, record: &RunRecord, pending_log: &Path) -> Result<StoredRun, StoreError> {
        let folder = self.keyed("runs", &record.run_key);
        let log = folder.join(format!("{}.log", record.attempt));
        publish_file(pending_log, &log)?;
        let log_sha256 = Some(self.log_digest(&log)?);
        let record = RunRecord { log_sha256, ..record.clone() };
        let bytes = serde_json::to_vec_pretty(&record).expect("a record is plain data");
        let published = publish(&folder.join(format!("{}.json", record.attempt)), &bytes);
        if published.is_err() {
            // On a full disk it would only be in the way.
            std::fs::remove_file(&log).ok();
        }
        published?;
        Ok(StoredRun { record, log, control: None })
    }

    /// Every run under a key, oldest first. Runs that a control proved to be the world's fault
    /// and those that are kept apart are left out: they count for nothing. So are damaged ones,
    /// which are set aside.
    pub fn runs(&self, key: &RunKey) -> Result<Vec<StoredRun>, StoreError> {
        let mut runs = Vec::new();
        for path in record_files(&self.keyed("runs", key.as_str()))? {
            let Some(record) = self.record::<RunRecord>(&path, "the run")? else { continue };
            if record.apart().is_some() {
                continue;
            }
            let Some(run) = self.believed(&path, record)? else { continue };
            if run.control.as_ref().is_none_or(|c| c.worked) {
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// One run by its key and attempt, unless it is damaged.
    pub fn run(&self, key: &str, attempt: &str) -> Result<Option<StoredRun>, StoreError> {
        let path = self.keyed("runs", key).join(format!("{attempt}.json"));
        match self.record(&path, "the run")? {
            Some(record) => self.believed(&path, record),
            None => Ok(None),
        }
    }

    /// Every run whose record is wanted, oldest first, those included that count for nothing, but
    /// not those that are damaged.
    pub fn runs_where(
        &self,
        is_wanted: impl Fn(&RunRecord) -> bool,
    ) -> Result<Vec<StoredRun>, StoreError> {
        let mut found = Vec::new();
        for attempt in self.attempts("runs")? {
            let Some(path) = attempt.record else { continue };
            let Some(record) = self.record::<RunRecord>(&path, "the run")? else { continue };
            if is_wanted(&record) {
                found.extend(self.believed(&path, record)?);
            }
        }
        found.sort_by(|a, b| a.record.started.cmp(&b.record.started));
        Ok(found)
    }

    /// The run of a record that could be read, unless something else about it is damaged.
    fn believed(&self, path: &Path, record: RunRecord) -> Result<Option<StoredRun>, StoreError> {
        let log = path.with_extension("log");
        let (control, mut damage) = self.control(&record.attempt)?;
        if !is_in_place(path, &record.run_key, &record.attempt) {
            damage = Some(Damage::Misplaced);
        } else if damage.is_none() {
            damage = self.log_damage(&log, record.log_sha256.as_deref())?;
        }
        let Some(damage) = damage else { return Ok(Some(StoredRun { record, log, control })) };
        let RunRecord { measure, commit, started, .. } = &record;
        let what = format!("the run of {measure} at {}, begun {started},", commit.short());
        self.set_aside(path, what, damage);
        Ok(None)
    }

    /// Keeps what the control said.
    pub fn put_control(&self, control: &Control) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec_pretty(control).expect("a record is plain data");
        publish(&self.control_path(&control.about), &bytes)
    }

    /// What the control said of a failed run or build, or that this cannot be read. Then nobody
    /// knows whether the failure counts.
    pub(super) fn control(
        &self,
        attempt: &str,
    ) -> Result<(Option<Control>, Option<Damage>), StoreError> {
        Ok(match read_record(&self.control_path(attempt))? {
            Some(Ok(control)) => (Some(control), None),
            Some(Err(_)) => (None, Some(Damage::Control)),
            None => (None, None),
        })
    }

    fn control_path(&self, attempt: &str) -> PathBuf {
        self.root().join("controls").join(format!("{attempt}.json"))
    }
}

/// Whether a record lies under its own key and name.
pub(super) fn is_in_place(path: &Path, key: &str, attempt: &str) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name == key) && path.file_stem().is_some_and(|name| name == attempt)
}
