//! Jobs that build commits on other nodes of a cluster (`[executor.build]`). The process that needs
//! a build submits a job and waits for its answer. A job that is lost is the machine's fault.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::build::{BuildAnswer, BuildOrder};
use crate::config::JobOptions;
use crate::files;
use crate::process::Stop;
use crate::slurm::{
    Attempt, JobEnd, Listed, Loss, Order, Purpose, Queue, Refusal, SlurmError,
    build_nodes_set_aside, submit, wait_within,
};
use crate::store::{HuntDir, RecordedFault, StoreError};

use super::OracleError;

/// Time between two looks for a free place among the jobs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What is known of a job while it is waited for.
pub(super) enum JobNews {
    /// It waits: the reason, in words.
    Waits(String),
    /// It runs.
    Begun,
    /// A job did nothing, and another one is submitted: the reason, in words.
    Refused(String),
    /// No build began in time, and none is waited for any more.
    GaveUp,
}

/// How a hunt submits the jobs that build.
#[derive(Clone, Debug)]
pub(crate) struct BuildJobs {
    options: JobOptions,
    hunt: HuntDir,
    /// This program.
    program: PathBuf,
    /// Where jobs start: they find the repository from there.
    folder: PathBuf,
    queue: Queue,
    /// How long a build may wait for its job to begin; `None`: as long as it takes.
    patience: Option<Duration>,
}

impl BuildJobs {
    /// The jobs of this hunt, before the first one.
    pub(crate) fn new(
        options: JobOptions,
        hunt: HuntDir,
        program: PathBuf,
        folder: PathBuf,
    ) -> Self {
        let queue = Queue::new(hunt.squeue());
        Self { options, hunt, program, folder, queue, patience: None }
    }

    /// Gives each build up whose job has not begun after this time. For a process that holds a node
    /// which the build may need.
    pub(crate) fn give_up_after(&mut self, patience: Duration) {
        self.patience = Some(patience);
    }

    /// Submits a job and waits for its answer. If a node builds otherwise than the others, another
    /// job is submitted. Returns the answer and the name of the node. `tell` gets the news.
    pub(super) fn ask(
        &self,
        order: &BuildOrder,
        stop: &Stop,
        tell: &mut dyn FnMut(JobNews) -> Result<(), StoreError>,
    ) -> Result<(BuildAnswer, String), OracleError> {
        self.hunt.make_jobs()?;
        let begins_by = self.patience.map(|patience| Instant::now() + patience);
        let _place = self.place(stop, begins_by, tell)?;
        loop {
            let attempt = Attempt::begin(&self.hunt.jobs(), Purpose::Build)?;
            attempt.put_order(&serde_json::to_vec(order).expect("an order is plain data"))?;
            let _waiter = attempt.await_job()?;
            let words = ["oracle", "--hunt", self.hunt.id(), "--build", "--job", attempt.token()];
            let submission = Order {
                program: self.program.clone(),
                words: words.map(Into::into).into(),
                folder: self.folder.clone(),
                excluded: build_nodes_set_aside(&self.hunt.jobs()),
            };
            let id = submit(&attempt, &self.options, &submission).map_err(not_submitted)?;
            let waits = format!("waiting for job {id}, which builds, to begin");
            tell(JobNews::Waits(waits))?;
            let mut listed = |job: &Listed| {
                let waits = job.waits(&format!("job {id}, which builds,"));
                // Nothing is built any more, even if the result comes later or never.
                let waits = waits.or_else(|| job.awaits_result(&format!("job {id}")));
                let news = match waits {
                    Some(why) => JobNews::Waits(why),
                    None if job.is_pending() => return,
                    None => JobNews::Begun,
                };
                // What is shown of a job decides nothing.
                tell(news).ok();
            };
            let end = wait_within(&attempt, &id, &self.queue, stop, begins_by, &mut listed);
            let (result, loss) = match end {
                JobEnd::Reported(result, loss) => (result, loss),
                JobEnd::Stopped if stop.is_requested() => return Err(OracleError::stopped(stop)),
                JobEnd::Stopped => return Err(gave_up(tell)?),
                JobEnd::Lost(loss) => return Err(lost(format!("job {id}, which built, {loss}"))),
            };
            let node = &result.node;
            match &result.refusal {
                Some(Refusal::OtherBuildNode { what }) => {
                    let text = format!("node {node} is set aside for builds: {what}");
                    tell(JobNews::Refused(text))?;
                    continue;
                }
                Some(Refusal::LockUnseen) => return Err(lock_unseen(node, self.hunt.path())),
                Some(Refusal::Busy) => {
                    let why = "did nothing: a job that was given up still builds in its folder";
                    return Err(lost(format!("job {id} {why}")));
                }
                Some(Refusal::OtherMachine { .. } | Refusal::Superseded) => {
                    return Err(lost(format!("job {id} did nothing")));
                }
                None => {}
            }
            if stop.is_requested() {
                return Err(OracleError::stopped(stop));
            }
            if result.is_interrupted() {
                let loss = loss.unwrap_or(Loss::Interrupted);
                return Err(lost(format!("job {id}, which built, {loss}")));
            }
            let answer = attempt.answer().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let Some(answer) = answer else {
                let (code, said) = (result.exit_code, attempt.last_line());
                let reason = format!(
                    "job {id}, which builds on node {node}, ended with exit code {code} (its \
                     output is in {}): {said}",
                    attempt.output().display()
                );
                let fault = RecordedFault { reason, ..RecordedFault::default() };
                return Err(OracleError::InJob(fault));
            };
            return Ok((answer, result.node));
        }
    }

    /// A place among the jobs that build at the same time, in all processes of the hunt.
    fn place(
        &self,
        stop: &Stop,
        begins_by: Option<Instant>,
        tell: &mut dyn FnMut(JobNews) -> Result<(), StoreError>,
    ) -> Result<File, OracleError> {
        let mut is_said = false;
        loop {
            for number in 0..self.options.max_jobs {
                let path = self.hunt.jobs().join(format!("build-{number}.lock"));
                if let Some(lock) = files::try_lock_file(&path).map_err(StoreError::at(&path))? {
                    return Ok(lock);
                }
            }
            if begins_by.is_some_and(|time| Instant::now() >= time) {
                return Err(gave_up(tell)?);
            }
            if !std::mem::replace(&mut is_said, true) {
                let why =
                    "waiting for another build of this hunt to end ([executor.build] max_jobs)";
                tell(JobNews::Waits(why.to_owned()))?;
            }
            if stop.within(POLL_INTERVAL) {
                return Err(OracleError::stopped(stop));
            }
        }
    }
}

/// The error of a build that does not begin in time, while a job holds a node for it.
fn gave_up(
    tell: &mut dyn FnMut(JobNews) -> Result<(), StoreError>,
) -> Result<OracleError, StoreError> {
    tell(JobNews::GaveUp)?;
    let reason = "a job that measures ahead gave its node back, because its build did not begin";
    Ok(lost(reason.to_owned()))
}

/// The error of a job that is lost: another one may work.
fn lost(reason: String) -> OracleError {
    let hint = Some("look at `sacct` or at the node".to_owned());
    OracleError::InJob(RecordedFault { reason, hint, may_pass: true, needs_new_hunt: false })
}

fn lock_unseen(node: &str, hunt: &Path) -> OracleError {
    let reason = format!(
        "node {node} does not see the lock of this hunt: file locks in {} must work between \
         machines",
        hunt.display()
    );
    OracleError::InJob(RecordedFault { reason, ..RecordedFault::default() })
}

fn not_submitted(error: SlurmError) -> OracleError {
    let reason = format!("no job that builds could be submitted: {error}");
    let (hint, may_pass, needs_new_hunt) = match error {
        SlurmError::Store(error) => return error.into(),
        SlurmError::Missing(_) => {
            ("the nodes that measure must be able to call sbatch".to_owned(), false, false)
        }
        SlurmError::Refused(said) => {
            let (hint, needs_new_hunt) = SlurmError::refusal_cure(&said, "[executor.build]");
            (hint, false, needs_new_hunt)
        }
        SlurmError::Unanswered { .. } => {
            ("wait until Slurm's controller answers".to_owned(), true, false)
        }
    };
    let hint = Some(hint);
    OracleError::InJob(RecordedFault { reason, hint, may_pass, needs_new_hunt })
}
