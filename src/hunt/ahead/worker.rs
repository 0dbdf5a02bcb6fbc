//! The work of `bisect-ppl oracle --ahead`: measures one commit before the hunt asks for it. Writes
//! runs and builds into the store, and nothing into the journal.

use std::path::PathBuf;
use std::time::Duration;

use crate::build::Stamp;
use crate::config::Slurm;
use crate::evaluation::Phase;
use crate::git::Repository;
use crate::hunt::HuntError;
use crate::hunt::begin::open::{begun, build_elsewhere, open_with};
use crate::hunt::oracle_step::{Current, current_search, follow_driver, follow_settings};
use crate::oracle::{ControlSlot, Oracle, OracleError, Recorder, Request};
use crate::process::Stop;
use crate::store::{AheadClaim, AheadRecord, HuntDir, Store};

use super::job::{AheadJob, JobPart};

/// Interval between two checks whether the search asks for the commit.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long the job of a worker waits for a build to begin. It holds a node meanwhile, which may be
/// the one that the build needs: nodes and limits on running jobs may be shared. So it must not
/// wait for ever, and the hunt builds and measures the commit itself.
const BUILD_PATIENCE: Duration = Duration::from_secs(30);

/// Measures a commit ahead in this slot of the executor. Does nothing if another process measures
/// the commit already.
pub(crate) fn measure_ahead(
    repository: &Repository,
    hunt: &HuntDir,
    job: &AheadJob,
    slot: usize,
    stop: &Stop,
) -> Result<(), HuntError> {
    follow_driver(hunt, stop);
    let claim = match job.part {
        JobPart::Whole | JobPart::Build => hunt.claim(&job.commit, job.phase)?,
        JobPart::Run => Some(claim_after_builder(hunt, job, stop)?),
    };
    let Some(_claim) = claim else { return Ok(()) };
    let _now = Now(hunt.now_in_slot(slot));
    let store = Store::open_to_measure(repository.common_dir())?;
    // The crew began the record. If this worker is two processes, it has the builds of the other
    // one. If that one judged the commit too, nothing is left.
    let record = match hunt.measured_ahead(&job.commit, job.phase)? {
        Some(known) if known.is_done => return Ok(()),
        Some(known) => known,
        None => AheadRecord::new(job.commit.clone(), job.phase),
    };
    let interrupted_in = record.building.clone();
    let recorder = Recorder::ahead(hunt, record, slot)?;
    let (mut oracle, begun) = open_with(repository, hunt, store, begun(hunt)?, recorder, stop)?;
    let executor = &mut oracle.recipes.config.executor;
    executor.own = match job.part {
        JobPart::Build => executor.builder_slot(slot),
        JobPart::Whole | JobPart::Run => slot,
    };
    oracle.pool.share(true);
    if let Some(slot) = interrupted_in {
        oracle.go_to_interrupted_build(&job.commit, &slot)?;
    }
    build_elsewhere(&mut oracle, repository, hunt)?;
    let is_job = |slurm: &Slurm| job.part != JobPart::Build && slurm.has_job(slot);
    if oracle.recipes.config.executor.slurm.as_ref().is_some_and(is_job)
        && let Some(jobs) = &mut oracle.build_jobs
    {
        jobs.give_up_after(BUILD_PATIENCE);
    }
    // A control run must not use the driver's slot: it is built in the worker's own slot.
    oracle.control = Some(ControlSlot::unbuilt(begun.good.commit.clone()));
    let verdict = if job.is_judged() {
        let Current { targets, chunks, clean, .. } = current_search(hunt)?;
        follow_settings(&mut oracle, hunt, clean)?;
        let builds_first = oracle.recipes.config.executor.shares_job();
        if builds_first && !build_until_wanted(&mut oracle, hunt, job)? {
            return Ok(());
        }
        let (judgement, _) =
            oracle.judge_until_decided(&job.commit, &targets, job.phase, chunks)?;
        Some(judgement.verdict)
    } else if job.phase == Phase::Control {
        follow_settings(&mut oracle, hunt, false)?;
        // With two slots, the bad end was built in this one. The hunt may run that build again.
        // While this value lives, the check cannot build in its place.
        let is_bad_end = |stamp: &Stamp| {
            stamp.commit == begun.bad.commit && stamp.hunt.as_deref() == Some(hunt.id())
        };
        let _bad_end = oracle.pool.find(is_bad_end).map_err(OracleError::from)?;
        oracle.run_in_own_slot(&job.commit, &job.measures)?;
        None
    } else {
        follow_settings(&mut oracle, hunt, job.clean)?;
        job.measure(&mut oracle)?;
        None
    };
    let record = oracle.recorder.ahead_record().expect("it was made as a worker's").clone();
    Ok(hunt.keep_ahead(&AheadRecord { is_done: true, verdict, ..record })?)
}

/// The claim of a job's commit, when the process that builds the commit leaves it to the job.
fn claim_after_builder(
    hunt: &HuntDir,
    job: &AheadJob,
    stop: &Stop,
) -> Result<AheadClaim, HuntError> {
    let mut node = None;
    loop {
        // The builder sees this lock, and leaves when the build is done.
        if node.is_none() {
            node = hunt.await_builder(&job.commit, job.phase)?;
        }
        if let Some(claim) = hunt.claim(&job.commit, job.phase)? {
            return Ok(claim);
        }
        if stop.within(POLL_INTERVAL) {
            return Err(HuntError::stopped(stop));
        }
    }
}

/// Builds the commit, and waits until the search asks for it. The runs of one job take turns, and a
/// run that the search needs must not wait for one that it may never need. False if a job has a
/// node for the commit before the search asks: the job runs what was built here.
fn build_until_wanted(
    oracle: &mut Oracle,
    hunt: &HuntDir,
    job: &AheadJob,
) -> Result<bool, HuntError> {
    let commit = &job.commit;
    let look = Request::look(commit, &[], Phase::Search);
    let built = oracle.evaluate(Request { runs: 1, ..look })?;
    if built.build_failure.is_some() {
        // A commit that does not build gets its verdict without a run.
        return Ok(true);
    }
    if job.part == JobPart::Build {
        hunt.tell_built(commit, Phase::Search)?;
    }
    oracle.recorder.waits("waiting until the search asks for it", commit, None, Phase::Search);
    while !hunt.is_wanted(commit, Phase::Search) {
        if job.part == JobPart::Build && hunt.is_builder_awaited(commit, Phase::Search)? {
            return Ok(false);
        }
        if oracle.stop.within(POLL_INTERVAL) {
            return Err(HuntError::stopped(&oracle.stop));
        }
    }
    Ok(true)
}

/// Removes the file that says what this worker does, at its end.
struct Now(PathBuf);

impl Drop for Now {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}
