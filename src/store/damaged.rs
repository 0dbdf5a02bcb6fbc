//! Damaged records: the record does not parse, has changed or lies in the wrong folder, or its log
//! is missing or changed. A damaged record is renamed and reported once, and its measurement is
//! repeated when needed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::evaluation::RunRecord;
use crate::files;
use crate::process::log_bytes;

use super::identity::Identity;
use super::record_files::{Unusable, parse_record};
use super::{Damage, Damaged, Store, StoreError, hex};

/// Extension that is appended to a damaged record's name.
pub(super) const ASIDE: &str = "damaged";

impl Store {
    /// The damaged records found since the last call.
    pub(crate) fn take_damaged(&self) -> Vec<Damaged> {
        std::mem::take(&mut *held(&self.evidence.found))
    }

    /// SHA-256 of a log's text, before compression. The log's record stores it.
    pub(super) fn log_digest(&self, log: &Path) -> Result<String, StoreError> {
        let meta = std::fs::symlink_metadata(log).map_err(StoreError::at(log))?;
        let identity = Identity::from(&meta);
        if let Some((known, sha256)) = held(&self.evidence.logs).get(log)
            && *known == identity
        {
            return Ok(sha256.clone());
        }
        let sha256 = hex(&Sha256::digest(log_bytes(log).map_err(StoreError::at(log))?));
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
            None if files::open(log).is_ok() => return Ok(None),
            None => return Ok(Some(Damage::NoLog)),
            Some(_) => self.log_digest(log),
        };
        match found {
            Ok(found) => Ok((Some(found.as_str()) != kept).then_some(Damage::OtherLog)),
            Err(StoreError::Io { source, .. }) => Ok(Some(match source.kind() {
                ErrorKind::NotFound => Damage::NoLog,
                ErrorKind::InvalidData => Damage::OtherLog,
                _ => Damage::Refused(source.to_string()),
            })),
            Err(error) => Err(error),
        }
    }

    /// Reads a record; `None` if it is missing, or does not parse and was set aside.
    pub(super) fn record<T: serde::de::DeserializeOwned>(
        &self,
        path: &Path,
        what: &str,
    ) -> Option<T> {
        match read_record(path) {
            Some(Ok(record)) => Some(record),
            Some(Err(damage)) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                self.set_aside(path, format!("{what} {name}"), damage);
                None
            }
            None => None,
        }
    }

    /// Reads the record of a run like [`Self::record`]. A record that this process has found whole
    /// is read again only if its file has changed.
    pub(super) fn run_record(&self, path: &Path) -> Option<Arc<RunRecord>> {
        let now = SystemTime::now();
        let before = Identity::at(path);
        if let Some((known, record)) = held(&self.evidence.runs).get(path)
            && Some(*known) == before
        {
            return Some(Arc::clone(record));
        }
        let record = Arc::new(self.record::<RunRecord>(path, "the run")?);
        if let Some(identity) = before
            && !identity.is_recent(now)
            && Identity::at(path) == before
        {
            let known = (identity, Arc::clone(&record));
            held(&self.evidence.runs).insert(path.to_owned(), known);
        }
        Some(record)
    }

    /// Renames a record and its log so that they no longer count; a store opened only for reading
    /// renames nothing. Each process reports a record once.
    pub(super) fn set_aside(&self, record: &Path, what: String, damage: Damage) {
        let mut path = record.to_owned();
        // A file that the system does not let this user read may be undamaged: another user may own
        // it.
        if self.in_use.is_some() && !matches!(damage, Damage::Refused(_)) {
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
) -> Option<Result<T, Damage>> {
    match files::read(path) {
        Ok(bytes) => Some(parse_record(&bytes).map_err(|unusable| match unusable {
            Unusable::Unreadable(reason) => Damage::Unreadable(reason),
            Unusable::Changed => Damage::Changed,
        })),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => None,
            ErrorKind::InvalidData => Some(Err(Damage::Unreadable(error.to_string()))),
            _ => Some(Err(Damage::Refused(error.to_string()))),
        },
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
