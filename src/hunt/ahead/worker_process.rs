//! The process of a worker: this program, which measures one commit.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::{self, Invocation, Keep, LogFile, Stop};

use super::job::AheadJob;

/// How long a worker may take to end its engine.
const GRACE: Duration = Duration::from_secs(30);

/// How a worker is started.
#[derive(Clone, Debug)]
pub(crate) struct WorkerProcess {
    /// This program.
    pub(crate) program: PathBuf,
    /// Where it starts: it finds the repository from there.
    pub(crate) folder: PathBuf,
    /// The hunt's name.
    pub(crate) hunt: String,
    /// The number of its slot of the executor.
    pub(crate) slot: usize,
    /// The file for its output.
    pub(crate) log: PathBuf,
}

impl WorkerProcess {
    /// The arguments of this program for a job.
    pub(crate) fn words(&self, job: &AheadJob) -> Vec<OsString> {
        let described = serde_json::to_string(job).expect("a job is plain data");
        let slot = self.slot.to_string();
        ["oracle", "--hunt", &self.hunt, "--slot", &slot, "--ahead", &described]
            .map(OsString::from)
            .into()
    }

    /// Runs the process on this machine until its end. If it fails, its commit is left to the hunt.
    pub(crate) fn run(&self, job: &AheadJob, stop: &Stop) {
        let invocation = Invocation::own(self.program.clone())
            .args(self.words(job))
            .cwd(self.folder.clone())
            .grace(GRACE);
        let file = LogFile { path: &self.log, header: &[], sync: false };
        process::run(&invocation, stop, &file, &mut |_, _| Keep::No).ok();
    }
}
