//! The state that all runs of this process share.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use crate::config::Measure;
use crate::evaluation::{Host, MachineState};

use super::gpu_state::GpuProbe;
use super::host::host;
use super::loaded::ExternalFiles;
use super::machine_lock::MachineLock;
use super::machine_state;

/// The state that all runs of this process share.
#[derive(Debug)]
pub(crate) struct Launcher {
    pub(super) machine_lock: MachineLock,
    /// The computer.
    pub(crate) host: Host,
    pub(super) gpus: GpuProbe,
    /// Pairs of build attempt and measure that this process has warmed up.
    pub(super) warm: BTreeSet<(String, String)>,
    /// Measures whose runs leave files in `{cache}`.
    pub(super) caching: BTreeSet<String>,
    /// The files from outside the slot that the hunt's runs loaded.
    pub(super) elsewhere: RefCell<ExternalFiles>,
    /// Measures of which a run of an endpoint talked to no older server: the answer "no
    /// regression" then asks no further run for one.
    pub(super) unanswered: RefCell<BTreeSet<String>>,
}

impl Launcher {
    /// A launcher that uses the lock files below the user's cache folder.
    pub(crate) fn new(user_cache: &Path) -> Self {
        Self {
            machine_lock: MachineLock::below(user_cache),
            host: host(),
            gpus: GpuProbe::default(),
            warm: BTreeSet::new(),
            caching: BTreeSet::new(),
            elsewhere: RefCell::default(),
            unanswered: RefCell::default(),
        }
    }
}

impl Launcher {
    /// The machine's current state. The GPU query is slow, so it is made only for exclusive
    /// measures, where times matter.
    pub(super) fn look(&self, measure: &Measure) -> MachineState {
        let gpus = if measure.is_exclusive() { self.gpus.ask() } else { Vec::new() };
        MachineState { gpus, ..machine_state::read(Path::new("/")) }
    }
}
