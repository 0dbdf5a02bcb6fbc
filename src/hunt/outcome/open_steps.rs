//! What the answer of an undecided hunt begins with: the confirmed steps that the newer end may
//! have, and the improvements of the same metrics. Pure.

use crate::evaluation::{CommitId, Culprit, OpenStep};

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit, Mend};

impl Ledger {
    /// The steps of the found commits of which it is open whether the newer end has them, then the
    /// measured improvements. `history`: the commits between the endpoints, oldest first. Empty if
    /// no step is open.
    pub(super) fn open_steps(&self, history: &[CommitId]) -> Vec<OpenStep> {
        let is_open = |found: &&FoundCommit| {
            matches!(found.status, CulpritStatus::Hides { .. } | CulpritStatus::Unclear)
        };
        let steps = self.found.iter().filter(is_open).flat_map(|found| steps_of(&found.culprit));
        let mut open: Vec<OpenStep> = steps.collect();
        let place = |mend: &Mend| history.iter().position(|commit| *commit == mend.by);
        let is_of_a_step = |mend: &Mend| open.iter().any(|step| step.metric == mend.metric);
        let is_shown = |mend: &&Mend| {
            mend.metric.is_some()
                && mend.amount.is_finite()
                && self.is_shown_by_runs(mend)
                && place(mend).is_some()
                && is_of_a_step(mend)
        };
        let mut mends: Vec<&Mend> = self.mends().iter().filter(is_shown).collect();
        mends.sort_by_key(|mend| place(mend));
        let improvements: Vec<OpenStep> = mends.into_iter().map(improvement).collect();
        open.extend(improvements);
        open
    }

    /// Whether enough runs show the improvement: values repeat, or means of several runs were
    /// compared. Where runs of one commit contradict each other, one run may show a level that its
    /// commit does not have. Failure rates and runs in pairs have no levels.
    fn is_shown_by_runs(&self, mend: &Mend) -> bool {
        let target = mend.metric.as_ref().and_then(|metric| self.target_on(metric));
        target.is_some_and(|target| match target.noise {
            None => mend.repeats && !self.is_flaky,
            Some(noise) => noise.has_levels(),
        })
    }
}

/// The step of each metric that a confirmed commit changes, or its failure.
fn steps_of(culprit: &Culprit) -> Vec<OpenStep> {
    let step = |metric, change| {
        let commit = culprit.info.commit.clone();
        OpenStep { commit, metric, change, is_confirmed: true }
    };
    if culprit.effects.is_empty() {
        return vec![step(None, None)];
    }
    let effects = culprit.effects.iter();
    effects.map(|effect| step(Some(effect.metric.clone()), effect.own_step)).collect()
}

fn improvement(mend: &Mend) -> OpenStep {
    let (commit, metric) = (mend.by.clone(), mend.metric.clone());
    OpenStep { commit, metric, change: Some(-mend.amount), is_confirmed: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, Finding, GuardForm, Metric, Outcome, Target};
    use crate::hunt::commit_order::CommitOrder;
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, culprit, effect, target};

    /// Commit 5 made `ppl` worse by 1; at commit 8 it is better by 0.9. The bad end is worse by 1.
    fn hunt(status: CulpritStatus) -> Finding {
        close(ledger(status))
    }

    fn close(ledger: Ledger) -> Finding {
        ledger.close(Vec::new(), &CommitOrder::line("123456789abcde"), false)
    }

    fn ledger(status: CulpritStatus) -> Ledger {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.5), 6.0, 7.0))];
        let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
        let effects = vec![effect(6.0, 7.0, 0.5)];
        let found = Culprit { confidence: 1.0, effects, ..culprit('5', '4') };
        ledger.found.push(FoundCommit { status, ..FoundCommit::new(found) });
        ledger.mended(Mend {
            by: commit('8'),
            before: None,
            metric: Some(Metric::of("ppl")),
            amount: 0.9,
            left: 1.0,
            limit: 0.5,
            repeats: true,
        });
        ledger
    }

    #[test]
    fn an_undecided_hunt_says_what_it_measured() {
        let among: Vec<CommitId> = "56789abcde".chars().map(commit).collect();
        let status =
            CulpritStatus::Hides { among: among.clone(), left: 1.0, undone_by: None, why: None };
        let finding = hunt(status);
        let step = |digit, change, is_confirmed| OpenStep {
            commit: commit(digit),
            metric: Some(Metric::of("ppl")),
            change: Some(change),
            is_confirmed,
        };
        assert_eq!((finding.outcome, &finding.candidates), (Outcome::Candidates, &among));
        assert_eq!(finding.open_steps, [step('5', 1.0, true), step('8', -0.9, false)]);
        assert_eq!(finding.accounts[0].explained.to_bits(), 0.0_f64.to_bits());
        let words = &finding.summary;
        assert!(words.contains("one of 10: 5555555555, 6666666666, 7777777777 and 7 more; "));
        assert!(words.contains("what 5555555555 changed"), "{words}");
    }

    #[test]
    fn an_improvement_that_one_run_of_a_flaky_engine_shows_is_not_told() {
        let improvements = |is_flaky: bool| {
            let mut own = ledger(CulpritStatus::Unclear);
            own.is_flaky = is_flaky;
            let finding = close(own);
            finding.open_steps.iter().filter(|step| !step.is_confirmed).count()
        };
        assert_eq!([false, true].map(improvements), [1, 0]);
    }

    #[test]
    fn a_named_commit_leaves_no_step_open() {
        let finding = hunt(CulpritStatus::Stands);
        assert_eq!((finding.outcome, finding.open_steps), (Outcome::Culprit, Vec::new()));
    }
}
