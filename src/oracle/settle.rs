//! Runs a commit until its verdict is settled.

use crate::evaluation::{CommitId, Judgement, Metric, Phase, Target, Value};

use super::{Decision, Observation, Oracle, OracleError, Request, judge, measures_of};

impl Oracle {
    /// Judges a commit by the targets, taking as many runs as that needs; with `chunks`, runs
    /// that read only so many.
    pub fn settle(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
        phase: Phase,
        chunks: Option<u32>,
    ) -> Result<(Judgement, Observation), OracleError> {
        let measures = measures_of(targets);
        let recipe = self.recipe(commit)?;
        // In noise each run says something of its own.
        let is_noisy = |target: &Target| match target {
            Target::Guard(target) => target.noise.is_some(),
            Target::Failure { .. } => true,
        };
        let is_exact = phase == Phase::Search && !targets.iter().any(is_noisy);
        let mut runs = 1;
        loop {
            let request = Request {
                commit,
                measures: &measures,
                runs,
                phase,
                recipe: None,
                chunks,
                keep: true,
                twins: is_exact,
            };
            let observation = self.evaluate(request)?;
            let known = self.recorder.known_values(commit);
            let is_known = |metric: &Metric, value: &Value| known.contains(&(metric, value));
            match judge(&observation, targets, &is_known, &recipe) {
                Decision::Settled(judgement) => {
                    self.release(commit);
                    return Ok((judgement, observation));
                }
                Decision::More(count) => runs = count,
            }
        }
    }

    /// Gives back the slots that were kept for a commit, but never the control's.
    pub fn release(&mut self, commit: &CommitId) {
        let control = self.control.as_ref().and_then(|c| c.place.as_ref()).map(|(root, _)| root);
        self.kept.retain(|slot| {
            Some(slot.root()) == control.map(std::path::PathBuf::as_path)
                || slot.stamp().is_none_or(|stamp| stamp.commit != *commit)
        });
    }
}
