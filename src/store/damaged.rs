//! Records that cannot be believed: a log that is not the one that was kept, or a file that does
//! not parse. Each is set aside under another name and told once; what it said is measured again.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Store, StoreError, digests, read_json};

/// What a record that was set aside is called from then on: its name with this behind it.
pub(super) const ASIDE: &str = "damaged";

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It does not parse.
    #[error("its record cannot be read ({0})")]
    Unreadable(String),
    /// Its log is gone.
    #[error("its log is missing")]
    NoLog,
    /// Its log does not have the digest that was kept.
    #[error("its log is not the one that was kept (another SHA-256)")]
    OtherLog,
    /// The record lies where another one belongs.
    #[error("its record belongs elsewhere")]
    Misplaced,
    /// What the control said of it cannot be read.
    #[error("what the control said of it cannot be read")]
    Control,
}

/// A record that counts for nothing any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// What it was a record of, as people know it.
    pub what: String,
    /// What is wrong.
    pub damage: Damage,
    /// Where it lies now.
    pub path: PathBuf,
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, damage, path } = self;
        write!(f, "{what} is damaged: {damage}; it lies in {}", path.display())
    }
}

/// What this process knows of the store's records.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Digests of logs, so that each is read for it only once.
    logs: Mutex<HashMap<PathBuf, (Identity, String)>>,
    found: Mutex<Vec<Damaged>>,
    /// The records that were told, where they cannot be moved away.
    told: Mutex<BTreeSet<PathBuf>>,
}

/// What the file system says of a log. The time of change (`ctime`) cannot be set by hand.
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
    /// The records that were found damaged since this was last asked.
    pub fn take_damaged(&self) -> Vec<Damaged> {
        std::mem::take(&mut *held(&self.evidence.found))
    }

    /// SHA-256 of a log's content, as kept in its record.
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

    /// What is wrong with a log; `kept` is its digest, which records of older versions lack.
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

    /// Reads a record; `None` where it is not there any more, or does not parse and was set aside.
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

    /// Moves a record away, and its log where it has one, so that it counts for nothing; whoever
    /// only reads leaves it where it is. It is told once, by the process that moved it.
    pub(super) fn set_aside(&self, record: &Path, what: String, damage: Damage) {
        let mut path = record.to_owned();
        if self.in_use.is_some() {
            match move_aside(record) {
                Ok(aside) => path = aside,
                Err(error) if error.kind() == ErrorKind::NotFound => return,
                // A disk that cannot be written to: it is left out each time.
                Err(_) => {}
            }
            // One that is gone is part of the damage.
            move_aside(&record.with_extension("log")).ok();
        }
        if held(&self.evidence.told).insert(record.to_owned()) {
            held(&self.evidence.found).push(Damaged { what, damage, path });
        }
    }
}

/// Reads a record, or says what is wrong with it; `None` where it is gone.
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

/// A panic of another thread leaves nothing half here.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
