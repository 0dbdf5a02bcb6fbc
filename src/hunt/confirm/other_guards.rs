//! What a confirmed commit does to the hunt's guards that its search was not about. An earlier
//! commit explains these already, but a later one may have switched that commit off, and this one
//! may make the same step again. The builds of the confirmation stand, so this costs a run of each
//! of these measures at the commit and at its parents.

use crate::config::Config;
use crate::evaluation::{CommitId, Effect, Target};
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::oracle::{Observation, measures_of};

use super::effect::{effects, is_larger_than};

/// The effects of a commit on other guards, and the runs that show what it does there.
#[derive(Default)]
pub(super) struct OtherGuards {
    pub(super) effects: Vec<Effect>,
    pub(super) attempts: Vec<String>,
}

impl Driver<'_> {
    /// Measures the hunt's guards whose values repeat and that are no targets of the claim, while
    /// the builds of the confirmation stand. Only in a hunt for a regression. No effects if a limit
    /// of the hunt is reached: the commit is found, and a limit must not lose it.
    pub(super) fn effects_on_other_guards(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<OtherGuards, HuntError> {
        if !claim.terms.explains_levels() || self.is_flaky {
            return Ok(OtherGuards::default());
        }
        let (sought, _) = self.sought()?;
        let others = others(&sought, claim.targets);
        if others.is_empty() {
            return Ok(OtherGuards::default());
        }
        match self.measured_effects(claim, parents, &others) {
            Err(HuntError::Limit(_)) => Ok(OtherGuards::default()),
            measured => measured,
        }
    }

    /// A run of each measure tells whether there is a step, and a second one whether it repeats.
    fn measured_effects(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
        others: &[Target],
    ) -> Result<OtherGuards, HuntError> {
        let measures = measures_of(others);
        let mut found = OtherGuards::default();
        for runs in 1..=2 {
            let mut theirs = Vec::new();
            for parent in parents {
                theirs.push(self.measure_once_more(parent, &measures, runs, false)?);
            }
            let own = self.measure_once_more(claim.commit, &measures, runs, false)?;
            let config = &self.oracle.recipes.config;
            found.effects = broken_by(&own, &theirs, others, config, claim.terms);
            found.attempts = theirs.iter().chain([&own]).flat_map(Observation::attempts).collect();
            if found.effects.is_empty() {
                break;
            }
        }
        Ok(found)
    }
}

/// The hunt's guards without noise on whose metrics no target of the claim is.
fn others(sought: &[Target], claimed: &[Target]) -> Vec<Target> {
    let is_other = |target: &&Target| {
        target.guard().is_some_and(|target| {
            target.noise.is_none() && Target::on(claimed, &target.guard.metric).is_none()
        })
    };
    sought.iter().filter(is_other).cloned().collect()
}

/// The steps beyond the tolerance by which the commit breaks these guards. Each level must repeat.
fn broken_by(
    commit: &Observation,
    parents: &[Observation],
    others: &[Target],
    config: &Config,
    terms: SearchTerms,
) -> Vec<Effect> {
    let (mut found, _) = effects(commit, parents, others, config, terms);
    found.retain(|effect| {
        let metric = &effect.metric;
        let target = Target::on(others, metric).and_then(Target::guard);
        let is_broken =
            target.is_some_and(|target| target.guard.is_broken(&target.baseline, &effect.commit));
        // The other values of the same runs need not repeat.
        let repeats = |seen: &Observation| {
            let values = seen.values(metric);
            values.len() == seen.of(&metric.measure).len()
                && values.windows(2).all(|pair| pair[0] == pair[1])
        };
        is_broken
            && is_larger_than(effect, effect.limit.max(0.0))
            && parents.iter().chain([commit]).all(repeats)
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::oracle::fixture::{at, config, noisy, target, unchanged};

    fn ppl() -> Target {
        Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.5))
    }

    #[test]
    fn guards_that_the_claim_is_not_about_are_measured_too() {
        let launch = Target::Guard(unchanged("384", "128"));
        let sought = [ppl(), launch.clone()];
        assert_eq!(others(&sought, std::slice::from_ref(&launch)), [ppl()]);
        assert_eq!(others(&sought, &sought), []);
        let noisy = Target::Guard(noisy(GuardForm::MaxIncrease(0.1), 7.0, 7.5));
        assert_eq!(others(&[noisy, launch.clone()], &[launch]), []);
    }

    #[test]
    fn only_a_step_that_repeats_and_breaks_the_guard_counts() {
        let is_found = |parent: &[f64], commit: &[f64]| {
            let terms = SearchTerms::of(Aim::Regression);
            let (commit, parents) = (at('5', commit), [at('4', parent)]);
            !broken_by(&commit, &parents, &[ppl()], &config(""), terms).is_empty()
        };
        assert!(is_found(&[7.0], &[7.5]) && is_found(&[7.0, 7.0], &[7.5, 7.5]));
        assert!(!is_found(&[7.5], &[7.5]) && !is_found(&[7.5], &[7.0]));
        // The tolerance allows it, or it comes from a level that is better than the good end's.
        assert!(!is_found(&[7.5], &[7.55]) && !is_found(&[6.5], &[7.0]));
        assert!(!is_found(&[7.0, 7.0], &[7.5, 7.0]));
        assert!(!is_found(&[], &[7.5]) && !is_found(&[7.0], &[]));
    }
}
