//! Checks whether a changed recipe made the step, if an override, an overlay or a patch begins or
//! ends at the first bad commit.

use crate::config::Config;
use crate::evaluation::{CommitId, Effect, Phase, Target, Verdict};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::run_verdicts::{ROUNDS, judged};
use crate::hunt::terms::SearchTerms;
use crate::hunt::why::CandidatesReason;
use crate::oracle::{Decision, Observation, Request, judge, measures_of};
use crate::ui::text;

use super::effect::{effects, is_large};

/// What one recipe shows of the step, with this recipe on both sides. In the order in which the
/// results of several recipes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    NoStep,
    /// Both sides have one verdict, and it does not tell whether there is a step: both are beyond
    /// the step already, or the values differ.
    OneVerdict,
    Step,
    /// One of the sides cannot be judged with the recipe.
    Unknown,
}

/// What one recipe shows, and the verdict that it gives the commit.
struct WithRecipe {
    shown: Shown,
    commit: Verdict,
    /// The levels of parent and commit, ` (ppl 7.3 and 7.5)`; empty if they have none.
    levels: String,
}

/// Where else a recipe or a ruler may hide the step that the ends show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hidden {
    /// Before the commit, by the older recipe.
    pub(super) before: bool,
    /// After the commit, by the newer recipe.
    pub(super) after: bool,
}

impl Driver<'_> {
    /// If the recipes of the commit and its parents differ, measures both sides with each recipe.
    /// Objects if a recipe that runs on both sides shows no step, or if none runs on both sides.
    /// Then one of the recipes may hide the step of another commit, so the ends are measured with
    /// the other recipe too, and commits where the step may be are candidates.
    ///
    /// A step that only the newer recipe shows may be older: the parent may ignore an option that
    /// the commit begins to read.
    pub(crate) fn recipe_objection(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        let (commit, targets) = (claim.commit, &claim.strategy.targets);
        let newer = self.oracle.recipes.at(commit)?;
        let mut others: Vec<Config> = Vec::new();
        for parent in parents {
            let theirs = self.oracle.recipes.at(parent)?;
            if theirs.text() != newer.text()
                && others.iter().all(|known| known.text() != theirs.text())
            {
                others.push(theirs);
            }
        }
        if others.is_empty() {
            return Ok(None);
        }
        let with_newer = self.with_recipe(&newer, commit, parents, targets)?;
        let mut with_older = Vec::new();
        for recipe in &others {
            with_older.push(self.with_recipe(recipe, commit, parents, targets)?);
        }
        let Some(with_other) = with_older.iter().min_by_key(|with| with.shown) else {
            return Ok(None);
        };
        let Some(what) = objection(&with_newer, with_other) else { return Ok(None) };

        let terms = self.terms();
        let [older_end, newer_end] = claim.ends;
        let at_older_end = self.at_end(older_end, terms.older(), &newer, targets)?;
        let mut hidden = Hidden { before: !terms.is_newer(at_older_end), after: false };
        for (recipe, with) in others.iter().zip(&with_older) {
            // A recipe that gives the commit the newer end's verdict shows the step already.
            if !hidden.after && !terms.is_newer(with.commit) {
                let at_newer_end = self.at_end(newer_end, terms.newer(), recipe, targets)?;
                hidden.after = terms.is_newer(at_newer_end);
            }
        }
        let candidates = self.hidden_candidates(claim, hidden)?;
        let why = CandidatesReason::RecipeChanged(told(commit, &what, hidden));
        Ok(Some(ConfirmationOutcome::Undecidable(candidates, why)))
    }

    /// Measures the commit and its parents with one recipe.
    fn with_recipe(
        &mut self,
        recipe: &Config,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
    ) -> Result<WithRecipe, HuntError> {
        let measures = measures_of(targets);
        let (runs, is_exact) = runs_for(targets);
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
        let terms = self.terms();
        let mut levels = String::new();
        let shown = if *own == Verdict::Skip || rest.contains(&Verdict::Skip) {
            Shown::Unknown
        } else {
            let (steps, _) = effects(&last, &seen, targets, &self.oracle.recipes.config, terms);
            levels = steps.first().map(levels_of).unwrap_or_default();
            shown(*own, rest, &steps, terms)
        };
        Ok(WithRecipe { shown, commit: *own, levels })
    }

    /// The verdict on an end of the range with this recipe. `own`: that with its own recipe.
    fn at_end(
        &mut self,
        end: &CommitId,
        own: Verdict,
        recipe: &Config,
        targets: &[Target],
    ) -> Result<Verdict, HuntError> {
        if self.oracle.recipes.at(end)?.text() == recipe.text() {
            return Ok(own);
        }
        let measures = measures_of(targets);
        let (runs, is_exact) = runs_for(targets);
        let seen = self.oracle.evaluate(Request {
            runs,
            recipe: Some(recipe),
            keep: false,
            ..Request::look(end, &measures, Phase::Inquiry)
        })?;
        Ok(judge_separately(&seen, targets, recipe, is_exact))
    }

    /// The claimed commit and the commits where the step may be hidden, the newest first.
    pub(super) fn hidden_candidates(
        &self,
        claim: Claim<'_>,
        hidden: Hidden,
    ) -> Result<Vec<CommitId>, HuntError> {
        let [older_end, newer_end] = claim.ends;
        let first_parent = self.begun.options.first_parent;
        let between = |old: Vec<CommitId>, new: &CommitId| {
            let range = Range { old, first_parent, ..Range::between(older_end, new) };
            self.oracle.history.commits(&range)
        };
        let mut candidates = Vec::new();
        if hidden.after {
            candidates.extend(between(vec![older_end.clone(), claim.commit.clone()], newer_end)?);
        }
        if hidden.before {
            candidates.extend(between(vec![older_end.clone()], claim.commit)?);
        } else {
            candidates.push(claim.commit.clone());
        }
        Ok(candidates)
    }
}

/// What a recipe shows that gives the commit and its parents these verdicts and own steps.
fn shown(own: Verdict, parents: &[Verdict], steps: &[Effect], terms: SearchTerms) -> Shown {
    let is_far = steps.iter().any(is_large);
    let are_older = parents.iter().all(|verdict| terms.is_older(*verdict));
    let is_same = parents.iter().all(|verdict| *verdict == own);
    if terms.is_newer(own) && are_older && (is_far || steps.is_empty()) {
        Shown::Step
    } else if is_same && (terms.is_newer(own) || is_far) {
        Shown::OneVerdict
    } else {
        Shown::NoStep
    }
}

/// The levels of a step, ` (ppl 7.3 and 7.5)`.
fn levels_of(effect: &Effect) -> String {
    let [parent, commit] = text::pair(&effect.parent, &effect.commit);
    format!(" ({} {parent} and {commit})", effect.metric)
}

/// Why the step may not be the commit's, from what the newer and the older recipe show; `None` if
/// at least one of them shows it, and the other does not deny it.
fn objection(newer: &WithRecipe, older: &WithRecipe) -> Option<String> {
    let of = |with: &WithRecipe, recipe: &str| match with.shown {
        Shown::Step => format!("{recipe} shows a step there"),
        Shown::NoStep => format!("{recipe} shows no step there"),
        Shown::OneVerdict => {
            format!("both sides are {} with {recipe}{}", with.commit, with.levels)
        }
        Shown::Unknown => format!("{recipe} does not run on both sides"),
    };
    Some(match (newer.shown, older.shown) {
        (Shown::Step, Shown::Step | Shown::Unknown) | (Shown::Unknown, Shown::Step) => return None,
        (Shown::Step, Shown::NoStep) => "only the newer recipe shows a step there".to_owned(),
        (Shown::NoStep, Shown::Step) => "only the older recipe shows a step there".to_owned(),
        (Shown::NoStep, Shown::NoStep) => {
            "with the same recipe on both sides there is no step there".to_owned()
        }
        (Shown::Unknown, Shown::Unknown) => {
            "neither recipe runs on both sides, so that nothing can be compared".to_owned()
        }
        _ => format!("{}, and {}", of(newer, "the newer recipe"), of(older, "the older one")),
    })
}

/// The reason in words: what the recipes show at the commit, and where else the step may be.
fn told(commit: &CommitId, what: &str, hidden: Hidden) -> String {
    let changed = format!("the recipe changes at {}, and {what}", commit.short());
    let hides = match (hidden.before, hidden.after) {
        (false, false) => return changed,
        (true, false) => "the older recipe may hide the step of an earlier commit",
        (false, true) => "the newer recipe may hide the step of a later commit",
        (true, true) => {
            "the older recipe may hide the step of an earlier commit, and the newer one that of a \
             later commit"
        }
    };
    format!("{changed}; {hides} (a hunt with one recipe for the whole range would tell)")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Aim;
    use crate::oracle::fixture::effect;

    const ALL: [Shown; 4] = [Shown::Step, Shown::NoStep, Shown::OneVerdict, Shown::Unknown];

    fn with(shown: Shown) -> WithRecipe {
        let levels = " (ppl 7.3 and 7.5)".to_owned();
        WithRecipe { shown, commit: Verdict::Bad, levels }
    }

    #[test]
    fn a_recipe_that_shows_a_step_is_never_denied() {
        for newer in ALL {
            for older in ALL {
                let shows = [newer, older].contains(&Shown::Step);
                let Some(why) = objection(&with(newer), &with(older)) else {
                    assert!(shows && ![newer, older].contains(&Shown::NoStep));
                    continue;
                };
                assert_eq!(why.contains("shows a step"), shows, "{why}");
                assert!(!(shows && why.contains("no step")), "{why}");
                let denies = [newer, older].contains(&Shown::NoStep);
                assert!(denies || !why.contains("no step"), "{why}");
            }
        }
        let both = objection(&with(Shown::OneVerdict), &with(Shown::NoStep)).unwrap();
        let expected = "both sides are bad with the newer recipe (ppl 7.3 and 7.5), and the older \
                        one shows no step there";
        assert_eq!(both, expected);
    }

    #[test]
    fn one_older_recipe_without_a_step_is_enough_to_object() {
        let first = |all: &[Shown]| all.iter().copied().min();
        assert_eq!(first(&[Shown::Step, Shown::NoStep]), Some(Shown::NoStep));
        assert_eq!(first(&[Shown::Step, Shown::OneVerdict]), Some(Shown::OneVerdict));
        assert_eq!(first(&[Shown::Unknown, Shown::Step]), Some(Shown::Step));
    }

    #[test]
    fn equal_verdicts_tell_of_no_step_only_if_the_values_are_good_and_near() {
        let terms = SearchTerms::of(Aim::Regression);
        let of = |own, parent, [from, to]: [f64; 2]| {
            shown(own, &[parent], &[effect(from, to, 0.1)], terms)
        };
        let (good, bad) = (Verdict::Good, Verdict::Bad);
        assert_eq!(of(bad, good, [7.0, 7.3]), Shown::Step);
        assert_eq!(of(bad, bad, [7.3, 7.5]), Shown::OneVerdict);
        assert_eq!(of(bad, bad, [7.3, 7.3]), Shown::OneVerdict);
        assert_eq!(of(good, good, [6.8, 7.0]), Shown::OneVerdict);
        assert_eq!(of(good, good, [7.0, 7.01]), Shown::NoStep);
        // A failure has no levels.
        assert_eq!(shown(bad, &[good], &[], terms), Shown::Step);
        assert_eq!(shown(good, &[good], &[], terms), Shown::NoStep);
        assert_eq!(shown(good, &[bad], &[], terms), Shown::NoStep);
    }
}
