//! Workers in jobs of a cluster.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::config::Slurm;
use crate::process::Stop;
use crate::slurm::{Attempt, JobEnd, Listed, Order, Purpose, Queue, Refusal, submit, wait};
use crate::store::HuntDir;

/// The cluster, as the workers of one crew use it.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    slurm: Slurm,
    /// The folder of the hunt's jobs.
    jobs: PathBuf,
    queue: Queue,
}

impl Cluster {
    /// The cluster, before the first worker.
    pub(crate) fn new(slurm: Slurm, hunt: &HuntDir) -> Self {
        Self { slurm, jobs: hunt.jobs(), queue: Queue::new(hunt.squeue()) }
    }

    /// Whether the worker in this slot is a job.
    pub(crate) fn has_job(&self, slot: usize) -> bool {
        self.slurm.has_job(slot)
    }

    /// Whether processes beside the driver build ahead.
    pub(crate) fn builds_ahead(&self) -> bool {
        self.slurm.builds_ahead()
    }

    /// Whether jobs of their own build.
    pub(crate) fn has_build_jobs(&self) -> bool {
        self.slurm.build.is_some()
    }

    /// Submits a command of this program as a job, and waits for its end. `has_begun` is set when
    /// the job has a node. Returns the text of a note; `None` if the job did its work or was asked
    /// to end.
    pub(crate) fn run(
        &self,
        purpose: Purpose,
        mut order: Order,
        stop: &Stop,
        has_begun: &Arc<AtomicBool>,
    ) -> Option<String> {
        let attempt = Attempt::begin(&self.jobs, purpose).ok()?;
        order.words.extend([OsString::from("--job"), attempt.token().into()]);
        let id = match submit(&attempt, &self.slurm.measure, &order) {
            Ok(id) => id,
            Err(error) => return Some(format!("nothing is measured ahead in a job: {error}")),
        };
        let mut say = |job: &Listed| has_begun.store(!job.is_pending(), Ordering::SeqCst);
        match wait(&attempt, &id, &self.queue, stop, &mut say) {
            JobEnd::Stopped => None,
            JobEnd::Lost(loss) => Some(format!("job {id}, which measured ahead, {loss}")),
            JobEnd::Reported(result, _) => match result.refusal {
                Some(Refusal::OtherMachine { what }) => {
                    let node = result.node;
                    Some(format!("node {node} is set aside, job {id} did nothing: {what}"))
                }
                _ => None,
            },
        }
    }
}
