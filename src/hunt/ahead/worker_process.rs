//! The process of a worker: this program, which measures one commit on this machine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::{self, Invocation, Keep, LogFile, Stop};

/// How long a worker may take to end its engine.
const GRACE: Duration = Duration::from_secs(30);

/// How a worker is started.
pub(super) struct WorkerProcess {
    invocation: Invocation,
    /// The file for its output.
    log: PathBuf,
}

impl WorkerProcess {
    /// This program with these arguments, in the folder where it finds the repository.
    pub(super) fn new(
        program: PathBuf,
        words: Vec<OsString>,
        folder: PathBuf,
        log: PathBuf,
    ) -> Self {
        Self { invocation: Invocation::own(program).args(words).cwd(folder).grace(GRACE), log }
    }

    /// Runs the process until its end. If it fails, its commit is left to the hunt.
    pub(super) fn run(&self, stop: &Stop) {
        let file = LogFile { path: &self.log, header: &[], sync: false };
        process::run(&self.invocation, stop, &file, &mut |_, _| Keep::No).ok();
    }
}
