//! The lock that the driver of a hunt holds.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};

use crate::files;

use super::record_files::read_if_there;
use super::{Holder, HuntDir, StoreError};

/// The driver's lock on a hunt; the system frees it when the driver dies.
#[derive(Debug)]
pub(crate) struct HuntLock(#[expect(dead_code, reason = "held, never read")] File);

/// Who drives a hunt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// No process: the lock is free.
    Nobody,
    /// This process of this machine holds the lock.
    Process(Holder),
    /// Some process holds the lock. The hunt's folder names this process, but no process of this
    /// machine has its PID and start time.
    Another(Holder),
    /// Some process holds the lock; the hunt's folder names no PID.
    Unnamed,
}

impl HuntDir {
    /// Takes the driver's lock; [`StoreError::Locked`] if another process holds it.
    pub(crate) fn lock(&self) -> Result<HuntLock, StoreError> {
        self.check_folders()?;
        // `is_driven` holds the lock for an instant, so one failed try proves nothing.
        for _ in 0..20 {
            if let Some(lock) = self.try_lock()? {
                let path = self.path().join("driver");
                let written = files::create(&path)
                    .and_then(|mut file| file.write_all(Holder::own().line().as_bytes()));
                written.map_err(StoreError::at(&path))?;
                return Ok(lock);
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        Err(self.locked())
    }

    /// The error of a hunt that another process drives.
    pub(crate) fn locked(&self) -> StoreError {
        // A file that cannot be read names nobody; the hunt is driven all the same.
        StoreError::Locked { hunt: self.id().to_owned(), by: self.holder().ok().flatten() }
    }

    /// Who drives the hunt.
    pub(crate) fn driver(&self) -> Result<Driver, StoreError> {
        if !self.is_driven()? {
            return Ok(Driver::Nobody);
        }
        Ok(match self.holder()? {
            None => Driver::Unnamed,
            Some(holder) if holder.is_here() => Driver::Process(holder),
            Some(holder) => Driver::Another(holder),
        })
    }

    /// The process that took the lock last, whether or not it lives; `None` if the file names none.
    pub(crate) fn holder(&self) -> Result<Option<Holder>, StoreError> {
        let path = self.path().join("driver");
        let bytes = read_if_there(&path)?.unwrap_or_default();
        Ok(Holder::read(&String::from_utf8_lossy(&bytes)))
    }

    fn try_lock(&self) -> Result<Option<HuntLock>, StoreError> {
        let path = self.path().join("lock");
        let lock = files::try_lock_file(&path).map_err(StoreError::at(&path))?;
        Ok(lock.map(HuntLock))
    }

    /// Whether a driver is alive. The check takes a shared lock for an instant; `lock` tries often
    /// enough to get past it.
    pub(crate) fn is_driven(&self) -> Result<bool, StoreError> {
        let path = self.path().join("lock");
        let file = match files::open(&path) {
            Ok(file) => file,
            // Nobody can lock a path that is not a regular file.
            Err(error) if [ErrorKind::NotFound, ErrorKind::InvalidData].contains(&error.kind()) => {
                return Ok(false);
            }
            Err(source) => return Err(StoreError::Io { path, source }),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::host_name;
    use crate::store::Store;

    fn hunt() -> (tempfile::TempDir, HuntDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let hunt = store.new_hunt().unwrap();
        (folder, hunt)
    }

    #[test]
    fn a_lock_is_seen_by_others_and_freed() {
        let (_folder, hunt) = hunt();
        assert!(!hunt.is_driven().unwrap());
        let lock = hunt.lock().unwrap();
        assert!(hunt.is_driven().unwrap());
        let refused = hunt.lock().unwrap_err();
        let own = format!("process {} on {}, since ", std::process::id(), host_name());
        assert!(refused.to_string().contains(&own), "{refused}");
        drop(lock);
        assert!(!hunt.is_driven().unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_drives_a_hunt_only_if_it_began_when_and_where_the_driver_did() {
        let (_folder, hunt) = hunt();
        let lock = hunt.lock().unwrap();
        let own = Holder::own();
        let pid = own.pid;
        assert!(matches!(hunt.driver().unwrap(), Driver::Process(holder) if holder.pid == pid));
        let file = hunt.path().join("driver");
        let said = |text: &str| {
            std::fs::write(&file, text).unwrap();
            hunt.driver().unwrap()
        };
        for text in ["", "0", "1", "-1", "-1 0", "nobody", "99999999999", "\0"] {
            assert_eq!(said(text), Driver::Unnamed, "{text:?}");
        }
        let began = own.began.unwrap();
        for text in [format!("{pid}"), format!("{pid} 1"), format!("{pid} {began} elsewhere now")] {
            assert!(matches!(said(&text), Driver::Another(_)), "{text}");
        }
        for text in [own.line(), format!("{pid} {began}")] {
            assert!(matches!(said(&text), Driver::Process(_)), "{text}");
        }
        drop(lock);
        assert_eq!(said(&own.line()), Driver::Nobody);
    }
}
