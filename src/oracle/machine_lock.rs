//! Locks for exclusive runs: two lock files in the user's cache folder, shared by all hunts of
//! this user on this machine, in any repository.
//!
//! Every build and run holds the lock `beside` as a shared lock; an exclusive run holds `beside`
//! as an exclusive lock. A process takes the lock `turn` before it asks for `beside`, and keeps
//! `turn` until it holds `beside`. So an exclusive run waits only for builds and runs that are
//! active when its turn comes, and exclusive runs take turns. The system frees both locks when
//! their holder dies. A holder of `beside` never asks for `turn`, so there is no deadlock.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files;
use crate::process::{Stop, host_name};

/// Interval between two attempts. The system's blocking wait could not be interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How a build or a run shares the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineShare {
    /// Other builds and runs that share the machine may go on.
    Shared,
    /// No other build or run of this program may go on.
    Exclusive,
}

/// The lock for an exclusive run cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("cannot take the lock for an exclusive run: {}", path.display())]
pub(crate) struct MachineLockError {
    /// The lock's file or folder.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

/// Why no lock was taken.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// The user stopped the hunt.
    Stopped,
    /// A lock file cannot be opened or locked here.
    Error(MachineLockError),
}

/// The paths of this machine's lock files.
#[derive(Clone, Debug)]
pub(crate) struct MachineLock {
    turn: PathBuf,
    beside: PathBuf,
}

/// A held lock; dropping it frees the lock.
#[derive(Debug)]
#[must_use]
pub(super) struct Held(#[expect(dead_code, reason = "held, never read")] Option<File>);

impl MachineLock {
    /// The lock files below the user's cache folder. Each machine has its own, since locks on a
    /// network disk would reach other machines.
    pub(crate) fn below(cache: &Path) -> Self {
        let folder = cache.join("machines").join(host_name());
        Self { turn: folder.join("turn"), beside: folder.join("beside") }
    }

    /// Takes the lock. Calls `waiting` once if it has to wait.
    ///
    /// If locks do not work here (no cache folder, a disk without locks), [`MachineShare::Shared`]
    /// goes on without one.
    pub(super) fn take(
        &self,
        share: MachineShare,
        stop: &Stop,
        waiting: &mut dyn FnMut(),
    ) -> Result<Held, NotTaken> {
        let mut told = false;
        let mut wait = || {
            if !std::mem::replace(&mut told, true) {
                waiting();
            }
        };
        let taken = lock(&self.turn, MachineShare::Exclusive, stop, &mut wait)
            .and_then(|turn| Ok((turn, lock(&self.beside, share, stop, &mut wait)?)));
        match (taken, share) {
            (Ok((_turn, file)), _) => Ok(Held(Some(file))),
            (Err(NotTaken::Error(_)), MachineShare::Shared) => Ok(Held(None)),
            (Err(not), _) => Err(not),
        }
    }
}

fn lock(
    path: &Path,
    share: MachineShare,
    stop: &Stop,
    waiting: &mut dyn FnMut(),
) -> Result<File, NotTaken> {
    let failed = |source| NotTaken::Error(MachineLockError { path: path.to_owned(), source });
    let file = open(path).map_err(failed)?;
    loop {
        let tried = match share {
            MachineShare::Shared => file.try_lock_shared(),
            MachineShare::Exclusive => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        waiting();
        if stop.within(POLL_INTERVAL) {
            return Err(NotTaken::Stopped);
        }
    }
}

/// Opens a lock file for reading and writing: some network disks need read access for a shared
/// lock and write access for an exclusive lock.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    files::lock_file(path)
}

#[cfg(test)]
mod tests;
