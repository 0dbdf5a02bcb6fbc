//! The beginning and the end of a job, on its node.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::build::{BuildOrder, lock_for_job};
use crate::git::Repository;
use crate::hunt::HuntError;
use crate::hunt::begin::open::{begun, frozen, open};
use crate::hunt::environment::{
    build_node_change, check_environment_unchanged, check_machine_unchanged,
};
use crate::oracle::{OracleError, build_node, machine};
use crate::process::{Stop, node_name};
use crate::slurm::{Attempt, JobClock, JobResult, Refusal};
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
    /// It builds a commit in the slot of a process that waits for it.
    Build,
}

/// What a job holds while it works.
#[derive(Debug, Default)]
struct Locks {
    /// The right to drive the hunt.
    _drive: Option<JobLock>,
    /// The slot that it builds in.
    _slot: Option<File>,
}

/// A job that may work on its node.
#[derive(Debug)]
pub(crate) struct Job {
    attempt: Attempt,
    clock: Arc<JobClock>,
    _locks: Locks,
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
    let clock = Arc::new(JobClock::start(attempt.clone(), gpus_of(hunt, kind)));
    follow_requests(hunt, &attempt, &clock, kind, stop);
    match admit(repository, hunt, token, kind, stop)? {
        Ok(locks) => Ok(Some(Job { attempt, clock, _locks: locks })),
        Err(refusal) => {
            clock.stop();
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
        self.clock.stop();
        self.attempt.report(&result(self.attempt.token(), exit_code, None))
    }
}

/// The GPUs that a job of this kind asked for. If the configuration cannot be read, the job ends
/// anyway.
fn gpus_of(hunt: &HuntDir, kind: JobKind) -> u32 {
    let slurm = super::slurm_of(hunt).ok().flatten().unwrap_or_default();
    let options = match kind {
        JobKind::Build => slurm.build.unwrap_or_default(),
        JobKind::Drive | JobKind::Ahead => slurm.measure,
    };
    options.gpus().unwrap_or(0)
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

/// The locks of the job, or why the job may not work here.
fn admit(
    repository: &Repository,
    hunt: &HuntDir,
    token: &str,
    kind: JobKind,
    stop: &Stop,
) -> Result<Result<Locks, Refusal>, HuntError> {
    if !hunt.is_driven()? {
        return Ok(Err(Refusal::LockUnseen));
    }
    let other = |error| match error {
        HuntError::Environment(what) => Ok(Err(Refusal::OtherMachine { what })),
        error => Err(error),
    };
    if kind == JobKind::Ahead {
        let (oracle, _) = open(repository, hunt, stop)?;
        let checked = check_environment_unchanged(&oracle);
        return checked.map_or_else(other, |()| Ok(Ok(Locks::default())));
    }
    if kind == JobKind::Build {
        return admit_build(hunt, token);
    }
    let begun_waiting = Instant::now();
    let lock = loop {
        if !hunt.is_current_job(token)? {
            return Ok(Err(Refusal::Superseded));
        }
        match hunt.lock_jobs()? {
            Some(lock) => break lock,
            None if stop.within(POLL_INTERVAL) || begun_waiting.elapsed() > PATIENCE => {
                return Ok(Err(Refusal::Busy));
            }
            None => {}
        }
    };
    let entries = hunt.entries()?;
    let is_measured =
        entries.iter().any(|entry| matches!(entry.event, Event::Build(_) | Event::Run(_)));
    let checked = if is_measured {
        check_machine_unchanged(&begun(hunt)?.machine, &machine())
    } else {
        Ok(())
    };
    checked.map_or_else(other, |()| Ok(Ok(Locks { _drive: Some(lock), ..Locks::default() })))
}

/// The lock of the slot that a job builds in, or why it may not build here: builds of different
/// machines, compilers or variables have different keys.
fn admit_build(hunt: &HuntDir, token: &str) -> Result<Result<Locks, Refusal>, HuntError> {
    let begun = begun(hunt)?;
    if let Some(began) = &begun.build_node {
        let now = build_node(&frozen(hunt, &begun)?)?;
        if let Some(what) = build_node_change(began, &now) {
            return Ok(Err(Refusal::OtherBuildNode { what }));
        }
    }
    let order = Attempt::named(&hunt.jobs(), token).order().unwrap_or_default();
    let Ok(BuildOrder::Build(order)) = serde_json::from_slice(&order) else {
        return Ok(Ok(Locks::default()));
    };
    let lock = lock_for_job(&order.root).map_err(OracleError::from)?;
    Ok(lock.map(|slot| Locks { _slot: Some(slot), ..Locks::default() }).ok_or(Refusal::Busy))
}

/// Asks this process to stop when its attempt is given up, when the hunt's driver or the process
/// that waits for a build is gone, or when another attempt drives the hunt.
///
/// Also writes down how long the job works.
fn follow_requests(
    hunt: &HuntDir,
    attempt: &Attempt,
    clock: &Arc<JobClock>,
    kind: JobKind,
    stop: &Stop,
) {
    let (hunt, attempt, stop) = (hunt.clone(), attempt.clone(), stop.clone());
    let clock = Arc::clone(clock);
    std::thread::spawn(move || {
        loop {
            clock.tick();
            let is_superseded =
                kind == JobKind::Drive && matches!(hunt.is_current_job(attempt.token()), Ok(false));
            let is_orphaned = matches!(hunt.is_driven(), Ok(false))
                || (kind == JobKind::Build && matches!(attempt.await_job(), Ok(Some(_))));
            if is_superseded || is_orphaned || attempt.is_asked_to_end() {
                stop.request();
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    });
}
