//! One launch of a measure's command, in the company it bears.

use std::path::Path;

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, MachineState, Phase};
use crate::store::{RunKey, StoredRun};

use super::derive::{Derived, derive};
use super::evaluate::{Oracle, Placed};
use super::gpu_state::GpuProbe;
use super::quiet::{Company, Held, NotTaken, Quiet};
use super::{OracleError, machine_state, run};

/// What launches need besides a commit and a recipe.
#[derive(Debug)]
pub struct Launcher {
    quiet: Quiet,
    gpus: GpuProbe,
}

impl Launcher {
    /// With the locks of this machine, which lie in the user's cache folder.
    pub fn new(user_cache: &Path) -> Self {
        Self { quiet: Quiet::below(user_cache), gpus: GpuProbe::default() }
    }
}

impl Launcher {
    /// What the machine is like now. GPUs take long to ask, so that is done only where times
    /// are what is measured.
    fn look(&self, measure: &Measure) -> MachineState {
        let gpus = if measure.exclusive { self.gpus.ask() } else { Vec::new() };
        MachineState { gpus, ..machine_state::read(Path::new("/")) }
    }
}

/// What to launch.
#[derive(Clone, Copy)]
pub(super) struct Launch<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) recipe: &'a Config,
    pub(super) measure: &'a Measure,
    pub(super) key: &'a RunKey,
    pub(super) phase: Phase,
}

impl Oracle {
    /// Runs it once and reads what it said.
    pub(super) fn launch(
        &self,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<(StoredRun, Derived), OracleError> {
        let Launch { commit, recipe, measure, key, phase } = launch;
        let company = if measure.exclusive { Company::Alone } else { Company::Beside };
        let _held = self.bear(company, commit, Some(&measure.name), phase)?;
        let doing = if phase == Phase::Control { "control" } else { "run" };
        self.recorder.now(doing, commit, Some(&measure.name), phase);
        let run = run::run(run::Order {
            history: &self.history,
            store: &self.store,
            slot: &placed.slot,
            stamp: &placed.stamp,
            commit,
            config: recipe,
            measure,
            key,
            facts: &self.facts,
            phase,
            hunt: self.recorder.hunt(),
            stop: &self.stop,
            look: &|| self.launcher.look(measure),
        })?;
        let derived = derive(&run, measure, recipe)?;
        Ok((run, derived))
    }

    /// Waits until a build or run may go on, and says so where it has to wait.
    pub(super) fn bear(
        &self,
        company: Company,
        commit: &CommitId,
        measure: Option<&str>,
        phase: Phase,
    ) -> Result<Held, OracleError> {
        let why = match company {
            Company::Beside => "waits for a run of bisect-ppl that must be alone to end",
            Company::Alone => "waits for every other build and run of bisect-ppl to end",
        };
        let mut waiting = || self.recorder.waits(why, commit, measure, phase);
        self.launcher.quiet.take(company, &self.stop, &mut waiting).map_err(|not| match not {
            NotTaken::Stopped => OracleError::Stopped,
            NotTaken::Error(error) => error.into(),
        })
    }
}
