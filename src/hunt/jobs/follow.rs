//! Drives a hunt from outside its jobs: submits the job in which the hunt runs, waits for its
//! result, and submits another one if it is lost.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::config::{Config, JobOptions};
use crate::hunt::HuntError;
use crate::hunt::begin::open::{begun, frozen};
use crate::hunt::jobs::earlier_findings::earlier_findings;
use crate::hunt::jobs::nodes::avoided_nodes;
use crate::hunt::pauses::Pauses;
use crate::oracle::Activity;
use crate::process::Stop;
use crate::slurm::{
    Attempt, JobEnd, JobResult, Listed, Loss, Order, Purpose, Queue, Refusal, SlurmError, cancel,
    nodes_in_service, nodes_set_aside, submit, wait,
};
use crate::store::journal::{Entry, Event};
use crate::store::{HuntDir, RecordedFault};

/// How long a job that was given up may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// Interval between two tries to get the lock of such a job.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The exit codes of a hunt that has an answer.
const ANSWERED: [u8; 3] = [0, 3, 4];

/// What the driver of a hunt in jobs works with.
pub(crate) struct JobDriver<'a> {
    /// The hunt. The caller holds its lock.
    pub(crate) hunt: &'a HuntDir,
    /// The path of this program, which the nodes must have too.
    pub(crate) program: PathBuf,
    /// Where jobs start: they find the repository from there.
    pub(crate) folder: PathBuf,
    /// Further arguments of `resume`, such as new limits, until the journal has them.
    pub(crate) words: Vec<OsString>,
    /// Ends the hunt.
    pub(crate) stop: &'a Stop,
    /// The number of the journal's entries when this driver began.
    pub(crate) seen: usize,
    /// Gets lines about the jobs.
    pub(crate) say: &'a dyn Fn(&str),
}

/// What to do after a job.
enum Next {
    /// The hunt has ended, or stopped for a reason that its journal has.
    Over,
    /// Another job at once.
    Again,
    /// Another job at once, which avoids fewer nodes: no other node takes it.
    Avoiding(Avoided),
    /// Another job after a pause.
    Pause(HuntError),
}

/// The nodes that jobs avoid beside those that cannot run them, from most to fewest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Avoided {
    /// Those that this hunt left, and those that earlier hunts set aside.
    All,
    /// Those that this hunt left.
    Left,
    /// None.
    Nothing,
}

impl Avoided {
    /// The text of a note that jobs avoid fewer nodes now.
    fn note(self) -> String {
        let where_to = match self {
            Self::All | Self::Left => "a node that an earlier hunt set aside",
            Self::Nothing => "any",
        };
        format!("no other node takes the job, so it may run on {where_to}")
    }
}

impl JobDriver<'_> {
    /// Drives the hunt until it has an answer or stops; the journal says which.
    pub(crate) fn run(self) -> Result<(), HuntError> {
        if let Some(Event::Ended { finding, .. }) = self.hunt.entries()?.last().map(|e| &e.event)
            && finding.limit.is_none()
        {
            return Ok(());
        }
        // What the jobs of a killed driver did last, and since when, is over.
        std::fs::remove_file(self.hunt.now_path()).ok();
        let result = self.try_run();
        if let Err(error) = &result {
            self.write_stopped(error)?;
        }
        // A job whose submission was unclear may still wait. If Slurm does not answer now, the job
        // ends by itself when it begins.
        self.end_other_jobs().ok();
        std::fs::remove_file(self.hunt.now_path()).ok();
        result
    }

    fn try_run(&self) -> Result<(), HuntError> {
        self.hunt.make_jobs()?;
        let begun = begun(self.hunt)?;
        let config = frozen(self.hunt, &begun)?;
        let mut pauses = Pauses::default();
        let mut avoided = Avoided::All;
        loop {
            let next = match self.end_other_jobs() {
                Ok(()) => self.one_job(&config, avoided)?,
                Err(error) => after(error)?,
            };
            match next {
                Next::Over => return Ok(()),
                Next::Again => {}
                Next::Avoiding(fewer) => {
                    self.note(fewer.note())?;
                    avoided = fewer;
                }
                Next::Pause(error) => self.pause(&mut pauses, error, &config)?,
            }
            if self.stop.is_requested() {
                return Err(HuntError::Stopped);
            }
        }
    }

    /// Submits one job and waits for its end.
    fn one_job(&self, config: &Config, avoided: Avoided) -> Result<Next, HuntError> {
        let options = config.executor.slurm.clone().unwrap_or_default().measure;
        let unusable = nodes_set_aside(&self.hunt.jobs());
        let entries = self.hunt.entries()?;
        let left = &unusable | &avoided_nodes(&entries);
        let all = match avoided {
            Avoided::All => &left | &self.set_aside_before(config, &options, &left, &entries)?,
            Avoided::Left | Avoided::Nothing => left.clone(),
        };
        let excluded_if = |avoided| match avoided {
            Avoided::All => &all,
            Avoided::Left => &left,
            Avoided::Nothing => &unusable,
        };
        let excluded = excluded_if(avoided).clone();
        let fewer = [Avoided::Left, Avoided::Nothing]
            .into_iter()
            .find(|fewer| *fewer > avoided && *excluded_if(*fewer) != excluded);
        let attempt = Attempt::begin(&self.hunt.jobs(), Purpose::Drive)?;
        self.hunt.set_current_job(attempt.token())?;
        let mut words: Vec<OsString> =
            ["resume", self.hunt.id(), "--job", attempt.token()].map(OsString::from).into();
        if !self.has_resumed()? {
            words.extend(self.words.iter().cloned());
        }
        let order =
            Order { program: self.program.clone(), words, folder: self.folder.clone(), excluded };
        // Before the job is submitted: once it works, it says itself what it does.
        Activity::wait_as_noted(&self.hunt.now_path(), "waiting for a job to begin".to_owned());
        let id = match (submit(&attempt, &options, &order), fewer) {
            (Ok(id), _) => id,
            (Err(SlurmError::Refused(_)), Some(fewer)) => return Ok(Next::Avoiding(fewer)),
            (Err(error), _) => return after(error),
        };
        (self.say)(&format!("job {id} is submitted"));
        let mut say = |job: &Listed| {
            if let Some(why) = job.waits(&format!("job {id}")) {
                Activity::wait(&self.hunt.now_path(), why);
            }
            if let Some(why) = job.awaits_result(&format!("job {id}")) {
                Activity::wait_as_noted(&self.hunt.now_path(), why);
            }
        };
        let queue = Queue::new(self.hunt.squeue());
        let end = wait(&attempt, &id, &queue, self.stop, &mut say);
        if let (Some(fewer), JobEnd::Lost(Loss::NoNode)) = (fewer, &end) {
            return Ok(Next::Avoiding(fewer));
        }
        self.judge(&attempt, &id, end)
    }

    /// The nodes that earlier hunts set aside, if a node of the partition is left that takes jobs
    /// and is not in `left`: a job must not wait for nodes that are out of service. A note tells
    /// why each node is avoided, unless the journal's `entries` have it.
    fn set_aside_before(
        &self,
        config: &Config,
        options: &JobOptions,
        left: &BTreeSet<String>,
        entries: &[Entry],
    ) -> Result<BTreeSet<String>, HuntError> {
        let findings = earlier_findings(self.hunt, config, jiff::Timestamp::now());
        let nodes: BTreeSet<String> = findings.keys().cloned().collect();
        if nodes.is_subset(left) {
            return Ok(BTreeSet::new());
        }
        let in_service = nodes_in_service(options.partition.as_deref()).unwrap_or_default();
        if in_service.difference(&nodes).all(|node| left.contains(node)) {
            return Ok(BTreeSet::new());
        }
        for (node, finding) in &findings {
            let text = finding.note(node);
            let is_it =
                |entry: &Entry| matches!(&entry.event, Event::Note { text: its } if *its == text);
            if !entries.iter().any(is_it) {
                self.note(text)?;
            }
        }
        Ok(nodes)
    }

    fn judge(&self, attempt: &Attempt, id: &str, end: JobEnd) -> Result<Next, HuntError> {
        let (result, loss) = match end {
            JobEnd::Stopped => return Err(HuntError::Stopped),
            JobEnd::Lost(loss) => return Ok(Next::Pause(passing(format!("job {id} {loss}")))),
            JobEnd::Reported(result, loss) => (result, loss),
        };
        if self.has_left_node()? {
            return Ok(Next::Again);
        }
        match &result.refusal {
            Some(Refusal::OtherMachine { what }) => {
                let node = &result.node;
                self.note(format!("node {node} is set aside, job {id} did nothing: {what}"))?;
                return Ok(Next::Again);
            }
            Some(Refusal::LockUnseen) => {
                return Err(HuntError::Environment(format!(
                    "node {} does not see the lock of this hunt: file locks in {} must work \
                     between machines",
                    result.node,
                    self.hunt.path().display()
                )));
            }
            Some(Refusal::Busy | Refusal::Superseded | Refusal::OtherBuildNode { .. }) => {
                let text = format!("job {id} did nothing: another job of the hunt did not end");
                return Ok(Next::Pause(passing(text)));
            }
            None => {}
        }
        if result.is_interrupted() {
            if self.stop.is_requested() {
                return Err(HuntError::Stopped);
            }
            let loss = loss.unwrap_or(Loss::Interrupted);
            return Ok(Next::Pause(passing(format!("job {id} {loss}"))));
        }
        if ANSWERED.contains(&result.exit_code) || self.is_told()? {
            Ok(Next::Over)
        } else {
            Err(died(attempt, id, &result))
        }
    }

    /// Whether the journal says how the hunt ended, since this driver began.
    fn is_told(&self) -> Result<bool, HuntError> {
        let last = self.last_event()?;
        Ok(matches!(last, Some(Event::Ended { .. } | Event::Stopped { .. })))
    }

    /// Whether the last job ended because the hunt goes on on another node.
    fn has_left_node(&self) -> Result<bool, HuntError> {
        let last = self.last_event()?;
        Ok(matches!(last, Some(Event::NodeSetAside { .. } | Event::ConfirmsElsewhere { .. })))
    }

    /// The last event of the journal since this driver began.
    fn last_event(&self) -> Result<Option<Event>, HuntError> {
        let entries = self.hunt.entries()?;
        Ok(entries.iter().skip(self.seen).next_back().map(|entry| entry.event.clone()))
    }

    /// Whether a job took the hunt up since this driver began.
    fn has_resumed(&self) -> Result<bool, HuntError> {
        let entries = self.hunt.entries()?;
        Ok(entries.iter().skip(self.seen).any(|entry| matches!(entry.event, Event::Resumed { .. })))
    }

    /// Ends the hunt's earlier jobs, including those of a driver that was killed.
    fn end_other_jobs(&self) -> Result<(), SlurmError> {
        let open: Vec<Attempt> =
            Attempt::all(&self.hunt.jobs()).into_iter().filter(Attempt::is_open).collect();
        for attempt in &open {
            attempt.ask_to_end()?;
        }
        if !open.is_empty() {
            self.wait_until_none_drives();
        }
        for attempt in open {
            cancel(attempt.token())?;
            attempt.close()?;
        }
        Ok(())
    }

    /// Waits until no job drives the hunt. A job on a node that is cut off may hold the lock for
    /// longer; the next job waits for it too.
    fn wait_until_none_drives(&self) {
        let since = Instant::now();
        let is_held = || !matches!(self.hunt.lock_jobs(), Ok(Some(_)));
        while is_held() && since.elapsed() < PATIENCE {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn pause(
        &self,
        pauses: &mut Pauses,
        error: HuntError,
        config: &Config,
    ) -> Result<(), HuntError> {
        if !pauses.plan(&error, self.hunt, config)? {
            return Err(error);
        }
        pauses.make(self.hunt, self.stop)?;
        Ok(())
    }

    fn note(&self, text: String) -> Result<(), HuntError> {
        (self.say)(&text);
        Ok(self.hunt.journal()?.append(Event::Note { text })?)
    }

    /// Writes why the hunt stops, unless its last job did.
    fn write_stopped(&self, error: &HuntError) -> Result<(), HuntError> {
        self.wait_until_none_drives();
        if self.is_told()? {
            return Ok(());
        }
        let stopped =
            Event::Stopped { world: !matches!(error, HuntError::Stopped), fault: error.recorded() };
        Ok(self.hunt.journal()?.append(stopped)?)
    }
}

/// What to do after an error of Slurm.
fn after(error: SlurmError) -> Result<Next, HuntError> {
    match error {
        SlurmError::Store(error) => Err(error.into()),
        SlurmError::Unanswered { .. } => Ok(Next::Pause(passing(error.to_string()))),
        SlurmError::Missing(_) => Err(HuntError::Environment(error.to_string())),
        SlurmError::Refused(said) => Err(refused(&said)),
    }
}

/// The error of a job that sbatch refused with these words.
fn refused(said: &str) -> HuntError {
    let (hint, needs_new_hunt) = SlurmError::refusal_cure(said, "[executor] or [executor.measure]");
    HuntError::OracleStopped(RecordedFault {
        reason: SlurmError::Refused(said.to_owned()).to_string(),
        hint: Some(hint),
        may_pass: false,
        needs_new_hunt,
    })
}

/// A fault that may pass.
fn passing(reason: String) -> HuntError {
    let fault = RecordedFault { reason, may_pass: true, ..RecordedFault::default() };
    HuntError::OracleStopped(fault)
}

/// The error of a job whose command failed before it could write to the journal.
fn died(attempt: &Attempt, id: &str, result: &JobResult) -> HuntError {
    HuntError::Environment(format!(
        "job {id} on node {} ended with exit code {} (its output is in {}): {}",
        result.node,
        result.exit_code,
        attempt.output().display(),
        attempt.last_line()
    ))
}
