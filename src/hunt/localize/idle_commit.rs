//! A named commit that the bad end does not need: without it alone, that end keeps the whole step,
//! and the named commits together explain more than that end shows. That the end is good without
//! all of them shows only that it needs another one.

use crate::evaluation::{
    Account, Basis, Cause, CommitId, Culprit, Effect, Finding, Outcome, Revert, Target, Trial,
    Value,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::contradiction::same_level;
use super::joint::cause_of;
use super::open_change::{OpenChange, WhyOpen};

impl Driver<'_> {
    /// The named commits that the bad end does not need. None if values repeat and exactly two
    /// commits are named, on separate lines of history: there each of the two may be enough, and
    /// other tests of that end have settled this.
    pub(crate) fn idle_alone(&self, finding: &Finding) -> Result<Vec<OpenChange>, HuntError> {
        let (targets, _) = self.sought()?;
        let idle = idle_commits(finding, &targets);
        if idle.is_empty() || self.is_either_enough(finding, &targets)? {
            return Ok(Vec::new());
        }
        Ok(idle.into_iter().map(|commit| OpenChange { commit, why: WhyOpen::TooMuch }).collect())
    }

    /// Whether exactly two commits are named, on separate lines of history, and values repeat.
    fn is_either_enough(&self, finding: &Finding, targets: &[Target]) -> Result<bool, HuntError> {
        let [one, other] = finding.culprits.as_slice() else { return Ok(false) };
        let is_exact = |culprit: &Culprit| culprit.basis == Basis::BitExact;
        if !self.values_repeat(targets) || !is_exact(one) || !is_exact(other) {
            return Ok(false);
        }
        let [first, second] = [one, other].map(|culprit| &culprit.info.commit);
        Ok(!self.oracle.history.are_on_one_line(first, second)?)
    }
}

/// The named commits without which, one at a time, the bad end keeps its level in each metric of
/// the commit, if the named commits explain too much of one of these metrics.
fn idle_commits(finding: &Finding, targets: &[Target]) -> Vec<CommitId> {
    if finding.outcome != Outcome::Culprit || finding.culprits.len() < 2 {
        return Vec::new();
    }
    let is_idle = |culprit: &&Culprit| {
        let cause = cause_of(finding, &culprit.info.commit);
        let still_bad =
            cause.filter(|cause| cause.revert == Some(Revert::StillBad) && !cause.in_part);
        let Some(trial) = still_bad.and_then(Cause::reverted) else { return false };
        let is_exceeded = |effect: &Effect| {
            let is_its = |account: &&Account| account.metric == effect.metric;
            finding.accounts.iter().find(is_its).is_some_and(Account::is_exceeded)
        };
        culprit.effects.iter().any(is_exceeded)
            && culprit.effects.iter().all(|effect| keeps_level(effect, trial, targets))
    };
    let idle = finding.culprits.iter().filter(is_idle);
    idle.map(|culprit| culprit.info.commit.clone()).collect()
}

/// Whether the bad end has its own level in this test, but for a small part of the step.
fn keeps_level(effect: &Effect, trial: &Trial, targets: &[Target]) -> bool {
    let Some(level) = trial.levels.get(&effect.metric).and_then(Value::number) else {
        return false;
    };
    let guards = targets.iter().filter_map(Target::guard);
    let mut own = guards.filter(|target| target.guard.metric == effect.metric);
    own.any(|target| {
        let Some(bad) = target.bad.number() else { return false };
        (level - bad).abs() <= same_level(target, effect.own_step.unwrap_or(0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric, TrialOf};
    use crate::hunt::localize::unknown;
    use crate::oracle::fixture::{self, commit, effect, target};

    /// The bad end is worse than the good one by 1. Each of these commits made it worse by 1. The
    /// first one was taken out alone, and the bad end had this level.
    fn hunt(culprits: &str, level: f64) -> Finding {
        let culprit = |digit| Culprit {
            effects: vec![effect(7.0, 8.0, 0.1)],
            ..fixture::culprit(digit, '2')
        };
        let culprits: Vec<Culprit> = culprits.chars().map(culprit).collect();
        let trial = fixture::trial(TrialOf::Reverted, level);
        let revert = Some(Revert::StillBad);
        let cause = Cause { revert, trials: vec![trial], ..unknown(&culprits[0], String::new()) };
        let explained = culprits.len() as f64;
        let account = Account {
            metric: Metric::of("ppl"),
            total: 1.0,
            explained,
            rest: 1.0 - explained,
            in_small_steps: false,
            taken_back: None,
            overlap: None,
            limit: 0.1,
        };
        Finding {
            culprits,
            main: Some(0),
            cause: Some(cause),
            accounts: vec![account],
            ..Finding::plain(Outcome::Culprit, "3 is the first bad commit")
        }
    }

    fn idle(finding: &Finding) -> Vec<CommitId> {
        let sought = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 8.0))];
        idle_commits(finding, &sought)
    }

    #[test]
    fn a_commit_without_which_the_whole_step_stays_is_not_named_beside_another() {
        assert_eq!(idle(&hunt("37", 8.0)), [commit('3')]);
        assert_eq!(idle(&hunt("37", 7.95)), [commit('3')]);
        // The end loses a part, or gets worse: later code depends on the commit.
        assert_eq!(idle(&hunt("37", 7.6)), []);
        assert_eq!(idle(&hunt("37", 9.0)), []);
        // A single commit is another rule's.
        assert_eq!(idle(&hunt("3", 8.0)), []);
    }

    #[test]
    fn commits_that_do_not_explain_too_much_stay_named() {
        let mut fitting = hunt("37", 8.0);
        fitting.accounts[0].rest = 0.0;
        assert_eq!(idle(&fitting), []);
        let mut in_part = hunt("37", 8.0);
        in_part.cause.as_mut().unwrap().in_part = true;
        assert_eq!(idle(&in_part), []);
        let mut healed = hunt("37", 8.0);
        healed.cause.as_mut().unwrap().revert = Some(Revert::Heals);
        assert_eq!(idle(&healed), []);
    }
}
