//! The beginning and the end of a job, on its node.

use std::time::{Duration, Instant};

use crate::git::Repository;
use crate::hunt::HuntError;
use crate::hunt::begin::open::{begun, open};
use crate::hunt::environment::{check_environment_unchanged, check_machine_unchanged};
use crate::oracle::machine;
use crate::process::{Stop, node_name};
use crate::slurm::{Attempt, JobResult, Refusal};
use crate::store::journal::Event;
use crate::store::{HuntDir, JobLock, StoreError};

/// How often a job looks whether it was asked to end.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// How long to wait for an earlier job of the hunt to end its engine.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobKind {
    /// It drives the hunt.
    Drive,
    /// It measures a commit ahead.
    Ahead,
}

/// A job that may work on its node.
#[derive(Debug)]
pub(crate) struct Job {
    attempt: Attempt,
    _lock: Option<JobLock>,
}

/// Checks that the job may work here, and passes requests to end it on to `stop`. If the job may
/// not work, reports why and returns `None`.
pub(crate) fn enter(
    repository: &Repository,
    hunt: &HuntDir,
    token: &str,
    kind: JobKind,
    stop: &Stop,
) -> Result<Option<Job>, HuntError> {
    let attempt = Attempt::named(&hunt.jobs(), token);
    follow_requests(hunt, &attempt, kind, stop);
    match admit(repository, hunt, token, kind, stop)? {
        Ok(lock) => Ok(Some(Job { attempt, _lock: lock })),
        Err(refusal) => {
            let result = result(token, REFUSED, Some(refusal));
            attempt.report(&result)?;
            Ok(None)
        }
    }
}

/// The exit code of a job that did nothing. Nobody takes it for the hunt's.
pub(crate) const REFUSED: u8 = 1;

impl Job {
    /// Reports the exit code of the job's command. The lock is held until the report is written.
    pub(crate) fn report(self, exit_code: u8) -> Result<(), StoreError> {
        self.attempt.report(&result(self.attempt.token(), exit_code, None))
    }
}

fn result(token: &str, exit_code: u8, refusal: Option<Refusal>) -> JobResult {
    let restarts = std::env::var("SLURM_RESTART_COUNT").ok().and_then(|count| count.parse().ok());
    JobResult {
        token: token.to_owned(),
        restarts: restarts.unwrap_or_default(),
        node: node_name(),
        exit_code,
        refusal,
    }
}

/// The lock of the job that drives the hunt, or why the job may not work here.
fn admit(
    repository: &Repository,
    hunt: &HuntDir,
    token: &str,
    kind: JobKind,
    stop: &Stop,
) -> Result<Result<Option<JobLock>, Refusal>, HuntError> {
    if !hunt.is_driven()? {
        return Ok(Err(Refusal::LockUnseen));
    }
    let other = |error| match error {
        HuntError::Environment(what) => Ok(Err(Refusal::OtherMachine { what })),
        error => Err(error),
    };
    if kind == JobKind::Ahead {
        let (oracle, _) = open(repository, hunt, stop)?;
        return check_environment_unchanged(&oracle).map_or_else(other, |()| Ok(Ok(None)));
    }
    let begun_waiting = Instant::now();
    let lock = loop {
        if !hunt.is_current_job(token)? {
            return Ok(Err(Refusal::Superseded));
        }
        match hunt.lock_jobs()? {
            Some(lock) => break lock,
            None if begun_waiting.elapsed() > PATIENCE => return Ok(Err(Refusal::Busy)),
            None => drop(stop.within(POLL_INTERVAL)),
        }
    };
    let mut entries = hunt.entries()?.into_iter();
    let is_measured = entries.any(|entry| matches!(entry.event, Event::Build(_) | Event::Run(_)));
    let checked = if is_measured {
        check_machine_unchanged(&begun(hunt)?.machine, &machine())
    } else {
        Ok(())
    };
    checked.map_or_else(other, |()| Ok(Ok(Some(lock))))
}

/// Asks this process to stop when its attempt is given up, when the hunt's driver is gone, or when
/// another attempt drives the hunt.
fn follow_requests(hunt: &HuntDir, attempt: &Attempt, kind: JobKind, stop: &Stop) {
    let (hunt, attempt, stop) = (hunt.clone(), attempt.clone(), stop.clone());
    std::thread::spawn(move || {
        loop {
            let is_superseded =
                kind == JobKind::Drive && matches!(hunt.is_current_job(attempt.token()), Ok(false));
            let is_orphaned = matches!(hunt.is_driven(), Ok(false));
            if is_superseded || is_orphaned || attempt.is_asked_to_end() {
                stop.request();
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    });
}
