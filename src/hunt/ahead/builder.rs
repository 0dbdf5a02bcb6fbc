//! The builder of a job: a process beside the driver that has a commit built while the job that
//! will measure the commit waits for a node.

use crate::evaluation::{CommitId, Phase};
use crate::process::Stop;
use crate::store::HuntDir;

use super::worker_process::WorkerProcess;

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
}
