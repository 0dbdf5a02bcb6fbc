//! Checks whether a changed recipe made the step, if an override begins or ends at the first bad
//! commit.

use crate::config::Config;
use crate::evaluation::{CommitId, Phase, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::{ROUNDS, judged};
use crate::oracle::{Decision, Observation, Request, judge, measures_of};

use super::effect::{effects, is_large};

impl Driver<'_> {
    /// If the recipes of the commit and its parents differ, measures both sides with each recipe.
    /// Objects if the step vanishes with one recipe, or if no recipe runs on both sides.
    pub(crate) fn recipe_objection(
        &mut self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
    ) -> Result<Option<String>, HuntError> {
        let own = self.oracle.recipes.at(commit)?;
        let mut recipes = vec![own.clone()];
        for parent in parents {
            let theirs = self.oracle.recipes.at(parent)?;
            if recipes.iter().all(|recipe| recipe.text() != theirs.text()) {
                recipes.push(theirs);
            }
        }
        if recipes.len() == 1 {
            return Ok(None);
        }
        let measures = measures_of(targets);
        let (runs, is_exact) = runs_for(targets);
        let mut compared = false;
        for recipe in &recipes {
            let mut verdicts = Vec::new();
            let mut seen = Vec::new();
            for one in parents.iter().chain([commit]) {
                let observation = self.oracle.evaluate(Request {
                    runs,
                    recipe: Some(recipe),
                    keep: false,
                    ..Request::look(one, &measures, Phase::Confirm)
                })?;
                verdicts.push(judge_separately(&observation, targets, recipe, is_exact));
                seen.push(observation);
            }
            let last = seen.pop().expect("the commit is the last of them");
            let (own, rest) = verdicts.split_last().expect("the commit is the last of them");
            if *own == Verdict::Skip || rest.contains(&Verdict::Skip) {
                continue;
            }
            compared = true;
            let terms = self.terms();
            let step = effects(&last, &seen, targets, &self.oracle.recipes.config, terms).0;
            let holds = terms.is_newer(*own)
                && rest.iter().all(|verdict| terms.is_older(*verdict))
                && (step.is_empty() || step.iter().any(is_large));
            if !holds {
                return Ok(Some(
                    "the recipe changes here, and with the same recipe on both sides there is no step"
                        .to_owned(),
                ));
            }
        }
        Ok((!compared).then(|| {
            "the recipe changes here, and neither recipe runs on both sides, so that nothing can be compared"
                .to_owned()
        }))
    }
}

/// The number of runs of each side, and whether all values repeat, so that one run is enough.
pub(crate) fn runs_for(targets: &[Target]) -> (usize, bool) {
    let is_exact = !targets.iter().any(Target::is_noisy);
    (if is_exact { 1 } else { ROUNDS }, is_exact)
}

/// The verdict on one side. In noise: that of the sequential test, or skip if it is undecided.
pub(crate) fn judge_separately(
    seen: &Observation,
    targets: &[Target],
    recipe: &Config,
    is_exact: bool,
) -> Verdict {
    if is_exact {
        return judged(seen, targets, recipe, true).verdict;
    }
    match judge(seen, targets, &|_, _| false, recipe) {
        Decision::Settled(judgement) => judgement.verdict,
        Decision::More(_) => Verdict::Skip,
    }
}
