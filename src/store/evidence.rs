//! Remembers what this process has read of the store, so that it reads each file once: digests of
//! logs, records of runs, and which records are damaged.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::evaluation::RunRecord;

use super::identity::Identity;

/// How a record is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    /// The record does not parse.
    #[error("its record cannot be read ({0})")]
    Unreadable(String),
    /// The record's digest of itself differs.
    #[error("its record changed since it was stored (another digest)")]
    Changed,
    /// The system does not let this user read the record or its log.
    #[error("it may not be read ({0})")]
    Refused(String),
    /// The log is missing.
    #[error("its log is missing")]
    NoLog,
    /// The log's digest differs from the recorded one.
    #[error("its log changed since it was stored (another SHA-256)")]
    OtherLog,
    /// A file with tensors that the run wrote is missing, or has another size.
    #[error("a file with tensors that it wrote is missing or changed")]
    NoDump,
    /// The record's path does not match its own key and attempt.
    #[error("its record names another key or attempt than its path")]
    Misplaced,
    /// The control's result about this record does not parse, or has changed.
    #[error("the result of its control run cannot be read")]
    Control,
}

/// A damaged record, which no longer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damaged {
    /// Description of the record for people.
    pub what: String,
    /// How it is damaged.
    pub damage: Damage,
    /// Path of the record now.
    pub path: PathBuf,
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, damage, path } = self;
        write!(f, "{what} is damaged: {damage}; it lies in {}", path.display())
    }
}

/// What this process knows about the store's records.
#[derive(Debug, Default)]
pub(super) struct IntegrityCache {
    /// Digests of logs, so that each log is hashed only once.
    pub(super) logs: Mutex<HashMap<PathBuf, (Identity, String)>>,
    /// Whole records of runs, so that each one is parsed only once.
    pub(super) runs: Mutex<HashMap<PathBuf, (Identity, Arc<RunRecord>)>>,
    pub(super) found: Mutex<Vec<Damaged>>,
    /// Records that were reported already: a record that cannot be moved is found again.
    pub(super) told: Mutex<BTreeSet<PathBuf>>,
}
