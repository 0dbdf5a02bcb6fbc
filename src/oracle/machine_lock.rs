//! Locks for exclusive runs: lock files in the user's cache folder, shared by all hunts of this user
//! on this machine, in any repository.
//!
//! Every build and run holds the lock `beside` as a shared lock; an exclusive run holds `beside`
//! as an exclusive lock. A process takes the lock `turn` before it asks for `beside`, and keeps
//! `turn` until it holds `beside`. So an exclusive run waits only for builds and runs that hold
//! `beside` when its turn comes, and exclusive runs take turns. The system frees all locks when
//! their holder dies.
//!
//! `runs` and `runs-turn` do the same among runs: every run holds `runs` besides, as an exclusive
//! lock if no other run may happen at the same time. A run that repeats a failed one is such a run:
//! engines that use one port or one lock file fail if two of them run at once. A holder of `beside`
//! never asks for `turn`, and a holder of `runs` for nothing, so there is no deadlock.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files;
use crate::process::{Stop, machine_name};

/// Interval between two attempts. The system's blocking wait could not be interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How a build or a run shares the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineShare {
    /// A build. Other builds and runs that share the machine may go on.
    Build,
    /// A run. Other builds and runs that share the machine may go on.
    Run,
    /// A run beside which builds may go on, but no other run of this program.
    OnlyRun,
    /// A run that repeats a failed one: the same as [`Self::OnlyRun`], if locks work here.
    Repeat,
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
    /// The hunt was stopped, by the user or by a limit.
    Stopped,
    /// A lock file cannot be opened or locked here.
    Error(MachineLockError),
}

/// The paths of this machine's lock files.
#[derive(Clone, Debug)]
pub(crate) struct MachineLock {
    turn: PathBuf,
    beside: PathBuf,
    runs_turn: PathBuf,
    runs: PathBuf,
}

/// Held locks; dropping them frees the locks.
#[derive(Debug)]
#[must_use]
pub(super) struct Held(#[expect(dead_code, reason = "held, never read")] Vec<File>);

/// How a file is locked.
#[derive(Clone, Copy)]
enum Mode {
    Shared,
    Exclusive,
}

impl MachineLock {
    /// The lock files below the user's cache folder. Each machine has its own, since locks on a
    /// network disk would reach other machines.
    pub(crate) fn below(cache: &Path) -> Self {
        let folder = cache.join("machines").join(machine_name());
        let [turn, beside, runs_turn, runs] =
            ["turn", "beside", "runs-turn", "runs"].map(|name| folder.join(name));
        Self { turn, beside, runs_turn, runs }
    }

    /// Takes the lock. Calls `waiting` once if it has to wait.
    ///
    /// If locks do not work here (no cache folder, a disk without locks), builds and runs that may
    /// share the machine go on without them.
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
        let (beside, runs) = match share {
            MachineShare::Build => (Mode::Shared, None),
            MachineShare::Run => (Mode::Shared, Some(Mode::Shared)),
            MachineShare::OnlyRun | MachineShare::Repeat => (Mode::Shared, Some(Mode::Exclusive)),
            MachineShare::Exclusive => (Mode::Exclusive, None),
        };
        let may_go_on =
            matches!(share, MachineShare::Build | MachineShare::Run | MachineShare::Repeat);
        let mut held = Vec::new();
        let mut wanted = vec![([&self.turn, &self.beside], beside)];
        wanted.extend(runs.map(|mode| ([&self.runs_turn, &self.runs], mode)));
        for (paths, mode) in wanted {
            match in_turn(paths, mode, stop, &mut wait) {
                Ok(file) => held.push(file),
                Err(NotTaken::Error(_)) if may_go_on => {}
                Err(not) => return Err(not),
            }
        }
        Ok(Held(held))
    }
}

/// Locks the second file. Holds the first one until then, so that nobody overtakes.
fn in_turn(
    [turn, path]: [&PathBuf; 2],
    mode: Mode,
    stop: &Stop,
    waiting: &mut dyn FnMut(),
) -> Result<File, NotTaken> {
    let _turn = lock(turn, Mode::Exclusive, stop, waiting)?;
    lock(path, mode, stop, waiting)
}

fn lock(path: &Path, mode: Mode, stop: &Stop, waiting: &mut dyn FnMut()) -> Result<File, NotTaken> {
    let failed = |source| NotTaken::Error(MachineLockError { path: path.to_owned(), source });
    let file = open(path).map_err(failed)?;
    loop {
        let tried = match mode {
            Mode::Shared => file.try_lock_shared(),
            Mode::Exclusive => file.try_lock(),
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
