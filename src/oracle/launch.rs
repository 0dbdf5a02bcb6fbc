//! Makes one run of a measure's command, exclusive or beside other runs.

use std::time::Duration;

use crate::config::{Config, Exclusive, Measure, Placeholder};
use crate::evaluation::{CommitId, ExclusionReason, Phase, ReachedLimit, RunRecord};
use crate::store::journal::Event;
use crate::store::{HuntDir, RunKey, StoredRun};

use super::derive::Derived;
use super::duration::as_duration;
use super::loaded::is_given;
use super::machine_lock::{Held, MachineShare, NotTaken};
use super::parts::{Oracle, Placed};
use super::{OracleError, Task, caches, run};

/// This many throttled runs in a row stop the hunt, which can be resumed.
const MOST_THROTTLED: u32 = 3;

/// Bounds of the pause after one throttled run. Within them, the pause is as long as the run.
const SHORTEST_REST: Duration = Duration::from_secs(2);
const LONGEST_REST: Duration = Duration::from_mins(5);

/// What to run.
#[derive(Clone, Copy)]
pub(super) struct Launch<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) recipe: &'a Config,
    pub(super) measure: &'a Measure,
    pub(super) key: &'a RunKey,
    pub(super) phase: Phase,
    /// Whether the run is a warm-up, which does not count.
    pub(super) warm_up: bool,
    /// Whether an earlier run of the measure at the commit failed: no other run goes on beside this
    /// one, because two runs may disturb each other.
    pub(super) after_failure: bool,
}

impl Oracle {
    /// Makes one run of the measure and parses its output.
    pub(super) fn launch(
        &self,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<(StoredRun, Derived), OracleError> {
        let Launch { commit, recipe, measure, key, phase, warm_up, after_failure } = launch;
        let share = match measure.exclusive {
            Exclusive::No if self.recipes.config.executor.shares_job() => MachineShare::OnlyRun,
            Exclusive::No if after_failure => MachineShare::Repeat,
            Exclusive::No => MachineShare::Run,
            Exclusive::Runs => MachineShare::OnlyRun,
            Exclusive::All => MachineShare::Exclusive,
        };
        let _held = self.lock_machine(share, commit, Some(&measure.name), phase)?;
        // A control run may have used the slot's path in the meantime.
        placed.slot.take_turn()?;
        let doing = match phase {
            Phase::Control => Task::Control,
            _ if warm_up => Task::WarmUp,
            _ => Task::Run,
        };
        self.recorder.now(doing, commit, Some(&measure.name), phase);
        let run = run::run(run::RunRequest {
            repository: self.recipes.engine.history.repository(),
            store: &self.store,
            slot: &placed.slot,
            stamp: &placed.stamp,
            commit,
            checkout_spec: &placed.checkout_spec,
            values: &self.recipes.values(&placed.slot, commit, recipe)?,
            checkout: self.checkout.as_deref(),
            config: recipe,
            measure,
            key,
            facts: &self.recipes.facts,
            phase,
            warm_up,
            asks_for_server: phase == Phase::Endpoint
                && !self.launcher.unanswered.borrow().contains(&measure.name),
            hunt: self.recorder.hunt(),
            hunt_began: self.recorder.folder().and_then(HuntDir::began),
            ahead: self.recorder.is_ahead(),
            stop: &self.stop,
            host: &self.launcher.host,
            same: &|record| self.check_elsewhere(record),
            // If these runs cannot be read, the run counts as one that needs the port.
            at_good: &|| self.addresses_in_use_at_good(measure).unwrap_or_default(),
            look: &|| self.launcher.look(measure),
        })?;
        let answered = run.record.loaded.as_ref().and_then(|loaded| loaded.answered_by.as_deref());
        if phase == Phase::Endpoint
            && !warm_up
            && run.record.ended.is_success()
            && answered.is_none()
        {
            self.launcher.unanswered.borrow_mut().insert(measure.name.clone());
        }
        let reference = self.reference(measure, recipe)?;
        let derived = self.derived(&run, measure, recipe, reference.as_ref())?;
        Ok((run, derived))
    }

    /// Fails if a file from outside the slot changed since another run of the hunt loaded it.
    fn check_elsewhere(&self, record: &RunRecord) -> Result<(), OracleError> {
        let (Some(hunt), Some(loaded)) = (self.recorder.folder(), &record.loaded) else {
            return Ok(());
        };
        let mut known = self.launcher.elsewhere.borrow_mut();
        known.follow(hunt, &self.store)?;
        match known.changed(loaded, |path| is_given(path, &record.started)) {
            None => Ok(()),
            Some(changed) => Err(OracleError::Elsewhere {
                measure: record.measure.clone(),
                commit: record.commit.short().to_owned(),
                path: changed.path,
                before: changed.before,
            }),
        }
    }

    /// Makes the warm-up runs before the first run that counts, and records them: at least one if
    /// the endpoints showed that the first run of a build is not like the later ones. Each build is
    /// warmed up once per process. Each evaluation empties `{cache}`: if the command names it, or
    /// an earlier run left files there, each evaluation warms up again. A failed warm-up run is
    /// the last one, since the run that counts will fail too.
    pub(super) fn warm_up(
        &mut self,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<(), OracleError> {
        let Launch { commit, recipe, measure, phase, .. } = launch;
        let build = (placed.stamp.attempt.clone(), measure.name.clone());
        let is_cold = reads_cache(measure) || self.launcher.caching.contains(&measure.name);
        if !self.launcher.warm.insert(build) && !is_cold {
            return Ok(());
        }
        let least = u32::from(self.stored.is_warmed_up(&measure.name));
        for _ in 0..measure.warmup.max(least) {
            let launch = Launch { warm_up: true, ..launch };
            let (run, derived) = self.launch(launch, placed)?;
            if caches::is_used(&placed.slot.cache()) {
                self.launcher.caching.insert(measure.name.clone());
            }
            self.recorder.run(&run, &derived.sample, commit, phase)?;
            // Warm-up runs use up the budget, which must still cover the run that counts.
            self.afford(recipe)?;
            if derived.sample.result.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Fails if `max_runs` is reached.
    pub(super) fn afford(&self, recipe: &Config) -> Result<(), OracleError> {
        let runs = recipe.statistics.max_runs;
        if self.recorder.made() < runs {
            return Ok(());
        }
        let limit = ReachedLimit::Runs { runs };
        Err(OracleError::Limit(limit))
    }

    /// Whether the machine throttled during the run. If so, records the run and pauses. The pause
    /// is the run's duration, within bounds, times `in_row`: the number of throttled runs in a row.
    /// [`MOST_THROTTLED`] of them are an error.
    pub(super) fn rests_after(
        &mut self,
        launch: Launch<'_>,
        run: &StoredRun,
        derived: &Derived,
        in_row: &mut u32,
    ) -> Result<bool, OracleError> {
        let Launch { commit, measure, phase, .. } = launch;
        let Some(ExclusionReason::Throttled(why)) = run.record.exclusion_reason() else {
            *in_row = 0;
            return Ok(false);
        };
        *in_row += 1;
        self.recorder.run(run, &derived.sample, commit, phase)?;
        let (measure, short) = (measure.name.clone(), commit.short().to_owned());
        let text = format!("a run of {measure} at {short} did not count: {why}");
        self.recorder.event(Event::Note { text })?;
        if *in_row >= MOST_THROTTLED {
            return Err(OracleError::Throttled { runs: *in_row, measure, commit: short, why });
        }
        let rest = as_duration(run.record.used.wall_s).clamp(SHORTEST_REST, LONGEST_REST) * *in_row;
        self.recorder.waits("waiting for the machine to cool down", commit, Some(&measure), phase);
        if self.stop.within(rest) {
            return Err(OracleError::stopped(&self.stop));
        }
        Ok(true)
    }

    /// Locks the machine for a build or a run. Records the wait, if there is one.
    pub(super) fn lock_machine(
        &self,
        share: MachineShare,
        commit: &CommitId,
        measure: Option<&str>,
        phase: Phase,
    ) -> Result<Held, OracleError> {
        let why = match share {
            MachineShare::Build | MachineShare::Run => {
                "waiting for an exclusive run of bisect-ppl to end"
            }
            MachineShare::OnlyRun | MachineShare::Repeat => {
                "waiting for every other run of bisect-ppl to end"
            }
            MachineShare::Exclusive => "waiting for every other build and run of bisect-ppl to end",
        };
        let mut waiting = || self.recorder.waits(why, commit, measure, phase);
        self.launcher.machine_lock.take(share, &self.stop, &mut waiting).map_err(|not| match not {
            NotTaken::Stopped => OracleError::stopped(&self.stop),
            NotTaken::Error(error) => error.into(),
        })
    }
}

/// Whether the measure's command or environment names `{cache}`.
fn reads_cache(measure: &Measure) -> bool {
    let words = measure.before.iter().chain([&measure.command]).flat_map(|command| &command.words);
    let mut templates = words.chain(measure.env.values());
    templates.any(|template| template.placeholders().any(|p| *p == Placeholder::Cache))
}
