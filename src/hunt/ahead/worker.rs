//! The work of `bisect-ppl oracle --ahead`: measures one commit before the hunt asks for it. Writes
//! runs and builds into the store, and nothing into the journal.

use std::path::PathBuf;

use crate::evaluation::Phase;
use crate::git::Repository;
use crate::hunt::HuntError;
use crate::hunt::begin::open::{begun, build_elsewhere, open_with};
use crate::hunt::oracle_step::{Current, current_search, follow_driver, follow_settings};
use crate::oracle::{ControlSlot, Oracle, Recorder, Request};
use crate::process::Stop;
use crate::store::{AheadRecord, HuntDir, Store};

use super::job::{AheadJob, Stage};

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
    let claim = hunt.claim(&job.commit, job.phase)?;
    if claim.is_none() && job.lent.is_none() {
        return Ok(());
    }
    let _now = Now(hunt.now_in_slot(slot));
    let store = Store::open_to_measure(repository.common_dir())?;
    let mut record = AheadRecord::new(job.commit.clone(), job.phase);
    if job.lent.is_some() && job.stage == Stage::Measure {
        // It has the build of the first stage.
        record = hunt.measured_ahead(&job.commit, job.phase)?.unwrap_or(record);
    }
    let recorder = Recorder::ahead(hunt, record, slot)?;
    let (mut oracle, begun) = open_with(repository, hunt, store, begun(hunt)?, recorder, stop)?;
    oracle.recipes.config.executor.own = slot;
    build_elsewhere(&mut oracle, repository, hunt)?;
    // A control run must not use the driver's slot: it is built in the worker's own slot.
    oracle.control = Some(ControlSlot::unbuilt(begun.good.commit.clone()));
    if let Some(lent) = &job.lent {
        oracle.pool.borrow(lent.clone(), job.commit.clone());
    }
    let search = if job.phase == Phase::Search { Some(current_search(hunt)?) } else { None };
    let clean = search.as_ref().map_or(job.clean, |search| search.clean);
    follow_settings(&mut oracle, hunt, clean)?;
    if job.stage == Stage::Build && oracle.build_ahead(&job.commit, job.phase)? {
        return Ok(hunt.keep_ahead(&written(&oracle))?);
    }
    let verdict = if let Some(Current { targets, chunks, .. }) = search {
        let (judgement, _) =
            oracle.judge_until_decided(&job.commit, &targets, job.phase, chunks)?;
        Some(judgement.verdict)
    } else if job.phase == Phase::Control {
        oracle.run_in_own_slot(&job.commit, &job.measures)?;
        None
    } else {
        let look = Request::look(&job.commit, &job.measures, job.phase);
        oracle.evaluate(Request { runs: job.runs, ..look })?;
        None
    };
    Ok(hunt.keep_ahead(&AheadRecord { is_done: true, verdict, ..written(&oracle) })?)
}

/// What the worker measured so far.
fn written(oracle: &Oracle) -> AheadRecord {
    oracle.recorder.ahead_record().expect("it was made as a worker's").clone()
}

/// Removes the file that says what this worker does, at its end.
struct Now(PathBuf);

impl Drop for Now {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}
