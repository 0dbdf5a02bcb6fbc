//! Workers in jobs of a cluster. If other jobs build, a worker has two stages: a process beside the
//! driver has the commit built, in a slot of its own; then a job measures it there. So no job that
//! measures waits for a build, and more commits are built at the same time than measured.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::build::{HeldSlot, Slots};
use crate::config::JobOptions;
use crate::evaluation::Phase;
use crate::hunt::jobs::nodes::excluded_nodes;
use crate::process::Stop;
use crate::slurm::{Attempt, JobEnd, Listed, Order, Purpose, Queue, Refusal, submit, wait};
use crate::store::{AheadClaim, HuntDir};

use super::job::{AheadJob, Stage};
use super::worker_process::WorkerProcess;

/// Time between two looks for a free place among the jobs that measure.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The cluster, as the workers of one crew use it.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    options: JobOptions,
    hunt: HuntDir,
    queue: Queue,
    /// How many further jobs may measure now.
    places: Arc<AtomicUsize>,
    /// Where commits are built, if other jobs than those that measure build them.
    builds_in: Option<Slots>,
}

/// Since when a worker's job waits for a node; `None` if it does not wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending(Arc<Mutex<Option<Instant>>>);

impl Pending {
    /// Whether the job has waited for longer than `patience`.
    pub(crate) fn is_longer_than(&self, patience: Duration) -> bool {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() > patience)
    }

    fn set(&self, is_pending: bool) {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *since = if is_pending { since.or_else(|| Some(Instant::now())) } else { None };
    }
}

/// A place among the jobs that measure. Dropping it frees the place.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// What the driver holds for a worker whose commit is built first.
struct Lent {
    _claim: AheadClaim,
    slot: HeldSlot,
}

impl Cluster {
    /// The cluster, before the first worker. `measuring`: the most jobs that measure, the driver's
    /// included. `builds_in`: the slots, if other jobs build.
    pub(crate) fn new(
        options: JobOptions,
        hunt: HuntDir,
        measuring: usize,
        builds_in: Option<Slots>,
    ) -> Self {
        let places = Arc::new(AtomicUsize::new(measuring.saturating_sub(1)));
        Self { options, hunt, queue: Queue::default(), places, builds_in }
    }

    /// Does the work of one worker, and waits for its end. Returns the text of a note; `None` if
    /// the work is done, or another process does it, or the worker was asked to end.
    pub(crate) fn work(
        &self,
        process: &WorkerProcess,
        job: &AheadJob,
        stop: &Stop,
        pending: &Pending,
    ) -> Option<String> {
        let mut job = job.clone();
        let mut lent = None;
        // A control run is built and run by one process.
        if let Some(slots) = self.builds_in.as_ref().filter(|_| job.phase != Phase::Control) {
            let held = self.lend(&job, slots)?;
            job.lent = Some(held.slot.root().to_owned());
            lent = Some(held);
            process.run(&AheadJob { stage: Stage::Build, ..job.clone() }, stop);
            let record = self.hunt.measured_ahead(&job.commit, job.phase).ok().flatten();
            if record.is_none_or(|record| record.is_done) || stop.is_requested() {
                return None;
            }
        }
        let place = self.place(stop)?;
        let note = self.measure(process, &job, stop, pending);
        drop((place, lent));
        note
    }

    /// The commit's claim and a slot; `None` if another process measures the commit, or there is no
    /// slot.
    fn lend(&self, job: &AheadJob, slots: &Slots) -> Option<Lent> {
        let claim = self.hunt.claim(&job.commit, job.phase).ok().flatten()?;
        let slot = slots.lock(|stamp| stamp.commit == job.commit).ok()?;
        Some(Lent { _claim: claim, slot })
    }

    /// Waits for a place among the jobs that measure; `None` if the worker is asked to end.
    fn place(&self, stop: &Stop) -> Option<Place> {
        let take = |free: usize| free.checked_sub(1);
        while self.places.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            if stop.within(POLL_INTERVAL) {
                return None;
            }
        }
        Some(Place(Arc::clone(&self.places)))
    }

    /// Measures the commit in a job.
    fn measure(
        &self,
        process: &WorkerProcess,
        job: &AheadJob,
        stop: &Stop,
        pending: &Pending,
    ) -> Option<String> {
        let purpose = Purpose::Ahead { commit: job.commit.clone(), phase: job.phase };
        let attempt = Attempt::begin(&self.hunt.jobs(), purpose).ok()?;
        let mut words = process.words(job);
        words.extend([OsString::from("--job"), attempt.token().into()]);
        let (program, folder): (PathBuf, PathBuf) =
            (process.program.clone(), process.folder.clone());
        // A journal that cannot be read now stops the driver, not its workers.
        let excluded = excluded_nodes(&self.hunt).unwrap_or_default();
        let id = match submit(&attempt, &self.options, &Order { program, words, folder, excluded })
        {
            Ok(id) => id,
            Err(error) => return Some(format!("nothing is measured ahead in a job: {error}")),
        };
        pending.set(true);
        let mut say = |job: &Listed| pending.set(job.is_pending());
        match wait(&attempt, &id, &self.queue, stop, &mut say) {
            JobEnd::Stopped => None,
            JobEnd::Lost(loss) => Some(format!("job {id}, which measured ahead, {loss}")),
            JobEnd::Reported(result) => match result.refusal {
                Some(Refusal::OtherMachine { what }) => {
                    let node = result.node;
                    Some(format!("node {node} is set aside, job {id} did nothing: {what}"))
                }
                _ => None,
            },
        }
    }
}
