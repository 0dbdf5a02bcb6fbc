//! Whether the newer end needs a named commit if runs of both ends repeat and runs of other commits
//! do not. Each run of a test is then one vote, as in the search.

use crate::evaluation::{Culprit, GuardTarget, Noise, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::samples::samples;
use crate::hunt::search::flaky::rated;
use crate::search::Rates;

/// The least share of votes for the wrong side that is assumed. The ends repeat, so their own runs
/// do not tell how often the runs of other builds flake.
const LEAST_FLAKES: f64 = 0.2;
/// Minimum difference of the rates of both ends. Nearer rates need more runs than a test may take.
const LEAST_DIFFERENCE: f64 = 0.5;

impl Driver<'_> {
    /// The targets of a commit's effects, as shares of runs that break the guard. Empty if one of
    /// them cannot be judged by votes: its ends are too near, or builds of one commit are not known
    /// to give the same files, so that runs of one build are not independent.
    pub(super) fn voted_targets(
        &mut self,
        culprit: &Culprit,
        targets: &[Target],
    ) -> Result<Vec<Target>, HuntError> {
        let commits = [culprit.parent.clone(), culprit.info.commit.clone()];
        if self.known_to_repeat(targets, commits)? != Some(true) {
            return Ok(Vec::new());
        }
        let mut voted = Vec::new();
        for effect in &culprit.effects {
            let own = Target::on(targets, &effect.metric);
            let Some(target) = own.and_then(rated) else { return Ok(Vec::new()) };
            let Some(noise) = self.votes_of_ends(&target)? else { return Ok(Vec::new()) };
            voted.push(Target::Guard(GuardTarget { noise: Some(noise), ..target }));
        }
        Ok(voted)
    }

    /// How often runs of both ends break a guard; `None` if that is nearly the same at both.
    fn votes_of_ends(&mut self, target: &GuardTarget) -> Result<Option<Noise>, HuntError> {
        let Some(noise) = target.noise else { return Ok(None) };
        let measures = [target.guard.metric.measure.clone()];
        let mut votes = Vec::new();
        for end in [&self.begun.good, &self.begun.bad].map(|end| end.commit.clone()) {
            let seen = self.known_runs(&end, &measures)?;
            let recipe = self.oracle.recipes.at(&end)?;
            votes.extend(samples(&seen, target, &recipe).ok());
        }
        let [good, bad] = &votes[..] else { return Ok(None) };
        let rates = flaking(Rates::of(good, bad));
        Ok(rates.map(|Rates { good, bad }| Noise { good, bad, ..noise }))
    }
}

/// The rates with the least share of votes for the wrong side. `None` if they are too near.
fn flaking(rates: Rates) -> Option<Rates> {
    let good = rates.good.max(LEAST_FLAKES);
    let bad = rates.bad.min(1.0 - LEAST_FLAKES);
    (bad - good >= LEAST_DIFFERENCE).then_some(Rates { good, bad })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_ends_that_repeat_do_not_exclude_flakes() {
        let told = flaking(Rates::of(&[0.0; 6], &[1.0; 6]));
        assert_eq!(told, Some(Rates { good: LEAST_FLAKES, bad: 1.0 - LEAST_FLAKES }));
        assert_eq!(flaking(Rates::of(&[0.0; 6], &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0])), None);
    }
}
