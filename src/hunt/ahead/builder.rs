//! The builder of a job: a process beside the driver that has a commit built. The job that will
//! measure the commit is submitted when the build is done: a job that waits for a build holds a
//! node which that build may need.

use std::thread::ScopedJoinHandle;
use std::time::Duration;

use crate::evaluation::{CommitId, Phase};
use crate::process::Stop;
use crate::store::HuntDir;

use super::worker_process::WorkerProcess;

/// Time between two looks for the build.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The process, and the commit that it builds.
pub(super) struct Builder {
    pub(super) process: WorkerProcess,
    pub(super) hunt: HuntDir,
    pub(super) commit: CommitId,
    pub(super) phase: Phase,
}

impl Builder {
    /// Runs the process until its end. If it judged the commit, because the commit does not build
    /// or because the search asked for it, nothing is left for the job: `stop` ends it.
    pub(super) fn work(&self, stop: &Stop) {
        self.process.run(stop);
        let record = self.hunt.measured_ahead(&self.commit, self.phase).ok().flatten();
        if record.is_some_and(|record| record.is_done) {
            stop.request();
        }
    }
    /// Waits until the commit is built. `thread`: the one that runs the process. False if nothing is
    /// left for the job: the process has ended, or the worker is to stop.
    pub(super) fn wait_until_built(&self, thread: &ScopedJoinHandle<'_, ()>, stop: &Stop) -> bool {
        while !self.hunt.is_built(&self.commit, self.phase) {
            if thread.is_finished() || stop.within(POLL_INTERVAL) {
                return false;
            }
        }
        true
    }
}
