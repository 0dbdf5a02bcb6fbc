//! Takes the runs of a commit one by one for a search in noise: first each stored run once, then
//! new runs.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::evaluation::{CommitId, GuardTarget, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::samples::{is_spread, samples};
use crate::oracle::{Observation, Request, RunSample, Sample, run_sample};

/// The state of sampling: which runs were taken and which builds are kept.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    /// The attempt names of the runs taken.
    pub(crate) used: BTreeSet<String>,
    /// The commit with which others are compared. The sampler keeps its build.
    pub(crate) reference: Option<CommitId>,
    /// Whether runs are paired. Then runs of other hunts do not count, because they were made at
    /// another time.
    pub(crate) is_paired: bool,
    /// Whether each sample needs its own build, because runs of one build are not independent.
    pub(crate) is_rebuilt: bool,
    /// Commits whose first run, the reference of their repeats, was taken.
    started: BTreeSet<CommitId>,
    /// The commit whose build is kept for the next run.
    at: Option<CommitId>,
}

impl Sampler {
    /// The next run of a commit.
    pub(crate) fn take(
        &mut self,
        driver: &mut Driver<'_>,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<RunSample, HuntError> {
        let good = driver.begun.good.commit.clone();
        let is_kept = |one: &CommitId| *one == good || Some(one) == self.reference.as_ref();
        if let Some(before) = self.at.replace(commit.clone())
            && before != *commit
            && !is_kept(&before)
            && !is_kept(commit)
        {
            driver.oracle.release(&before);
        }
        let recipe = driver.oracle.recipes.at(commit)?;
        if is_spread(target) && self.started.insert(commit.clone()) {
            // The commit's first run is only the reference for its later runs.
            self.take_one(driver, commit, target, &recipe)?;
        }
        self.take_one(driver, commit, target, &recipe)
    }

    /// Whether the commit's next run is in the store already.
    pub(crate) fn has_stored(
        &self,
        driver: &mut Driver<'_>,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<bool, HuntError> {
        let seen = driver.known_runs(commit, std::slice::from_ref(&target.guard.metric.measure))?;
        Ok(self.next(&seen, driver).is_some())
    }

    fn take_one(
        &mut self,
        driver: &mut Driver<'_>,
        commit: &CommitId,
        target: &GuardTarget,
        recipe: &Config,
    ) -> Result<RunSample, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let look = Request::look(commit, &measures, Phase::Search);
        let mut seen = driver.oracle.evaluate(look)?;
        let mut place = self.next(&seen, driver);
        if place.is_none() {
            let runs = seen.of(&measures[0]).len() + 1;
            let rebuild = self.is_rebuilt;
            seen = driver.oracle.evaluate(Request { runs, rebuild, ..look })?;
            place = self.next(&seen, driver);
        }
        let Some(place) = place else {
            // The commit does not build or lacks the measure.
            return Ok(match samples(&seen, target, recipe) {
                Err((why, reason)) => RunSample::Untestable(why, reason),
                Ok(_) => run_sample(&seen, target, 0, recipe),
            });
        };
        let attempt = &seen.of(&measures[0])[place].attempt;
        // An earlier hunt's run is added to this hunt's journal when the run is first used.
        if !driver.oracle.recorder.names(attempt) {
            driver.oracle.evaluate(Request { runs: place + 1, ..look })?;
        }
        self.used.insert(attempt.clone());
        Ok(run_sample(&seen, target, place, recipe))
    }

    /// The index of the oldest usable run that was not taken. The search gets the runs of this
    /// hunt's confirmations separately.
    fn next(&self, seen: &Observation, driver: &Driver<'_>) -> Option<usize> {
        let hunt = driver.oracle.recorder.hunt();
        let samples: Vec<&Sample> = seen.samples.values().flatten().collect();
        let is_first_of_its_build = |place: usize| {
            let built = &samples[place].built;
            !self.is_rebuilt || samples[..place].iter().all(|before| before.built != *built)
        };
        (0..samples.len()).position(|place| {
            let sample = samples[place];
            if !is_first_of_its_build(place) {
                return false;
            }
            let is_ours = sample.hunt.as_deref() == hunt;
            let is_confirmation = is_ours && sample.phase == Phase::Confirm;
            !is_confirmation && (is_ours || !self.is_paired) && !self.used.contains(&sample.attempt)
        })
    }
}
