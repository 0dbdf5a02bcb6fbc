//! The other slots while a search in noise measures a commit: they build, and run, the commits that
//! the search would ask for next.

use std::collections::BTreeSet;

use crate::config::Exclusive;
use crate::evaluation::{CommitId, GuardTarget};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::samples::is_spread;

use super::crew::Crew;
use super::job::AheadJob;

/// What the other slots do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkAhead {
    /// They build commits.
    Builds,
    /// They build commits and run them.
    Runs,
}

/// The other slots during one search in noise.
#[derive(Default)]
pub(crate) struct OtherSlots {
    crew: Option<Crew>,
    /// The commits that a worker got. None gets a second one.
    begun: BTreeSet<CommitId>,
    /// The commit that the search measures.
    at: Option<CommitId>,
}

impl OtherSlots {
    /// Whether workers may be at work.
    pub(crate) fn are_used(&self) -> bool {
        self.crew.is_some()
    }

    /// Notes the commit that the search measures now, and which workers have ended. Returns for how
    /// many commits there are slots; `None` if nothing has changed.
    pub(crate) fn look(
        &mut self,
        driver: &Driver<'_>,
        at: &CommitId,
    ) -> Result<Option<usize>, HuntError> {
        if self.crew.is_none() {
            self.crew = driver.crew()?;
        }
        let Some(crew) = &mut self.crew else { return Ok(None) };
        let has_ended = !crew.reap()?.is_empty();
        if !has_ended && self.at.as_ref() == Some(at) {
            return Ok(None);
        }
        self.at = Some(at.clone());
        Ok(Some(crew.free() + crew.commits().count()))
    }

    /// Whether a worker was at this commit, and has ended.
    pub(crate) fn has_done(&self, commit: &CommitId) -> bool {
        let mut busy = self.crew.iter().flat_map(Crew::commits);
        self.begun.contains(commit) && !busy.any(|one| one == commit)
    }

    /// Begins these jobs, as far as there are free slots, and stops the workers of other commits.
    pub(crate) fn work(&mut self, jobs: &[AheadJob]) {
        let Some(crew) = &mut self.crew else { return };
        let at = self.at.as_ref();
        crew.cancel(|commit| Some(commit) != at && jobs.iter().all(|job| job.commit != *commit));
        for job in jobs {
            if self.begun.contains(&job.commit) {
                continue;
            }
            // Workers that were just stopped may still have their slots.
            if !crew.start(job) {
                break;
            }
            self.begun.insert(job.commit.clone());
        }
    }

    /// Ends all workers.
    pub(crate) fn end(&mut self) -> Result<(), HuntError> {
        self.at = None;
        self.crew.take().map_or(Ok(()), Crew::end)
    }
}

impl Driver<'_> {
    /// What other slots do while a search in noise measures this target; `None` if they stay
    /// unused. A time or speed would change with their work. A pair of runs is made at one time,
    /// and repeats are compared with a commit's first run, so such runs are not made ahead.
    ///
    /// `is_rebuilt`: each run needs its own build.
    pub(crate) fn work_ahead(
        &self,
        target: &GuardTarget,
        is_rebuilt: bool,
        is_paired: bool,
    ) -> Option<WorkAhead> {
        let config = &self.oracle.recipes.config;
        let name = &target.guard.metric.measure;
        let depends_on_speed = config.is_timed(name) || target.may_drift();
        let is_cluster = config.executor.is_cluster();
        if self.slots() < 2 || is_rebuilt || is_cluster || depends_on_speed {
            return None;
        }
        let runs_take_turns = config.measure(name)?.exclusive != Exclusive::No;
        let builds_only = runs_take_turns || is_paired || is_spread(target);
        Some(if builds_only { WorkAhead::Builds } else { WorkAhead::Runs })
    }
}
