//! A found commit that makes the step of an earlier one again, in a metric that its search was not
//! about. The level of its parent shows that another commit took the earlier step back.

use crate::evaluation::{Culprit, Direction, Effect, GuardTarget, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::culprit_status::{Mend, beyond_good};

impl Driver<'_> {
    /// The mends before a found commit in metrics that are no targets of the range in which it was
    /// found: the nearest found commit before it that stands is worse than its parent.
    pub(crate) fn mends_before_made_again(
        &self,
        ledger: &Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Vec<Mend>, HuntError> {
        let history = &self.oracle.history;
        let mut mends = Vec::new();
        for effect in &culprit.effects {
            let metric = &effect.metric;
            let is_searched = Target::on(&search_range.targets, metric).is_some();
            let Some(target) = ledger.target_on(metric).filter(|_| !is_searched) else { continue };
            let mut nearest: Option<&Culprit> = None;
            for earlier in ledger.standing_culprits() {
                let commit = &earlier.info.commit;
                if earlier.effect_on(metric).is_none()
                    || !history.is_ancestor(commit, &culprit.parent)?
                {
                    continue;
                }
                let is_nearer = match nearest {
                    None => true,
                    Some(known) => history.is_ancestor(&known.info.commit, commit)?,
                };
                if is_nearer {
                    nearest = Some(earlier);
                }
            }
            let before = nearest.and_then(|earlier| earlier.effect_on(metric));
            mends.extend(before.and_then(|before| mend_between(before, culprit, effect, target)));
        }
        Ok(mends)
    }
}

/// The mend between an earlier step and `effect`, which a found commit makes in the same metric; if
/// the parent of that commit is better than the earlier commit by more than the tolerance.
fn mend_between(
    earlier: &Effect,
    found: &Culprit,
    effect: &Effect,
    target: &GuardTarget,
) -> Option<Mend> {
    let [from, to] = [&effect.parent, &earlier.commit];
    let is_good = !target.guard.is_broken(&target.baseline, from);
    let (amount, left) = match (from.number(), to.number()) {
        (Some(good), Some(bad)) => {
            // Where any change is bad, only the level of the good end is better.
            let is_better = is_good || target.guard.direction() != Direction::Any;
            if !is_better || !target.guard.is_worse_by(good, bad, target.limit.max(0.0)) {
                return None;
            }
            let targets = [Target::Guard(target.clone())];
            let left = beyond_good(&targets, &effect.metric, good).unwrap_or(0.0);
            (target.guard.worsening(good, bad), left)
        }
        _ if is_good && from != to => (f64::INFINITY, 0.0),
        _ => return None,
    };
    Some(Mend {
        by: found.parent.clone(),
        before: None,
        metric: Some(effect.metric.clone()),
        amount,
        left,
        limit: target.limit,
        repeats: target.noise.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric, Value};
    use crate::oracle::fixture::{commit, culprit, effect, target, unchanged};

    /// The commit after `8` makes a step from this level again, after one from 7 to 7.5.
    fn mend(form: GuardForm, from: f64) -> Option<Mend> {
        let target = target(form, 7.0, 7.5);
        mend_between(&effect(7.0, 7.5, 0.1), &culprit('9', '8'), &effect(from, 7.5, 0.1), &target)
    }

    #[test]
    fn a_parent_without_the_earlier_step_shows_a_mend() {
        let up = GuardForm::MaxIncrease(0.1);
        let whole = mend(up, 7.0).unwrap();
        assert_eq!((whole.by, whole.amount, whole.left), (commit('8'), 0.5, 0.0));
        let part = mend(up, 7.25).unwrap();
        assert_eq!((part.amount, part.left), (0.25, 0.25));
        assert_eq!((mend(up, 7.5), mend(up, 7.45)), (None, None));
        assert!(mend(GuardForm::Unchanged, 7.0).is_some());
        assert_eq!(mend(GuardForm::Unchanged, 6.0), None);
    }

    #[test]
    fn a_fact_that_is_back_shows_a_mend() {
        let fact = |text: &str| Value::Fact(text.to_owned());
        let step = |from: &str, to: &str| Effect {
            metric: Metric::of("launch"),
            parent: fact(from),
            commit: fact(to),
            own_step: None,
            ..effect(0.0, 0.0, 0.0)
        };
        let mend = |from: &str| {
            let target = unchanged("384", "128");
            mend_between(&step("384", "128"), &culprit('9', '8'), &step(from, "128"), &target)
        };
        assert_eq!(mend("384").map(|mend| mend.amount), Some(f64::INFINITY));
        assert_eq!((mend("128"), mend("64")), (None, None));
    }
}
