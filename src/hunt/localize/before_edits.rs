//! Whether the step of one of several named commits is still there right before later commits that
//! edit the lines of its change. A commit may switch the change off in another file, and the next
//! one make the same step in lines beside it: only the level between the two lacks the step.

use crate::evaluation::{CommitId, Culprit, Effect, Guard, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::oracle::measures_of;

use super::places::MOST_LOOKS;
use super::step::SHARE;

impl Driver<'_> {
    /// Whether the parents of these later commits show each effect of a named commit, as far as
    /// they come after it. False if one cannot be judged, or has no level. `named`: all named
    /// commits, whose steps add up. A commit with levels was measured at these parents before; one
    /// that fails was not, so this is false if there are many.
    pub(super) fn lasts_before_edits(
        &mut self,
        culprit: &Culprit,
        named: &[Culprit],
        edits: &[CommitId],
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        if culprit.effects.is_empty() && edits.len() > MOST_LOOKS {
            return Ok(false);
        }
        let commit = &culprit.info.commit;
        for edit in edits {
            for parent in self.oracle.history.parents(edit)? {
                let is_after =
                    parent != *commit && self.oracle.history.is_ancestor(commit, &parent)?;
                if is_after && !self.shows_effects(culprit, named, &parent, targets)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn shows_effects(
        &mut self,
        culprit: &Culprit,
        named: &[Culprit],
        place: &CommitId,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        let terms = self.terms();
        let verdict = self.judge(place, targets)?.verdict;
        // A failure has no level: the verdict says all.
        if culprit.effects.is_empty() {
            return Ok(terms.is_newer(verdict));
        }
        let seen = self.known_runs(place, &measures_of(targets))?;
        for effect in &culprit.effects {
            let target = Target::on(targets, &effect.metric).and_then(Target::guard);
            let Some((target, level)) = target.zip(seen.level(&effect.metric)) else {
                return Ok(false);
            };
            let added = self.steps_between(culprit, named, place, effect)?;
            if !has_effect(effect, &target.guard, terms, &level, added) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The sum of the steps that other named commits make in the metric of an effect, after the
    /// commit of this effect and up to `place`.
    fn steps_between(
        &self,
        culprit: &Culprit,
        named: &[Culprit],
        place: &CommitId,
        effect: &Effect,
    ) -> Result<f64, HuntError> {
        let (commit, history) = (&culprit.info.commit, &self.oracle.history);
        let mut sum = 0.0;
        for other in named {
            let by = &other.info.commit;
            let step = other.effect_on(&effect.metric).and_then(|effect| effect.own_step);
            if let Some(step) = step
                && history.is_ancestor(by, place)?
                && !history.is_ancestor(by, commit)?
            {
                sum += step;
            }
        }
        Ok(sum)
    }
}

/// Whether a later level still has at least half of an effect. `added`: what other commits added to
/// the level in between, positive is worse.
fn has_effect(
    effect: &Effect,
    guard: &Guard,
    terms: SearchTerms,
    level: &Value,
    added: f64,
) -> bool {
    match [&effect.parent, &effect.commit, level].map(Value::number) {
        [Some(parent), Some(commit), Some(later)] => {
            terms.step(guard, parent, later) - added >= SHARE * terms.step(guard, parent, commit)
        }
        [None, None, None] => *level != effect.parent,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::oracle::fixture::{effect, target};

    #[test]
    fn the_steps_of_other_commits_hide_no_fall() {
        let guard = target(GuardForm::MaxIncrease(0.1), 7.0, 10.0).guard;
        let has = |level: f64, added: f64| {
            let terms = SearchTerms::of(Aim::Regression);
            has_effect(&effect(7.0, 8.0, 0.1), &guard, terms, &Value::Number(level), added)
        };
        assert!(has(8.0, 0.0) && !has(7.0, 0.0));
        assert!(has(10.0, 2.0) && !has(9.0, 2.0));
    }

    #[test]
    fn a_fact_must_not_be_that_of_the_parent_again() {
        let guard = target(GuardForm::MaxIncrease(0.1), 7.0, 10.0).guard;
        let fact = |text: &str| Value::Fact(text.to_owned());
        let changed = Effect { parent: fact("avx"), commit: fact("sse"), ..effect(0.0, 0.0, 0.0) };
        let has = |level: &Value| {
            has_effect(&changed, &guard, SearchTerms::of(Aim::Regression), level, 0.0)
        };
        assert!(has(&fact("sse")) && !has(&fact("avx")) && !has(&Value::Number(1.0)));
    }
}
