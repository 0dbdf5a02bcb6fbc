//! Before the answer "no regression": whether both ends differ with one ruler (`[ruler] paths`), if
//! each has a ruler of its own. A benchmark that became easier, or golden files that were made
//! again, hide a change of the engine.

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::exchanged_ruler::{in_words, told};
use crate::oracle::{Observation, guarded_measures};

use super::noise::EndpointPolicy;
use super::targets::{choose, unmeasurable};

impl Driver<'_> {
    /// A sentence for "no regression", mostly empty; or the finding that the ends differ with one
    /// ruler. The bad engine is measured with the good end's ruler, because good is good by that
    /// one: the bad end's may be laxer, and then both ends pass. It costs one build, and only if
    /// the rulers differ.
    pub(super) fn with_one_ruler(
        &mut self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Result<Result<String, Box<Finding>>, HuntError> {
        if policy.is_spread || self.begun.within.is_some() {
            return Ok(Ok(String::new()));
        }
        let Some(recipe) = self.recipe_with_ruler_of(&bad.commit, &good.commit)? else {
            return Ok(Ok(String::new()));
        };
        let guards = self.guards();
        let measures = guarded_measures(&guards);
        // As many runs as the bad end has, since its runs were enough to judge it.
        let runs = measures.iter().map(|name| bad.of(name).len()).max().unwrap_or(1);
        let seen = match self.evaluate_with_ruler(&bad.commit, &recipe, &measures, runs) {
            Err(limit @ HuntError::Limit(_)) => return Ok(Ok(unknown(&limit.to_string()))),
            seen => seen?,
        };
        if seen.first_failure().is_some() {
            return Ok(Ok(unknown(&told(&seen, &good.commit, &[]))));
        }
        let Ok(chosen) = choose(good, &seen, &guards, policy) else {
            return Ok(Ok(String::new()));
        };
        let summary = format!(
            "each end has a ruler of its own, and with one ruler they differ: {} yields {}, and {} \
             (with its own ruler, {} yields {})",
            good.commit.short(),
            in_words(good, &chosen.targets),
            told(&seen, &good.commit, &chosen.targets),
            bad.commit.short(),
            in_words(bad, &chosen.targets)
        );
        let next = self.next_with_ruler_of(&good.commit, self.begun.ends())?;
        let next = Vec::from_iter(next);
        Ok(Err(Box::new(Finding { next, ..*unmeasurable(summary) })))
    }
}

/// The part of a sentence that says that one ruler for both ends tells nothing, and why.
fn unknown(why: &str) -> String {
    format!(
        "; but each end has a ruler of its own, and whether the rulers hide a change of the engine \
         is unknown: {why}"
    )
}
