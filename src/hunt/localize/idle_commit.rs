//! A named commit that the bad end does not need: without it alone, that end keeps the whole step,
//! and the named commits together explain more than that end shows, or no other one is named for
//! this metric. That the end is good without all of them shows only that it needs another one.

use crate::evaluation::{
    Account, Basis, Cause, Culprit, Effect, Finding, Outcome, Revert, Target, Trial,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::joint::cause_of;
use super::open_change::{OpenChange, WhyOpen};
use super::same_level::same_level;

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
        Ok(idle)
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

/// The named commits without which, one at a time, the bad end keeps its level
/// - in each metric of the commit, if the named commits explain too much of one of these metrics,
/// - or in a metric whose values repeat and that no other named commit moves.
fn idle_commits(finding: &Finding, targets: &[Target]) -> Vec<OpenChange> {
    if finding.outcome != Outcome::Culprit || finding.culprits.len() < 2 {
        return Vec::new();
    }
    let why_idle = |culprit: &Culprit| {
        let cause = cause_of(finding, &culprit.info.commit);
        let still_bad =
            cause.filter(|cause| cause.revert == Some(Revert::StillBad) && !cause.in_part);
        let trial = still_bad.and_then(Cause::reverted)?;
        let is_exceeded = |effect: &Effect| {
            let is_its = |account: &&Account| account.metric == effect.metric;
            finding.accounts.iter().find(is_its).is_some_and(Account::is_exceeded)
        };
        let is_kept = |effect: &Effect| keeps_level(effect, trial, targets);
        if culprit.effects.iter().any(is_exceeded) && culprit.effects.iter().all(is_kept) {
            return Some(WhyOpen::TooMuch);
        }
        let is_made_elsewhere = |effect: &Effect| {
            is_only_one_on(effect, culprit, finding) && repeats(effect, targets) && is_kept(effect)
        };
        culprit.effects.iter().any(is_made_elsewhere).then_some(WhyOpen::NoEffect)
    };
    let open = |culprit: &Culprit| {
        let commit = culprit.info.commit.clone();
        why_idle(culprit).map(|why| OpenChange { commit, why })
    };
    finding.culprits.iter().filter_map(open).collect()
}

/// Whether no other named commit moves the metric of this commit's effect.
fn is_only_one_on(effect: &Effect, culprit: &Culprit, finding: &Finding) -> bool {
    let mut others = finding.culprits.iter().filter(|other| other.info != culprit.info);
    !others.any(|other| other.effect_on(&effect.metric).is_some())
}

/// Whether the values of the effect's metric repeat.
fn repeats(effect: &Effect, targets: &[Target]) -> bool {
    let target = Target::on(targets, &effect.metric).and_then(Target::guard);
    target.is_some_and(|target| target.noise.is_none())
}

/// Whether the bad end has its own level in this test, but for a small part of the step.
fn keeps_level(effect: &Effect, trial: &Trial, targets: &[Target]) -> bool {
    let Some(level) = trial.levels.get(&effect.metric) else { return false };
    let guards = targets.iter().filter_map(Target::guard);
    let mut own = guards.filter(|target| target.guard.metric == effect.metric);
    own.any(|target| match (level.number(), target.bad.number()) {
        (Some(level), Some(bad)) => {
            (level - bad).abs() <= same_level(target, effect.own_step.unwrap_or(0.0))
        }
        _ => *level == target.bad,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{CommitId, GuardForm, Metric, TrialOf, Value};
    use crate::hunt::localize::unknown;
    use crate::oracle::fixture::{self, commit, effect, target, unchanged};

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
        let account = fixture::account(1.0, explained);
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
        idle_commits(finding, &sought).into_iter().map(|open| open.commit).collect()
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

    /// The same, but the second commit moves only another metric.
    fn beside_another_metric(level: f64) -> Finding {
        let mut finding = hunt("37", level);
        finding.accounts[0].rest = 0.0;
        finding.culprits[1].effects[0].metric = Metric::of("speed");
        finding
    }

    #[test]
    fn the_only_commit_named_for_a_metric_is_not_named_if_the_step_stays_without_it() {
        assert_eq!(idle(&beside_another_metric(8.0)), [commit('3')]);
        assert_eq!(idle(&beside_another_metric(7.6)), []);
        assert_eq!(idle(&beside_another_metric(7.0)), []);
        // In noise, a single test of the end does not tell.
        let noisy = fixture::noisy(GuardForm::MaxIncrease(0.1), 7.0, 8.0);
        let finding = beside_another_metric(8.0);
        assert!(idle_commits(&finding, &[Target::Guard(noisy)]).is_empty());
    }

    #[test]
    fn a_fact_stays_if_it_is_that_of_the_bad_end() {
        let target = Target::Guard(unchanged("384", "128"));
        let step = Effect { metric: Metric::of("launch"), own_step: None, ..effect(0.0, 0.0, 0.0) };
        let keeps = |text: &str| {
            let levels = [(Metric::of("launch"), Value::Fact(text.to_owned()))].into();
            let trial = Trial { levels, ..fixture::trial(TrialOf::Reverted, 8.0) };
            keeps_level(&step, &trial, std::slice::from_ref(&target))
        };
        assert!(keeps("128") && !keeps("384") && !keeps("64"));
    }
}
