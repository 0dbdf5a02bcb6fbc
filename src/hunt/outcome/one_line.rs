//! Found commits on one line of history that together explain more than the whole change. The level
//! falls between two such commits if something took a part back. If no improvement was measured
//! there, runs that strayed may have hidden it.

use crate::evaluation::{Account, CommitId, Culprit, Direction, GuardTarget, exceeds_limit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::separate_lines::improvement_before;

impl Driver<'_> {
    /// Marks found commits on one line as possibly undone, if the steps of all exceed the whole
    /// change of a metric by as much as theirs, and no measured improvement accounts for it. Only
    /// if runs of one commit were seen to differ: otherwise each fall that was measured is what it
    /// seems, and several small ones between two steps undo neither of them.
    pub(crate) fn doubt_one_line(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels() {
            return Ok(());
        }
        for account in ledger.accounts() {
            let standing = ledger.standing_on(&account.metric);
            let Some(target) = ledger.target_on(&account.metric).cloned() else { continue };
            let undone = ledger.perhaps_undone(&account, &target, &standing);
            if !undone.is_empty()
                && self.was_seen_to_differ(&whole.targets)?
                && self.are_all_on_one_line(&standing)?
            {
                for commit in &undone {
                    ledger.leaves(commit);
                }
            }
        }
        Ok(())
    }

    /// Whether of each two of these commits one contains the other.
    fn are_all_on_one_line(&self, culprits: &[Culprit]) -> Result<bool, HuntError> {
        for (place, one) in culprits.iter().enumerate() {
            for other in &culprits[place + 1..] {
                let [first, second] = [one, other].map(|culprit| &culprit.info.commit);
                if !self.oracle.history.are_on_one_line(first, second)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Ledger {
    /// The commits whose whole step may be gone: the steps of all exceed the whole change of a
    /// metric and all measured improvements together by more than the tolerance, and by at least
    /// this step. Several small falls, of which none is measured as an improvement, take no whole
    /// step back. None in noise, where an improvement may be lost, and none if each change counts
    /// as worse, since then steps do not add up.
    fn perhaps_undone(
        &self,
        account: &Account,
        target: &GuardTarget,
        standing: &[Culprit],
    ) -> Vec<CommitId> {
        let do_steps_add_up = target.noise.is_none() && target.guard.direction() != Direction::Any;
        if standing.len() < 2 || !do_steps_add_up {
            return Vec::new();
        }
        let metric = &account.metric;
        let mended: f64 = self.mends_of(metric).map(|mend| mend.amount).sum();
        let falls = self.brought_falls.iter().filter(|fall| fall.metric == *metric);
        let brought: f64 = falls.map(|fall| fall.amount).sum();
        let excess = -account.rest - improvement_before(standing, target) - mended - brought;
        let limit = target.limit.max(0.0);
        if !exceeds_limit(excess, limit, target.levels_at_ends()) {
            return Vec::new();
        }
        let step = |culprit: &Culprit| culprit.effect_on(metric)?.own_step;
        let is_as_large =
            |culprit: &&Culprit| step(culprit).is_some_and(|step| step <= excess + limit);
        let undone = standing.iter().filter(is_as_large);
        undone.map(|culprit| culprit.info.commit.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, Effect, GuardForm, Metric, Outcome, Target};
    use crate::hunt::commit_order::CommitOrder;
    use crate::hunt::outcome::culprit_status::{FoundCommit, Mend};
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, culprit, effect, noisy, target};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    /// The bad end is worse than the good one by 1; 3 and 7 made these steps.
    fn hunt(sought: &GuardTarget, steps: [Effect; 2]) -> Ledger {
        let terms = SearchTerms::of(Aim::Regression);
        let mut ledger = Ledger::new(&[Target::Guard(sought.clone())], terms);
        for ((digit, parent), step) in [('3', '2'), ('7', '6')].into_iter().zip(steps) {
            let found = Culprit { confidence: 1.0, effects: vec![step], ..culprit(digit, parent) };
            ledger.found.push(FoundCommit::new(found));
        }
        ledger
    }

    fn undone(ledger: &Ledger, sought: &GuardTarget) -> Vec<CommitId> {
        let standing: Vec<Culprit> = ledger.standing_culprits().cloned().collect();
        ledger.perhaps_undone(&ledger.accounts()[0], sought, &standing)
    }

    /// Both made the whole change.
    fn twice() -> [Effect; 2] {
        [effect(7.0, 8.0, 0.1), effect(7.0, 8.0, 0.1)]
    }

    fn mend(amount: f64) -> Mend {
        Mend {
            by: commit('6'),
            before: Some(commit('5')),
            metric: Some(Metric::of("ppl")),
            amount,
            left: 0.0,
            limit: 0.1,
            repeats: true,
        }
    }

    #[test]
    fn steps_beyond_the_whole_change_need_a_measured_improvement() {
        let sought = target(UP, 7.0, 8.0);
        let both = ['3', '7'].map(commit).to_vec();
        assert_eq!(undone(&hunt(&sought, twice()), &sought), both);
        for amount in [1.0, 0.95] {
            let mut mended = hunt(&sought, twice());
            mended.mended(mend(amount));
            assert!(undone(&mended, &sought).is_empty(), "{amount}");
        }
        // The first step began at a better level than the good end's.
        let from_below = [effect(6.0, 7.0, 0.1), effect(7.0, 8.0, 0.1)];
        assert!(undone(&hunt(&sought, from_below), &sought).is_empty());
        let fitting = [effect(7.0, 7.5, 0.1), effect(7.5, 8.05, 0.1)];
        assert!(undone(&hunt(&sought, fitting), &sought).is_empty());
    }

    #[test]
    fn only_a_step_that_is_gone_as_a_whole_is_doubted() {
        let sought = target(UP, 7.0, 8.0);
        let steps = |first: f64, second: f64| {
            [effect(7.0, 7.0 + first, 0.1), effect(8.0 - second, 8.0, 0.1)]
        };
        // Small falls between the two.
        assert!(undone(&hunt(&sought, steps(0.75, 0.5)), &sought).is_empty());
        let small = undone(&hunt(&sought, steps(0.5, 1.0)), &sought);
        assert_eq!(small, ['3'].map(commit).to_vec());
    }

    #[test]
    fn in_noise_and_if_each_change_is_worse_steps_need_not_add_up() {
        let in_noise = noisy(UP, 7.0, 8.0);
        assert!(undone(&hunt(&in_noise, twice()), &in_noise).is_empty());
        let unchanged = target(GuardForm::Unchanged, 7.0, 8.0);
        assert!(undone(&hunt(&unchanged, twice()), &unchanged).is_empty());
    }

    #[test]
    fn commits_of_which_one_was_undone_unseen_are_candidates() {
        let sought = target(UP, 7.0, 8.0);
        let close =
            |ledger: Ledger| ledger.close(Vec::new(), &CommitOrder::line("123456789"), false);
        let mut ledger = hunt(&sought, twice());
        assert_eq!(close(hunt(&sought, twice())).outcome, Outcome::Culprit);
        for digit in ['3', '7'] {
            ledger.leaves(&commit(digit));
        }
        let finding = close(ledger);
        assert_eq!(finding.outcome, Outcome::Candidates);
        assert_eq!(finding.candidates, ['3', '7'].map(commit));
    }
}
