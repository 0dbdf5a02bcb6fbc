//! Runs: each a record beside its log, append-only.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::RunRecord;

use super::{RunKey, Store, StoreError, publish, publish_file, read_all, read_json};

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

    /// Publishes a run: its (already synced) log first, then the record, which makes it count.
    pub fn put_run(&self, record: &RunRecord, pending_log: &Path) -> Result<StoredRun, StoreError> {
        let folder = self.keyed("runs", &record.run_key);
        let log = folder.join(format!("{}.log", record.attempt));
        publish_file(pending_log, &log)?;
        let bytes = serde_json::to_vec_pretty(record).expect("a record is plain data");
        let published = publish(&folder.join(format!("{}.json", record.attempt)), &bytes);
        if published.is_err() {
            // On a full disk it would only be in the way.
            std::fs::remove_file(&log).ok();
        }
        published?;
        Ok(StoredRun { record: record.clone(), log, control: None })
    }

    /// Every run under a key, oldest first. Runs that a control proved to be the world's fault
    /// and those that are kept apart are left out: they count for nothing.
    pub fn runs(&self, key: &RunKey) -> Result<Vec<StoredRun>, StoreError> {
        let folder = self.keyed("runs", key.as_str());
        let mut runs = Vec::new();
        for record in read_all::<RunRecord>(&folder)? {
            if record.apart().is_some() {
                continue;
            }
            let log = folder.join(format!("{}.log", record.attempt));
            let control = self.control(&record.attempt)?;
            if control.as_ref().is_none_or(|c| c.worked) {
                runs.push(StoredRun { record, log, control });
            }
        }
        Ok(runs)
    }

    /// One run by its key and attempt.
    pub fn run(&self, key: &str, attempt: &str) -> Result<StoredRun, StoreError> {
        let folder = self.keyed("runs", key);
        let record = read_json(&folder.join(format!("{attempt}.json")))?;
        let log = folder.join(format!("{attempt}.log"));
        Ok(StoredRun { record, log, control: self.control(attempt)? })
    }

    /// Every run whose record is wanted, oldest first, those included that count for nothing.
    pub fn runs_where(
        &self,
        is_wanted: impl Fn(&RunRecord) -> bool,
    ) -> Result<Vec<StoredRun>, StoreError> {
        let mut found = Vec::new();
        for attempt in self.attempts("runs")? {
            let Some(path) = attempt.record else { continue };
            let record: RunRecord = read_json(&path)?;
            if is_wanted(&record) {
                let control = self.control(&record.attempt)?;
                found.push(StoredRun { log: path.with_extension("log"), record, control });
            }
        }
        found.sort_by(|a, b| a.record.started.cmp(&b.record.started));
        Ok(found)
    }

    /// Keeps what the control said.
    pub fn put_control(&self, control: &Control) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec_pretty(control).expect("a record is plain data");
        publish(&self.control_path(&control.about), &bytes)
    }

    /// What the control said of a failed run or build.
    pub(super) fn control(&self, attempt: &str) -> Result<Option<Control>, StoreError> {
        let path = self.control_path(attempt);
        if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
    }

    fn control_path(&self, attempt: &str) -> PathBuf {
        self.root().join("controls").join(format!("{attempt}.json"))
    }
}
