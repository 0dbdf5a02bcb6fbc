//! The workers of a hunt: processes that measure commits in the executor's other slots, or in jobs
//! of a cluster. If a cluster has more jobs that build than jobs that measure, the workers of the
//! other slots are processes beside the driver: they have commits built ahead.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::evaluation::{CommitId, Phase, Verdict};
use crate::hunt::HuntError;
use crate::hunt::jobs::nodes::excluded_nodes;
use crate::process::Stop;
use crate::slurm::{Order, Purpose};
use crate::store::HuntDir;
use crate::store::journal::{AheadDone, Event};

use super::builder::Builder;
use super::cluster::Cluster;
use super::job::{AheadJob, JobPart};
use super::worker_process::WorkerProcess;

/// Time between two looks at the workers.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// How long a job may wait for a node while the driver has nothing else to do.
const QUEUE_PATIENCE: Duration = Duration::from_secs(30);

/// How many workers may wait for nodes at the same time, at least.
const LEAST_QUEUE: usize = 4;

/// The workers of one hunt. Dropping the crew ends them.
pub(crate) struct Crew {
    hunt: HuntDir,
    program: PathBuf,
    /// Where workers start: they find the repository from there.
    folder: PathBuf,
    /// Number of slots of the executor. The first one is the driver's.
    slots: usize,
    /// Where the workers that are jobs run.
    cluster: Option<Cluster>,
    workers: Vec<Worker>,
    /// Whether a job gave its node back because no build began. Further jobs would take the nodes
    /// that builds need: this crew submits none that builds by itself.
    lacks_nodes: bool,
}

struct Worker {
    commit: CommitId,
    phase: Phase,
    slot: usize,
    began: Instant,
    stop: Stop,
    is_cancelled: bool,
    /// Whether the worker has begun to measure. Its job may wait for a node first.
    has_begun: Arc<AtomicBool>,
    /// The thread that waits for the worker. Returns the text of a note for the journal, if any.
    thread: JoinHandle<Option<String>>,
}

impl Crew {
    /// A crew without workers yet.
    pub(crate) fn new(
        hunt: &HuntDir,
        program: PathBuf,
        folder: PathBuf,
        slots: usize,
        cluster: Option<Cluster>,
    ) -> Result<Self, HuntError> {
        hunt.make_ahead()?;
        let (hunt, workers, lacks_nodes) = (hunt.clone(), Vec::new(), false);
        Ok(Self { hunt, program, folder, slots, cluster, workers, lacks_nodes })
    }

    /// How many more workers there may be.
    pub(crate) fn free(&self) -> usize {
        (self.slots - 1).saturating_sub(self.workers.len())
    }

    /// How many more workers may be started now for commits that the search may never ask about. A
    /// cluster takes jobs in order, so with all of them in its queue, the next build that the search
    /// needs would wait for most of the others. As many may wait for nodes as have one, and at least
    /// [`LEAST_QUEUE`].
    pub(crate) fn room(&self) -> usize {
        let Some(cluster) = &self.cluster else { return self.free() };
        let going = self.workers.iter().filter(|worker| !worker.is_cancelled);
        let (waiting, begun): (Vec<_>, Vec<_>) =
            going.partition(|worker| self.waits_for_node(cluster, worker));
        room(self.free(), waiting.len(), begun.len())
    }

    /// Whether the first job that this worker needs has not begun.
    fn waits_for_node(&self, cluster: &Cluster, worker: &Worker) -> bool {
        if !cluster.has_build_jobs() {
            return !worker.has_begun.load(Ordering::SeqCst);
        }
        let record = self.hunt.measured_ahead(&worker.commit, worker.phase).unwrap_or_default();
        !record.is_some_and(|record| record.has_left_queue())
    }

    /// Whether a worker is at work.
    pub(crate) fn is_busy(&self) -> bool {
        !self.workers.is_empty()
    }

    /// The commits that workers measure.
    pub(crate) fn commits(&self) -> impl Iterator<Item = &CommitId> {
        self.workers.iter().map(|worker| &worker.commit)
    }

    /// Whether an earlier worker built the commit for a search, or began to on this machine, and was
    /// stopped before its end.
    pub(crate) fn has_build(&self, commit: &CommitId) -> bool {
        let record = self.hunt.measured_ahead(commit, Phase::Search).unwrap_or_default();
        record.is_some_and(|record| {
            let has_built = record.builds.iter().any(|build| build.failure.is_none());
            let has_begun = record.building.is_some() && self.cluster.is_none();
            !record.is_done && (has_built || has_begun)
        })
    }

    /// Starts a worker in a free slot; without one, does nothing. Returns whether it started.
    /// Begins its record first: a worker may be two processes, and each of them continues the
    /// record that the other one wrote.
    pub(crate) fn start(&mut self, job: &AheadJob) -> bool {
        let is_free = |slot: &usize| self.workers.iter().all(|worker| worker.slot != *slot);
        let Some(slot) = (1..self.slots).find(is_free) else { return false };
        if self.lacks_nodes
            && let Some(cluster) = self.cluster_of(slot)
            && !has_builder(cluster, job)
        {
            return false;
        }
        if self.hunt.begin_ahead(&job.commit, job.phase).is_err() {
            return false;
        }
        let stop = Stop::never();
        let has_begun = Arc::new(AtomicBool::new(self.cluster_of(slot).is_none()));
        let work = self.work(job, slot, stop.clone(), Arc::clone(&has_begun));
        let Ok(thread) = std::thread::Builder::new().name("worker".to_owned()).spawn(work) else {
            return false;
        };
        self.workers.push(Worker {
            commit: job.commit.clone(),
            phase: job.phase,
            slot,
            began: Instant::now(),
            stop,
            is_cancelled: false,
            has_begun,
            thread,
        });
        true
    }

    /// The cluster, if the worker in this slot is a job.
    fn cluster_of(&self, slot: usize) -> Option<&Cluster> {
        self.cluster.as_ref().filter(|cluster| cluster.has_job(slot))
    }

    /// What the thread of a worker does. A worker that fails leaves its commit to the search.
    fn work(
        &self,
        job: &AheadJob,
        slot: usize,
        stop: Stop,
        has_begun: Arc<AtomicBool>,
    ) -> Box<dyn FnOnce() -> Option<String> + Send> {
        let Some(cluster) = self.cluster_of(slot).cloned() else {
            let process = self.process(job, slot);
            return Box::new(move || {
                process.run(&stop);
                None
            });
        };
        let builder = has_builder(&cluster, job).then(|| Builder {
            process: self.process(&job.with_part(JobPart::Build), slot),
            hunt: self.hunt.clone(),
            commit: job.commit.clone(),
            phase: job.phase,
        });
        let part = if builder.is_some() { JobPart::Run } else { JobPart::Whole };
        let words = self.words(&job.with_part(part), slot);
        let (program, folder) = (self.program.clone(), self.folder.clone());
        let purpose = Purpose::Ahead { commit: job.commit.clone(), phase: job.phase };
        // A journal that cannot be read now stops the driver, not its workers.
        let excluded = excluded_nodes(&self.hunt).unwrap_or_default();
        let order = Order { program, words, folder, excluded };
        Box::new(move || {
            let stop = &stop;
            std::thread::scope(|scope| {
                if let Some(builder) = &builder {
                    let work = move || builder.work(stop);
                    let thread = std::thread::Builder::new().name("builder".to_owned());
                    // Without this thread the commit is left to the search.
                    let thread = thread.spawn_scoped(scope, work).ok()?;
                    if !builder.wait_until_built(&thread, stop) {
                        return None;
                    }
                }
                cluster.run(purpose, order, stop, &has_begun)
            })
        })
    }

    /// The arguments of the worker in this slot.
    fn words(&self, job: &AheadJob, slot: usize) -> Vec<OsString> {
        let described = serde_json::to_string(job).expect("a job is plain data");
        let (id, number) = (self.hunt.id(), slot.to_string());
        ["oracle", "--hunt", id, "--slot", &number, "--ahead", &described]
            .map(OsString::from)
            .into()
    }

    /// The process of the worker in this slot, if it is no job.
    fn process(&self, job: &AheadJob, slot: usize) -> WorkerProcess {
        let log = self.hunt.path().join(format!("logs/ahead-{slot}.log"));
        let words = self.words(job, slot);
        WorkerProcess::new(self.program.clone(), words, self.folder.clone(), log)
    }

    /// Stops the workers that measure these commits for a search.
    pub(crate) fn cancel(&mut self, is_useless: impl Fn(&CommitId) -> bool) {
        self.stop(|worker| worker.phase == Phase::Search && is_useless(&worker.commit));
    }

    /// Stops the workers whose jobs have waited long for a node. The driver has a node, and
    /// measures their commits itself sooner.
    pub(crate) fn cancel_waiting(&mut self) {
        self.stop(|worker| {
            !worker.has_begun.load(Ordering::SeqCst) && worker.began.elapsed() > QUEUE_PATIENCE
        });
    }

    fn stop(&mut self, is_over: impl Fn(&Worker) -> bool) {
        for worker in &mut self.workers {
            if !worker.is_cancelled && is_over(worker) {
                worker.is_cancelled = true;
                worker.stop.request();
            }
        }
    }

    /// Records the workers that have ended in the journal; returns their commits with the verdicts.
    pub(crate) fn reap(&mut self) -> Result<Vec<(CommitId, Option<Verdict>)>, HuntError> {
        let (ended, going) =
            std::mem::take(&mut self.workers).into_iter().partition(|w| w.thread.is_finished());
        self.workers = going;
        let ended: Vec<Worker> = ended;
        ended.into_iter().map(|worker| self.write_down(worker)).collect()
    }

    /// Stops all workers, waits for them, and records them in the journal.
    pub(crate) fn end(mut self) -> Result<(), HuntError> {
        self.stop(|_| true);
        for worker in std::mem::take(&mut self.workers) {
            self.write_down(worker)?;
        }
        Ok(())
    }

    fn write_down(&mut self, worker: Worker) -> Result<(CommitId, Option<Verdict>), HuntError> {
        let Worker { commit, phase, slot, began, is_cancelled, thread, .. } = worker;
        // If the thread panicked, the message is on stderr already.
        if let Some(text) = thread.join().ok().flatten() {
            self.hunt.journal()?.append(Event::Note { text })?;
        }
        std::fs::remove_file(self.hunt.now_in_slot(slot)).ok();
        let record = self.hunt.measured_ahead(&commit, phase)?;
        let is_done = record.as_ref().is_some_and(|record| record.is_done);
        self.lacks_nodes |= record.as_ref().is_some_and(|record| record.gave_node_back);
        for lost in record.iter().flat_map(|record| &record.lost) {
            let text =
                format!("{lost}; another job builds {} when the hunt needs it", commit.short());
            self.hunt.journal()?.append(Event::Note { text })?;
        }
        let verdict = record.as_ref().and_then(|record| record.verdict);
        let done = AheadDone {
            phase,
            slot: slot + 1,
            seconds: began.elapsed().as_secs_f64(),
            builds: record
                .iter()
                .flat_map(|record| &record.builds)
                .map(|build| (build.attempt.clone(), build.wall_s))
                .collect(),
            runs: record.iter().flat_map(|record| record.runs.clone()).collect(),
            cancelled: is_cancelled && !is_done,
            commit: commit.clone(),
        };
        self.hunt.journal()?.append(Event::Ahead(done))?;
        Ok((commit, verdict.filter(|_| is_done)))
    }
}

/// Whether a process beside the driver has the commit built for the job.
fn has_builder(cluster: &Cluster, job: &AheadJob) -> bool {
    cluster.builds_ahead() && job.is_judged()
}

/// How many of the `free` slots may get a worker now, if so many workers wait for nodes, and so many
/// have one.
fn room(free: usize, waiting: usize, begun: usize) -> usize {
    free.min(begun.max(LEAST_QUEUE).saturating_sub(waiting))
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop(|_| true);
        for worker in std::mem::take(&mut self.workers) {
            worker.thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_workers_may_wait_for_nodes_as_have_one_and_at_least_a_few() {
        assert_eq!(room(63, 0, 0), LEAST_QUEUE);
        assert_eq!(room(59, 4, 0), 0);
        assert_eq!(room(59, 1, 3), 3);
        assert_eq!(room(51, 4, 8), 4);
        assert_eq!(room(51, 0, 12), 12);
        assert_eq!(room(2, 0, 12), 2, "no more than there are slots");
        assert_eq!(room(20, 12, 8), 0, "after some jobs were lost");
    }
}
