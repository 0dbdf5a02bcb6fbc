//! What one process found out about the store's records: digests of logs, records of runs, and
//! damaged records.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::evaluation::RunRecord;

use super::recent::is_recent;

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

/// File system data that shows whether a log or a record changed. Nobody can set the change time
/// (`ctime`) by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// The identity of the file at `path`, which is no link; `None` if the system does not tell.
    pub(super) fn at(path: &Path) -> Option<Self> {
        std::fs::symlink_metadata(path).ok().map(|meta| Self::from(&meta))
    }

    /// Whether the file changed so shortly before this time that it may change again and keep its
    /// change time.
    pub(super) fn is_recent(&self, now: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.changed;
        is_recent(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds), now)
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}
