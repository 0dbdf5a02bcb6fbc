//! Runs a commit until its verdict is settled.

use crate::config::Config;
use crate::evaluation::{CommitId, Judgement, Metric, Phase, Target, Value};

use super::{Decision, Observation, Oracle, OracleError, Request, judge, measures_of};

impl Oracle {
    /// Judges a commit by the targets, with as many runs as needed. `chunks`: read only this many
    /// chunks of text.
    pub(crate) fn judge_until_decided(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
        phase: Phase,
        chunks: Option<u32>,
    ) -> Result<(Judgement, Observation), OracleError> {
        let recipe = self.recipes.at(commit)?;
        self.judge_as(commit, &recipe, targets, phase, chunks)
    }

    /// As [`Self::judge_until_decided`], with a recipe that is not the commit's own.
    pub(crate) fn judge_as(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        targets: &[Target],
        phase: Phase,
        chunks: Option<u32>,
    ) -> Result<(Judgement, Observation), OracleError> {
        let measures = measures_of(targets);
        // In noise each run is a new sample, so no run is reused. Nor is one in a test of a part of a
        // change: a program may read more of its build than what is known to be loaded, and such a
        // test must not give back what it should check.
        let repeats = |target: &Target| matches!(target, Target::Guard(t) if t.noise.is_none());
        let reuse_identical = phase == Phase::Search && targets.iter().all(repeats);
        let mut runs = 1;
        loop {
            let look = Request::look(commit, &measures, phase);
            let observation = self.evaluate(Request {
                runs,
                chunks,
                reuse_identical,
                recipe: Some(recipe),
                ..look
            })?;
            let known = self.recorder.known_values(commit);
            let is_known = |metric: &Metric, value: &Value| known.contains(&(metric, value));
            match judge(&observation, targets, &is_known, recipe) {
                Decision::Settled(judgement) => {
                    self.release(commit);
                    return Ok((judgement, observation));
                }
                Decision::More(count) => runs = count,
            }
        }
    }

    /// Releases the slots kept for a commit, except the control's.
    pub(crate) fn release(&mut self, commit: &CommitId) {
        let control = self.control.as_ref().and_then(|control| control.build.as_ref());
        self.pool.free(commit, control);
    }
}
