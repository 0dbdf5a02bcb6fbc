//! The parts of an oracle. Each file of this module adds the methods of one job.

use std::path::PathBuf;

use crate::build::{Slot, Stamp};
use crate::git::{CheckoutSpec, History};
use crate::process::Stop;
use crate::store::Store;

use super::build_jobs::BuildJobs;
use super::control_slot::ControlSlot;
use super::launcher::Launcher;
use super::recipes::Recipes;
use super::recorder::Recorder;
use super::references::References;
use super::slot_pool::SlotPool;
use super::stored_runs::StoredRuns;

/// Answers requests about commits.
pub(crate) struct Oracle {
    /// The commits that can be asked about.
    pub history: History,
    /// The recipes and keys of commits.
    pub recipes: Recipes,
    /// The stored builds and runs.
    pub store: Store,
    /// The slots to build and run in.
    pub pool: SlotPool,
    /// The jobs that build, if other nodes build than this one.
    pub build_jobs: Option<BuildJobs>,
    /// The user's checkout, which `[worktree] link` links from.
    pub checkout: Option<PathBuf>,
    /// Journal and logs.
    pub recorder: Recorder,
    /// The request to stop.
    pub stop: Stop,
    /// The good endpoint's kept build.
    pub control: Option<ControlSlot>,
    /// Which stored runs count.
    pub stored: StoredRuns,
    /// The runs that others are compared with.
    pub references: References,
    /// The state that all runs of this process share.
    pub launcher: Launcher,
}

impl Oracle {
    /// The name of the computer that this process measures on.
    pub(crate) fn host(&self) -> &str {
        &self.launcher.host.name
    }
}

/// A slot with a finished build.
pub(super) struct Placed {
    pub(super) slot: Slot,
    pub(super) stamp: Stamp,
    pub(super) checkout_spec: CheckoutSpec,
}
