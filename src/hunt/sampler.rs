//! Takes one run after the other of a commit for a search in noise: what the store has first,
//! each of them once, then new ones.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, GuardTarget, Phase};
use crate::oracle::{Request, Told, told};

use super::HuntError;
use super::driver::Driver;

/// Which runs were taken.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// By the name of their attempt.
    pub(super) used: BTreeSet<String>,
    /// Runs are compared with others beside them: those of another hunt, on another day, do
    /// not count.
    pub(super) is_paired: bool,
    /// The commit whose build is kept for the next run.
    at: Option<CommitId>,
}

impl Sampler {
    /// The next run of a commit.
    pub(super) fn take(
        &mut self,
        driver: &mut Driver<'_>,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<Told, HuntError> {
        let good = driver.begun.good.commit.clone();
        if let Some(before) = self.at.replace(commit.clone())
            && before != *commit
            && before != good
            && *commit != good
        {
            driver.oracle.release(&before);
        }
        let measures = [target.guard.metric.measure.clone()];
        let recipe = driver.oracle.recipe(commit)?;
        let mut runs = 1;
        loop {
            let phase = Phase::Search;
            let request = Request {
                commit,
                measures: &measures,
                runs,
                phase,
                recipe: None,
                chunks: None,
                keep: true,
            };
            let seen = driver.oracle.evaluate(request)?;
            let hunt = driver.oracle.recorder.hunt();
            let samples = seen.of(&measures[0]);
            let may_take = |sample: &crate::oracle::Sample| {
                let is_ours = sample.hunt.as_deref() == hunt;
                let is_confirmation = is_ours && sample.phase == Phase::Confirm;
                !is_confirmation
                    && (is_ours || !self.is_paired)
                    && !self.used.contains(&sample.attempt)
            };
            let Some(place) = samples.iter().position(may_take) else {
                if seen.build_failure.is_some() || samples.len() < runs {
                    // It does not build, or has no such measure.
                    return Ok(match super::fresh::samples(&seen, target, &recipe) {
                        Err((why, reason)) => Told::Untestable(why, reason),
                        Ok(_) => told(&seen, target, 0, &recipe),
                    });
                }
                runs = samples.len() + 1;
                continue;
            };
            self.used.insert(samples[place].attempt.clone());
            return Ok(told(&seen, target, place, &recipe));
        }
    }
}
