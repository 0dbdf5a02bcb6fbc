//! Found commits on separate lines of history that together explain more than the whole change. On
//! one line, the levels between two commits show what took a part back. Between separate lines no
//! level shows it: a merge may have lost a step, or commits that cannot be tested took it back.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Metric, exceeds_limit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::unexplained::SURE;

impl Driver<'_> {
    /// Marks found commits on separate lines as possibly undone, if their steps exceed the whole
    /// change of a metric by more than the tolerance, and no measured improvement accounts for it.
    pub(crate) fn doubt_separate_lines(
        &self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        for commit in self.too_much_together(ledger, whole)?.iter().flatten() {
            ledger.leaves(commit);
        }
        Ok(())
    }

    /// The pairs of such commits: at least one commit of each pair does not explain the newer end.
    pub(super) fn too_much_together(
        &self,
        ledger: &Ledger,
        whole: &SearchRange,
    ) -> Result<Vec<[CommitId; 2]>, HuntError> {
        let mut too_much = Vec::new();
        if !whole.explains_levels() {
            return Ok(too_much);
        }
        for account in ledger.accounts() {
            let metric = &account.metric;
            let standing = ledger.standing_on(metric);
            let Some(target) = ledger.target_on(metric).cloned() else { continue };
            let most = target.limit.max(0.0) + SURE * ledger.error_of_rest(&target);
            let excess = -account.rest - improvement_before(&standing, &target);
            if !exceeds_limit(excess, most, target.levels_at_ends()) {
                continue;
            }
            let (pairs, counted_twice) = self.on_separate_lines(&standing, metric)?;
            for pair in pairs {
                let after = self.improvement_after(ledger, pair, metric)?;
                let left = excess - counted_twice - after;
                if exceeds_limit(left, most, target.levels_at_ends()) {
                    too_much.push(pair.map(|culprit| culprit.info.commit.clone()));
                }
            }
        }
        Ok(too_much)
    }

    /// The pairs of commits that do not contain each other and make different changes. And the sum
    /// of the steps that count twice, because both commits of a pair make the same change.
    fn on_separate_lines<'c>(
        &self,
        culprits: &'c [Culprit],
        metric: &Metric,
    ) -> Result<(Vec<[&'c Culprit; 2]>, f64), HuntError> {
        let history = &self.oracle.history;
        let (mut pairs, mut counted_twice) = (Vec::new(), 0.0);
        for (place, one) in culprits.iter().enumerate() {
            for other in &culprits[place + 1..] {
                let [commit, beside] = [one, other].map(|culprit| &culprit.info.commit);
                if history.are_on_one_line(commit, beside)? {
                    continue;
                }
                let change = history.change(&one.parent, commit)?;
                // The same short line elsewhere is another change.
                let there = [other.parent.clone(), beside.clone()];
                if history.has_same_change(&there, &change) {
                    let step = |one: &Culprit| one.effect_on(metric)?.own_step;
                    let steps = [one, other].into_iter().filter_map(step);
                    let smaller = steps.fold(f64::INFINITY, f64::min);
                    counted_twice += if smaller.is_finite() { smaller } else { 0.0 };
                } else {
                    pairs.push([one, other]);
                }
            }
        }
        Ok((pairs, counted_twice))
    }

    /// The sum of the measured improvements of a metric that lie behind both commits. An
    /// improvement on a branch that lacks one of them counts if the level of a commit with both
    /// falls by exactly as much where the branch is merged. Such falls on several lines may be the
    /// same improvement, so only the largest counts.
    fn improvement_after(
        &self,
        ledger: &Ledger,
        pair: [&Culprit; 2],
        metric: &Metric,
    ) -> Result<f64, HuntError> {
        let history = &self.oracle.history;
        let [one, other] = pair.map(|culprit| &culprit.info.commit);
        let has_both = |at: &CommitId| -> Result<bool, HuntError> {
            Ok(history.is_ancestor(one, at)? && history.is_ancestor(other, at)?)
        };
        let mut sum = 0.0;
        for mend in ledger.mends_of(metric) {
            if has_both(&mend.by)? {
                sum += mend.amount;
            }
        }
        let mut brought = 0.0;
        for fall in ledger.brought_falls.iter().filter(|fall| fall.metric == *metric) {
            // The improvement of a branch with both is a mend behind both.
            let is_counted =
                has_both(&fall.tip)? || ledger.mends_of(metric).any(|mend| mend.by == fall.merge);
            if !is_counted && has_both(&fall.before)? {
                brought = f64::max(brought, fall.amount);
            }
        }
        Ok(sum + brought)
    }
}

/// How much better than the good end the best parent of these commits is; 0 if none is better. The
/// steps from there add up to more than the whole change.
pub(super) fn improvement_before(culprits: &[Culprit], target: &GuardTarget) -> f64 {
    let effects = culprits.iter().filter_map(|one| one.effect_on(&target.guard.metric));
    let levels = effects.filter_map(|effect| effect.parent.number().zip(target.baseline.number()));
    let better = levels.map(|(parent, good)| -target.guard.worsening(good, parent));
    better.fold(0.0, f64::max)
}
