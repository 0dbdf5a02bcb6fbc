//! Several measurements at the same time: workers measure commits in the other slots of the
//! executor, before the hunt asks for them. What they measure is in the store; it counts only when
//! the hunt takes it over.

mod builder;
pub(crate) mod claim;
mod cluster;
pub(crate) mod crew;
pub(crate) mod forecast;
pub(crate) mod in_noise;
pub(crate) mod job;
mod later;
mod one_slot;
pub(crate) mod scout;
mod slot_check;
mod slot_levels;
pub(crate) mod worker;
mod worker_process;

use std::time::Instant;

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, Phase};
use crate::oracle::{Activity, Oracle, OracleError, Recorder};
use crate::store::HuntDir;
use crate::store::journal::{Begun, Event};

use super::HuntError;
use super::driver::Driver;
use claim::claim;
use cluster::Cluster;
use crew::Crew;
use job::AheadJob;
use slot_check::runs_of_whole_check;

/// How many slots a hunt measures in.
pub(crate) fn slots(begun: &Begun, config: &Config) -> usize {
    let listed = config.executor.listed().unwrap_or(1);
    begun.options.slots.map_or(listed, |asked| usize::try_from(asked).unwrap_or(listed))
}

/// Whether a run of the good endpoint in another slot gave exactly the values of its other runs;
/// `None` if there are no runs of it in two slots.
pub(crate) fn slots_agree(
    oracle: &Oracle,
    hunt: &HuntDir,
    good: &CommitId,
    measures: &[String],
) -> Result<Option<bool>, HuntError> {
    let Some(attempts) = runs_of_whole_check(hunt, good)? else { return Ok(None) };
    Ok(oracle.reads_the_same(good, measures, &attempts)?)
}

impl Driver<'_> {
    /// How many slots this hunt measures in.
    pub(crate) fn slots(&self) -> usize {
        slots(&self.begun, &self.oracle.recipes.config)
    }

    /// The workers in the other slots; `None` if there is only one slot.
    pub(crate) fn crew(&self) -> Result<Option<Crew>, HuntError> {
        if self.slots() < 2 {
            return Ok(None);
        }
        let folder = self.oracle.history.repository().stands().to_owned();
        let slurm = self.oracle.recipes.config.executor.slurm.clone();
        if slurm.is_some() {
            self.hunt.make_jobs()?;
        }
        let cluster = slurm.map(|slurm| Cluster::new(slurm, self.hunt));
        let crew = Crew::new(self.hunt, self.program.clone(), folder, self.slots(), cluster)?;
        Ok(Some(crew))
    }

    /// Measures commits at the same time, each with so many runs.
    pub(crate) fn measure_beside(
        &mut self,
        commits: &[CommitId],
        measures: &[String],
        phase: Phase,
        runs: usize,
    ) -> Result<(), HuntError> {
        let job = |commit: &CommitId| AheadJob {
            clean: self.is_clean,
            ..AheadJob::of_runs(commit.clone(), measures, phase, runs)
        };
        let jobs: Vec<AheadJob> = commits.iter().map(job).collect();
        self.measure_all(&jobs)
    }

    /// As [`Self::measure_beside`] in a confirmation: the runs that are missing are of new builds.
    pub(crate) fn rebuild_beside(
        &mut self,
        commits: &[CommitId],
        measures: &[String],
        runs: usize,
    ) -> Result<(), HuntError> {
        let job = |commit: &CommitId| AheadJob {
            clean: self.is_clean,
            rebuild: true,
            ..AheadJob::of_runs(commit.clone(), measures, Phase::Confirm, runs)
        };
        let jobs: Vec<AheadJob> = commits.iter().map(job).collect();
        self.measure_all(&jobs)
    }

    /// Does these jobs at the same time, and takes the results over.
    fn measure_all(&mut self, jobs: &[AheadJob]) -> Result<(), HuntError> {
        let Some(waited) = self.work_beside(jobs)? else { return Ok(()) };
        let [own, other, ..] = jobs else { return Ok(()) };
        // This process finds its own build again if it must measure the commit again.
        self.oracle.record_finished_builds(&own.commit, own.phase)?;
        // The time of waiting for all workers is written once, with the first worker's commit.
        self.oracle.take_over(&other.commit, other.phase, waited)?;
        for job in jobs {
            drop(claim(&mut self.oracle, self.hunt, &job.commit, job.phase)?);
        }
        Ok(())
    }

    /// Does jobs of one phase and the same measures at the same time: the first one in this
    /// process's slot, each other one in a slot of its own. Afterwards the store has the runs, and a
    /// run counts when the hunt asks for it. Does nothing if there is one slot or one commit, or if
    /// a measure is exclusive: exclusive runs take turns, and their times are best compared at one
    /// path. In a cluster, does nothing if a measure depends on the speed of the node. Starts no
    /// worker if the store has all runs and the slots are checked, as after `resume`.
    ///
    /// A job that fails decides nothing: the hunt measures again what is missing.
    ///
    /// Returns how long this process waited for workers, in seconds; `None` if it started none.
    fn work_beside(&mut self, jobs: &[AheadJob]) -> Result<Option<f64>, HuntError> {
        let Some((own_job, others)) = jobs.split_first() else { return Ok(None) };
        let AheadJob { commit: first, phase, measures, runs, .. } = own_job;
        let phase = *phase;
        let commits: Vec<CommitId> = jobs.iter().map(|job| job.commit.clone()).collect();
        let config = &self.oracle.recipes.config;
        let needs_one_node =
            config.executor.is_cluster() && measures.iter().any(|name| config.is_timed(name));
        if self.slots() < 2
            || others.is_empty()
            || measures.is_empty()
            || needs_one_node
            || self.is_any_exclusive(measures)
        {
            return Ok(None);
        }
        let is_stored = self.are_stored(&commits, measures, phase, *runs)?;
        let is_end = phase == Phase::Endpoint;
        let needs_check = is_end && self.needs_slot_check(measures, is_stored)?;
        if is_stored && !needs_check {
            for commit in &commits {
                self.oracle.record_finished_builds(commit, phase)?;
            }
            return Ok(None);
        }
        let Some(mut crew) = self.crew()? else { return Ok(None) };
        // Before a worker starts: even if the store has all runs of the first commit, no worker may
        // get the slot in which they were made. There, it could not tell whether slots differ.
        self.oracle.pool.reserve().map_err(OracleError::from)?;
        for commit in &commits {
            self.oracle.recorder.expect_worker(commit, phase);
        }
        // What finds no slot, this process measures.
        for job in others {
            crew.start(job);
        }
        // The check comes last: the ends are built at the same time. It must use the slot in which
        // the bad end ran, so it waits for that slot, also if others are free. In a cluster each
        // job may run on another node, so the check takes any free slot.
        let is_cluster = self.oracle.recipes.config.executor.is_cluster();
        let has_place = |crew: &Crew| if is_cluster { crew.free() > 0 } else { !crew.is_busy() };
        let mut check = needs_check.then(|| self.slot_check(measures));
        if let Some(job) = check.take_if(|_| has_place(&crew)) {
            crew.start(&job);
        }
        let own = self.hunt.begin_ahead(first, phase)?;
        let ahead = Recorder::ahead(self.hunt, own, 0)?;
        let journal = std::mem::replace(&mut self.oracle.recorder, ahead);
        let result = own_job.measure(&mut self.oracle);
        let mut done = self.oracle.recorder.ahead_record().cloned();
        self.oracle.recorder = journal;
        if let Some(record) = &mut done {
            record.is_done = result.is_ok();
            self.hunt.keep_ahead(record)?;
        }
        let own_end = Instant::now();
        if crew.is_busy() || check.is_some() {
            // Nothing else says what this process does meanwhile.
            let why = "waiting for what is measured at the same time".to_owned();
            Activity::wait_as_noted(&self.hunt.now_path(), why);
        }
        while (crew.is_busy() || check.is_some()) && !self.stop.within(crew::PAUSE) {
            crew.reap()?;
            crew.cancel_waiting();
            if let Some(job) = check.take_if(|_| has_place(&crew)) {
                crew.start(&job);
            }
        }
        let waited = own_end.elapsed().as_secs_f64();
        crew.end()?;
        if self.stop.is_requested() {
            for commit in &commits {
                self.oracle.record_finished_builds(commit, phase)?;
            }
            return Err(HuntError::stopped(&self.stop));
        }
        Ok(Some(waited))
    }

    /// Whether one of these measures is `exclusive`: nothing else may run at the same time.
    pub(crate) fn is_any_exclusive(&self, measures: &[String]) -> bool {
        let config = &self.oracle.recipes.config;
        measures.iter().any(|name| config.measure(name).is_none_or(Measure::is_exclusive))
    }

    /// Whether slots give the same values ([`slots_agree`]).
    pub(crate) fn slots_agree(&self, measures: &[String]) -> Result<Option<bool>, HuntError> {
        slots_agree(&self.oracle, self.hunt, &self.begun.good.commit, measures)
    }

    /// All runs that the workers of this hunt made, also those that nobody took over.
    pub(crate) fn runs_ahead(&self) -> Result<Vec<String>, HuntError> {
        let mut attempts = Vec::new();
        for entry in &self.hunt.entries()? {
            if let Event::Ahead(done) = &entry.event {
                attempts.extend(done.runs.iter().map(|(run, _)| run.clone()));
            }
        }
        Ok(attempts)
    }
}
