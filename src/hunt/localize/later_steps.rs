//! In noise, whether the commits after a named one still have its step. Measures those that touch
//! the files of its change, if no removal tells whether the newer end needs it.

use crate::evaluation::{Culprit, GuardTarget, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::pairs::EndInNoise;
use super::places::spread;
use super::step::between;

/// Maximum number of measured commits.
const MOST_MEASURED: usize = 3;

impl Driver<'_> {
    /// `Needed` if each commit after a named one that touches the files of its change has its step;
    /// `Open` if there is none, if there are too many, or if one of them cannot be judged. Also
    /// `Open` if the machine drifts: runs of different hours cannot be compared.
    pub(super) fn step_at_later_commits(
        &mut self,
        culprit: &Culprit,
        target: &GuardTarget,
    ) -> Result<EndInNoise, HuntError> {
        if self.has_drifted || target.noise.is_some_and(|noise| noise.paired) {
            return Ok(EndInNoise::Open);
        }
        let (commit, terms) = (&culprit.info.commit, self.terms());
        let change = self.oracle.history.change(&culprit.parent, commit)?;
        let touching = self.touching_later(commit, &change)?;
        let mut is_settled = (1..=MOST_MEASURED).contains(&touching.len());
        let own = match culprit.effect_on(&target.guard.metric) {
            Some(effect) if !target.is_rate() => between(target, effect, terms),
            _ => target.clone(),
        };
        let targets = [Target::Guard(own)];
        for place in spread(touching, MOST_MEASURED) {
            self.compared.insert(place.clone());
            let (judgement, _) =
                self.oracle.judge_until_decided(&place, &targets, Phase::Search, None)?;
            if terms.is_older(judgement.verdict) {
                return Ok(EndInNoise::GoneAt(place));
            }
            is_settled &= terms.is_newer(judgement.verdict);
        }
        Ok(if is_settled { EndInNoise::Needed } else { EndInNoise::Open })
    }
}
