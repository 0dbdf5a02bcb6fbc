//! Takes over what a worker measured ahead, when the hunt needs the commit.

use crate::evaluation::{CommitId, Phase};

use super::OracleError;
use super::parts::Oracle;

impl Oracle {
    /// Writes the builds of a worker that measured this commit into the journal. The worker's runs
    /// are in the store; each is written when it is used. `waited_s`: how long the hunt waited for
    /// the worker.
    pub(crate) fn take_over(
        &mut self,
        commit: &CommitId,
        phase: Phase,
        waited_s: f64,
    ) -> Result<(), OracleError> {
        let Some(hunt) = self.recorder.folder().cloned() else { return Ok(()) };
        // The endpoints and the search may use each other's runs.
        let phases: &[Phase] = match phase {
            Phase::Search | Phase::Endpoint => &[Phase::Endpoint, Phase::Search],
            Phase::Confirm => &[Phase::Confirm],
            _ => &[],
        };
        if self.recorder.is_ahead() {
            return Ok(());
        }
        for &phase in phases {
            if self.recorder.took_over(commit, phase) {
                continue;
            }
            let Some(record) = hunt.measured_ahead(commit, phase)? else { continue };
            // Also those of a worker that was stopped: the store may have runs of them.
            for build in &record.taken {
                self.recorder.build(&self.store, build, &record.commit, record.phase, true)?;
            }
            if !record.is_done {
                continue;
            }
            for build in &record.builds {
                self.recorder.build(&self.store, build, &build.commit, build.phase, false)?;
            }
            self.recorder.take_over(commit, phase, waited_s)?;
        }
        Ok(())
    }

    /// Writes the builds that were finished at this commit into the journal, although the worker
    /// was stopped before its end. The hunt finds them again in their slots when it goes on.
    pub(crate) fn record_finished_builds(
        &mut self,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<(), OracleError> {
        let Some(hunt) = self.recorder.folder().cloned() else { return Ok(()) };
        let builds = hunt.measured_ahead(commit, phase)?.map_or_else(Vec::new, |it| it.builds);
        for build in builds.iter().filter(|build| build.failure.is_none()) {
            self.recorder.build(&self.store, build, &build.commit, build.phase, false)?;
        }
        Ok(())
    }
}
