//! Whether the bad end is worse without one of several named commits because other commits gained
//! back what it made worse: a later commit made the path that it began to use better than the path
//! before. Then as much was gained back as the commit's step and the loss without it together. If
//! less was, a path that the bad end does not use became worse, and this tells nothing of what that
//! end needs. Pure.

use std::collections::BTreeMap;

use crate::evaluation::{Account, Culprit, Effect, Metric, Target, Value};

use super::worse_end::{are_all_kept_or_worse, metrics_worse_without};

/// Whether other commits gained back more than this commit's step in a metric that it moves. If
/// not, its removal from the bad end tells nothing of this.
pub(super) fn may_outweigh(culprit: &Culprit, accounts: &[Account]) -> bool {
    culprit.effects.iter().any(|effect| {
        let account = account_of(&effect.metric, accounts);
        let steps = effect.own_step.zip(account);
        steps.is_some_and(|(step, account)| step < gained_back(account))
    })
}

/// Whether the bad end at these levels, without the commit, is worse in a metric that the commit
/// moves, better in none, and what was gained back explains each of these losses.
pub(super) fn gets_worse(
    culprit: &Culprit,
    levels: &BTreeMap<Metric, Value>,
    targets: &[Target],
    accounts: &[Account],
) -> bool {
    let level = |metric: &Metric| levels.get(metric).cloned();
    let worse = metrics_worse_without(culprit, targets, &level);
    let is_explained = |metric: &&Metric| {
        let account = account_of(metric, accounts);
        let lost = loss(metric, levels, targets);
        let effect = culprit.effect_on(metric);
        let seen = effect.zip(lost).zip(account);
        seen.is_some_and(|((effect, lost), account)| is_outweighed(effect, lost, account))
    };
    !worse.is_empty()
        && worse.iter().all(is_explained)
        && are_all_kept_or_worse(culprit, targets, &level)
}

/// Whether as much was gained back as the step of this effect and the loss without it together,
/// within the tolerance. `lost`: in the metric's unit.
fn is_outweighed(effect: &Effect, lost: f64, account: &Account) -> bool {
    let most = gained_back(account) + account.limit.max(0.0);
    effect.own_step.is_some_and(|step| step + lost <= most)
}

/// How much worse the bad end at these levels is than it is with the commit, in the metric's unit.
fn loss(metric: &Metric, levels: &BTreeMap<Metric, Value>, targets: &[Target]) -> Option<f64> {
    let target = Target::on(targets, metric).and_then(Target::guard)?;
    let level = levels.get(metric)?.number()?;
    Some(target.guard.worsening(target.bad.number()?, level))
}

fn account_of<'a>(metric: &Metric, accounts: &'a [Account]) -> Option<&'a Account> {
    accounts.iter().find(|account| account.metric == *metric)
}

/// By how much the found steps exceed the whole change, in the metric's unit: other commits gained
/// this back.
fn gained_back(account: &Account) -> f64 {
    -account.rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{self, account, effect, target};

    /// Whether the end is worse at this level without a commit with this step, in a change from 7.5
    /// to `bad` of which the found commits explain so much.
    fn is_worse(step: [f64; 2], [bad, explained]: [f64; 2], level: f64) -> bool {
        let [parent, commit] = step;
        let culprit =
            Culprit { effects: vec![effect(parent, commit, 0.1)], ..fixture::culprit('3', '2') };
        let levels = BTreeMap::from([(Metric::of("ppl"), Value::Number(level))]);
        let sought = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.5, bad))];
        let accounts = [account(bad - 7.5, explained)];
        let is_worse = gets_worse(&culprit, &levels, &sought, &accounts);
        assert!(!is_worse || may_outweigh(&culprit, &accounts));
        assert!(!gets_worse(&culprit, &levels, &sought, &[]));
        is_worse
    }

    #[test]
    fn an_end_is_worse_without_a_commit_if_its_path_became_better() {
        // From 7.9 to 8.2, and a later commit made the same path better by 0.5.
        let own = |level: f64| is_worse([7.9, 8.2], [7.7, 0.7], level);
        assert!(own(7.9));
        assert!(!own(7.7) && !own(7.4));
        // 0.25 became worse unseen.
        assert!(!own(8.15));
    }

    #[test]
    fn an_end_whose_unused_path_became_worse_tells_nothing() {
        // Steps of 0.4, 0.45 and 0.37, and 0.31 was gained back elsewhere. The path before the first
        // one became worse by 0.6.
        assert!(!is_worse([7.5, 7.9], [8.41, 1.22], 8.61));
        let first = Culprit { effects: vec![effect(7.5, 7.9, 0.1)], ..fixture::culprit('3', '2') };
        assert!(!may_outweigh(&first, &[account(0.91, 1.22)]));
        // 0.5 was gained back, and step and loss are 0.7.
        assert!(!is_worse([7.5, 7.9], [8.2, 1.2], 8.5));
    }
}
