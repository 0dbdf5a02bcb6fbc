//! The parts of an oracle. Each file of this room adds the methods of one job.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::build::{Slot, Slots, Stamp};
use crate::git::{History, Holding};
use crate::process::Stop;
use crate::store::Store;

use super::control_slot::ControlSlot;
use super::derive::Derivations;
use super::launcher::Launcher;
use super::loaded::Present;
use super::recipes::Recipes;
use super::recorder::Recorder;

/// Answers about commits.
pub struct Oracle {
    /// The commits that can be asked about.
    pub history: History,
    /// The recipes and keys of commits.
    pub recipes: Recipes,
    /// The stored builds and runs.
    pub store: Store,
    /// The folders to build and run in.
    pub slots: Slots,
    /// The user's checkout, which `[worktree] link` links from.
    pub checkout: Option<PathBuf>,
    /// Journal and logs.
    pub recorder: Recorder,
    /// The request to stop.
    pub stop: Stop,
    /// The good endpoint's kept build.
    pub control: Option<ControlSlot>,
    /// Slots with builds, kept for the next evaluation.
    pub kept: Vec<Slot>,
    /// Attempts of an earlier hunt's confirmation that this hunt reuses.
    pub taken_over: BTreeSet<String>,
    /// Current digests of programs and shared objects from outside the slot.
    pub present: Present,
    /// The state that launches share.
    pub launcher: Launcher,
    /// Samples already derived from logs.
    pub derivations: Derivations,
}

/// A slot with a finished build.
pub(super) struct Placed {
    pub(super) slot: Slot,
    pub(super) stamp: Stamp,
    pub(super) holding: Holding,
}
