//! While a search in noise measures a commit, the other slots work at those that it would ask for
//! next. Their runs count when the search asks for them, and in the order in which they were made,
//! so the samples are those of a search in one slot.

use crate::evaluation::{CommitId, Phase};
use crate::hunt::HuntError;
use crate::hunt::ahead::claim::claim;
use crate::hunt::ahead::in_noise::WorkAhead;
use crate::hunt::ahead::job::AheadJob;
use crate::search::{MeasuredCommit, Noisy};
use crate::store::AheadClaim;

use super::Search;

impl Search<'_, '_> {
    /// Gives the other slots the commits that the search would ask for after these places.
    pub(super) fn work_ahead(
        &mut self,
        noisy: &Noisy<'_>,
        places: &[MeasuredCommit],
    ) -> Result<(), HuntError> {
        let is_of_range = |place: &&MeasuredCommit| **place != MeasuredCommit::Good;
        let Some(&place) = places.iter().find(is_of_range) else { return Ok(()) };
        let at = self.commit_of(place);
        let is_rebuilt = self.sampler.is_rebuilt;
        let work = self.driver.work_ahead(&self.target, is_rebuilt, noisy.is_paired());
        let Some(work) = work else { return self.others.end() };
        // A stored run takes no time in which others could work.
        if self.sampler.has_stored(self.driver, &at, &self.target)? {
            return Ok(());
        }
        let Some(most) = self.others.look(self.driver, &at)? else { return Ok(()) };
        let is_done = |one: usize| self.others.has_done(&self.commits[one]);
        let mut jobs = Vec::new();
        for next in noisy.forecast(most, is_done) {
            let commit = self.commits[next.commit].clone();
            // The search may never ask for this commit, so an error there is no reason to stop.
            jobs.extend(self.job(commit, next.runs, work).ok());
        }
        self.others.work(&jobs);
        Ok(())
    }

    /// The work at a commit of which the search would take this many runs.
    fn job(
        &mut self,
        commit: CommitId,
        runs: usize,
        work: WorkAhead,
    ) -> Result<AheadJob, HuntError> {
        let is_clean = self.driver.is_clean;
        if work == WorkAhead::Builds {
            return Ok(AheadJob::in_noise(commit, None, 1, is_clean));
        }
        let measure = self.target.guard.metric.measure.clone();
        let seen = self.driver.known_runs(&commit, std::slice::from_ref(&measure))?;
        let taken = seen.of(&measure).iter();
        let taken = taken.filter(|sample| self.sampler.used.contains(&sample.attempt)).count();
        Ok(AheadJob::in_noise(commit, Some(measure), taken + runs, is_clean))
    }

    /// Waits for the worker at this commit, if there is one, and takes over what it made. No other
    /// worker begins there as long as the returned value lives.
    pub(super) fn reserve(&mut self, commit: &CommitId) -> Result<Option<AheadClaim>, HuntError> {
        if !self.others.are_used() {
            return Ok(None);
        }
        let hunt = self.driver.hunt;
        let reserved = claim(&mut self.driver.oracle, hunt, commit, Phase::Search)?;
        // Of a worker that was stopped, the build may be found in its slot.
        self.driver.oracle.record_finished_builds(commit, Phase::Search)?;
        Ok(Some(reserved))
    }
}
