//! Quiet for runs that must be alone: two locks in the user's cache folder, for everything of
//! this user's that builds or runs on this machine, whatever the repository.
//!
//! Every build and every run holds the lock `beside`, shared; a run of an `exclusive` measure
//! holds it alone. Whoever wants it, either way, first takes the lock `turn` and keeps it until
//! it has the other: so a run that must be alone waits only for what is under way when its turn
//! comes, however many hunts go on, and two such runs take turns. The system frees both locks
//! when their holder dies. Nobody who holds `beside` ever asks for `turn`, so nobody waits in a
//! circle.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::Stop;

/// How often whoever waits looks again. The system's own wait could not be stopped.
const LOOK: Duration = Duration::from_millis(50);

/// How a build or a run stands to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineShare {
    /// Others may go on beside it, as long as they share the machine too.
    Beside,
    /// Nothing of ours may.
    Alone,
}

/// A lock that a run which must be alone cannot have.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep other builds and runs away: {}", path.display())]
pub struct QuietError {
    /// The lock's file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Nothing was taken.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// We were told to stop.
    Stopped,
    /// There is no such lock to be had here.
    Error(QuietError),
}

/// Where this machine's locks lie.
#[derive(Clone, Debug)]
pub struct Quiet {
    turn: PathBuf,
    beside: PathBuf,
}

/// Held for as long as it lives.
#[derive(Debug)]
#[must_use]
pub(super) struct Held(#[expect(dead_code, reason = "held, never read")] Option<File>);

impl Quiet {
    /// The locks below the user's cache folder. A home may lie on a network disk, where locks
    /// reach other machines: each machine has its own.
    pub fn below(cache: &Path) -> Self {
        let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let folder = cache.join("machines").join(machine);
        Self { turn: folder.join("turn"), beside: folder.join("beside") }
    }

    /// Waits until it may go on. `waiting` is called once, if there is anything to wait for.
    ///
    /// Where there is no such lock to be had (no cache folder, a disk without locks), what need
    /// not be alone goes on without.
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
        let taken = lock(&self.turn, MachineShare::Alone, stop, &mut wait)
            .and_then(|turn| Ok((turn, lock(&self.beside, share, stop, &mut wait)?)));
        match (taken, share) {
            (Ok((_turn, file)), _) => Ok(Held(Some(file))),
            (Err(NotTaken::Error(_)), MachineShare::Beside) => Ok(Held(None)),
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
    let failed = |source| NotTaken::Error(QuietError { path: path.to_owned(), source });
    let file = open(path).map_err(failed)?;
    loop {
        let tried = match share {
            MachineShare::Beside => file.try_lock_shared(),
            MachineShare::Alone => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        waiting();
        if stop.within(LOOK) {
            return Err(NotTaken::Stopped);
        }
    }
}

/// Readable and writable: some network disks want the one for a shared lock, the other for one
/// that is not.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

#[cfg(test)]
mod tests;
