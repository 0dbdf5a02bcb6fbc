//! Damaged records: the log is not the stored one, or a file does not parse. A damaged record is
//! renamed and reported once; its measurement is repeated when needed.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Store, StoreError, digests, read_json};

/// Extension that is appended to a damaged record's name.
pub(super) const ASIDE: &str = "damaged";

/// How a record is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The record does not parse.
    #[error("its record cannot be read ({0})")]
    Unreadable(String),
    /// The log is missing.
    #[error("its log is missing")]
    NoLog,
    /// The log's digest differs from the recorded one.
    #[error("its log is not the one that was kept (another SHA-256)")]
    OtherLog,
    /// The record's path does not match its own key and attempt.
    #[error("its record belongs elsewhere")]
    Misplaced,
    /// The control's result about this record does not parse.
    #[error("what the control said of it cannot be read")]
    Control,
}

/// A damaged record, which no longer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
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
pub(super) struct Evidence {
    /// Digests of logs, so that each log is hashed only once.
    logs: Mutex<HashMap<PathBuf, (Identity, String)>>,
    found: Mutex<Vec<Damaged>>,
    /// Records that were reported already: a record that cannot be moved is found again.
    told: Mutex<BTreeSet<PathBuf>>,
}

/// File system data that shows whether a log changed. Nobody can set the change time (`ctime`) by
/// hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
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

impl Store {
    /// The damaged records found since the last call.
    pub fn take_damaged(&self) -> Vec<Damaged> {
        std::mem::take(&mut *held(&self.evidence.found))
    }

    /// SHA-256 of a log's content, for its record.
    pub(super) fn log_digest(&self, log: &Path) -> Result<String, StoreError> {
        let meta = std::fs::metadata(log).map_err(StoreError::at(log))?;
        let identity = Identity::from(&meta);
        if let Some((known, sha256)) = held(&self.evidence.logs).get(log)
            && *known == identity
        {
            return Ok(sha256.clone());
        }
        let sha256 = digests::digest(log)?;
        held(&self.evidence.logs).insert(log.to_owned(), (identity, sha256.clone()));
        Ok(sha256)
    }

    /// How a log is damaged, if at all; `kept` is the recorded digest, which old records lack.
    pub(super) fn log_damage(
        &self,
        log: &Path,
        kept: Option<&str>,
    ) -> Result<Option<Damage>, StoreError> {
        let found = match kept {
            None if log.is_file() => return Ok(None),
            None => return Ok(Some(Damage::NoLog)),
            Some(_) => self.log_digest(log),
        };
        match found {
            Ok(found) => Ok((Some(found.as_str()) != kept).then_some(Damage::OtherLog)),
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Ok(Some(Damage::NoLog))
            }
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::IsADirectory => {
                Ok(Some(Damage::OtherLog))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a record; `None` if it is missing, or does not parse and was set aside.
    pub(super) fn record<T: serde::de::DeserializeOwned>(
        &self,
        path: &Path,
        what: &str,
    ) -> Result<Option<T>, StoreError> {
        match read_record(path)? {
            Some(Ok(record)) => Ok(Some(record)),
            Some(Err(damage)) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                self.set_aside(path, format!("{what} {name}"), damage);
                Ok(None)
            }
            None => Ok(None),
        }
    }

    /// Renames a record and its log so that they no longer count; a store opened only for reading
    /// renames nothing. Each process reports a record once.
    pub(super) fn set_aside(&self, record: &Path, what: String, damage: Damage) {
        let mut path = record.to_owned();
        if self.in_use.is_some() {
            match move_aside(record) {
                Ok(aside) => path = aside,
                Err(error) if error.kind() == ErrorKind::NotFound => return,
                // On a read-only disk the record stays and is skipped each time.
                Err(_) => {}
            }
            // A missing log is part of the damage.
            move_aside(&record.with_extension("log")).ok();
        }
        if held(&self.evidence.told).insert(record.to_owned()) {
            held(&self.evidence.found).push(Damaged { what, damage, path });
        }
    }
}

/// Reads a record, or says how it is damaged; `None` if it is missing.
pub(super) fn read_record<T: serde::de::DeserializeOwned>(
    path: &Path,
) -> Result<Option<Result<T, Damage>>, StoreError> {
    match read_json(path) {
        Ok(record) => Ok(Some(Ok(record))),
        Err(StoreError::Corrupt { reason, .. }) => Ok(Some(Err(Damage::Unreadable(reason)))),
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::IsADirectory => {
            Ok(Some(Err(Damage::Unreadable(source.to_string()))))
        }
        Err(error) => Err(error),
    }
}

fn move_aside(path: &Path) -> std::io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ASIDE);
    let aside = PathBuf::from(name);
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

/// Locks a mutex. A panic of another thread leaves no partial data, so poison is ignored.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
