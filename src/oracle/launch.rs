//! One launch of a measure's command, in the company it bears.

use std::path::Path;
use std::time::Duration;

use crate::config::{Config, Measure};
use crate::evaluation::{Apart, CommitId, MachineState, Phase};
use crate::store::journal::Event;
use crate::store::{RunKey, StoredRun};

use super::count::given;
use super::derive::{Derived, derive};
use super::evaluate::{Oracle, Placed};
use super::gpu_state::GpuProbe;
use super::quiet::{Company, Held, NotTaken, Quiet};
use super::{OracleError, machine_state, run};

/// So many throttled runs in a row end the hunt, which can be resumed.
const MOST_THROTTLED: u32 = 3;

/// The rest after a throttled run is as long as the run, within these.
const SHORTEST_REST: Duration = Duration::from_secs(2);
const LONGEST_REST: Duration = Duration::from_mins(5);

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

    /// Whether a run counts for nothing since the machine throttled. Then it is kept and said,
    /// and the machine has had a rest: as long as the run that heated it, twice as long after
    /// the next. `in_row` counts; several in a row are the machine's state, not a moment's.
    pub(super) fn rests_after(
        &mut self,
        launch: Launch<'_>,
        run: &StoredRun,
        derived: &Derived,
        in_row: &mut u32,
    ) -> Result<bool, OracleError> {
        let Launch { commit, measure, phase, .. } = launch;
        let Some(Apart::Throttled(why)) = run.record.apart() else {
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
        let rest = given(run.record.wall_s).clamp(SHORTEST_REST, LONGEST_REST) * *in_row;
        self.recorder.waits("waits for the machine to cool down", commit, Some(&measure), phase);
        if self.stop.within(rest) {
            return Err(OracleError::Stopped);
        }
        Ok(true)
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
