//! Builds that workers of this hunt left in their slots. A worker may have been stopped after its
//! build, or the hunt needs more runs than the worker made. A build is run only at the path at
//! which it was made, so the process that needs it goes to its slot. A build that was interrupted
//! is made again in its slot: compiler caches may have what it compiled at that path.

use std::path::{Path, PathBuf};

use crate::build::Stamp;
use crate::evaluation::{CommitId, Phase};

use super::OracleError;
use super::parts::Oracle;

impl Oracle {
    /// If a worker of this hunt left a build of the commit in a slot that is free now, this process
    /// uses that slot from now on, and the build counts as one of the hunt. The same if a worker's
    /// build was interrupted there, and this process has no build of the commit.
    pub(crate) fn go_to_workers_build(&mut self, commit: &CommitId) -> Result<(), OracleError> {
        let hunt = self.recorder.hunt().map(str::to_owned);
        let recipe = self.recipes.at(commit)?;
        let key = self.recipes.build_key_of(commit, &recipe)?;
        let is_ours = |stamp: &Stamp| {
            stamp.kept.is_some() && stamp.build_key == key && hunt.is_some() && stamp.hunt == hunt
        };
        if self.pool.move_to(is_ours)? {
            for phase in [Phase::Endpoint, Phase::Search] {
                self.record_finished_builds(commit, phase)?;
            }
        } else if self.pool.find(|stamp| stamp.build_key == key)?.is_none()
            && let Some(slot) = self.slot_of_interrupted_build(commit)?
        {
            self.pool.go_to(&slot)?;
        }
        Ok(())
    }

    /// Goes to the slot in which a build of the commit was interrupted, if that slot is free and no
    /// other free one has a finished build of the commit.
    pub(crate) fn go_to_interrupted_build(
        &mut self,
        commit: &CommitId,
        slot: &Path,
    ) -> Result<(), OracleError> {
        let built = self.pool.slots().find_free(|stamp| stamp.commit == *commit)?;
        if built.is_none() {
            self.pool.go_to(slot)?;
        }
        Ok(())
    }

    /// The slot in which a worker of this hunt began to build the commit for a search, if that
    /// build was interrupted.
    fn slot_of_interrupted_build(&self, commit: &CommitId) -> Result<Option<PathBuf>, OracleError> {
        let Some(hunt) = self.recorder.folder() else { return Ok(None) };
        let record = hunt.measured_ahead(commit, Phase::Search)?;
        Ok(record.filter(|record| !record.is_done).and_then(|record| record.building))
    }
}
