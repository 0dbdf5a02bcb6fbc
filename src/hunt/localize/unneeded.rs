//! Named commits that the bad end does not need, where values repeat and two or more named commits
//! move one metric. A metric may be the largest or smallest of several parts: the peak of memory,
//! the slowest stage, the largest difference of a check. Then a later commit can undo the step of a
//! named one without any change of the level, because another part is worse by then. Two tests of
//! the bad end show this together: it keeps its level to the bit without the commit alone, and it
//! is good without all other named commits. Steps that add up never give the first result. Nor do
//! they if that end is worse without the commit alone, and what was gained back explains this: a
//! later commit made what this one began to use better than what was there before.

use std::collections::BTreeMap;

use crate::evaluation::{
    Account, Basis, Cause, CommitId, Culprit, Direction, Effect, Finding, GuardTarget, Metric,
    Shows, Target, Value, Verdict,
};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::change::Change;
use super::dropped::{largest, without};
use super::gains::{gets_worse, may_outweigh};
use super::patched::Patched;
use super::reversal::Reversal;
use super::same_level::same_level;
use super::unused_paths::left_open;
use super::worse_end::{are_all_kept_or_worse, is_worse_without};

/// Maximum number of named commits that are tested. Each may take a build of the bad end, and so
/// may the commits together.
const MOST_NAMED: usize = 4;

/// The levels of the bad end without some commits.
type Levels = BTreeMap<Metric, Value>;

impl Driver<'_> {
    /// The finding without the named commits that the bad end does not need. If the main one is
    /// among them, the finding gets the cause inside the next one. Two commits on one metric cost a
    /// build only if the test of the bad end without the main one shows that their steps do not add
    /// up, or if the main one does not move that metric. More commits on one metric cost one build.
    /// If the named commits explain too much, each of them on such a metric costs one if more than
    /// its step was gained back, but for the main one. Such a commit is left out only if a later
    /// commit edits what it changes or begins to use; otherwise the named commits are candidates.
    pub(crate) fn without_unneeded(&mut self, finding: Finding) -> Result<Finding, HuntError> {
        let unneeded = self.unneeded(&finding);
        let unneeded = self.unless_faulty(unneeded)?;
        if unneeded.is_empty() {
            return Ok(finding);
        }
        if explains_too_much(&finding) && !self.are_all_edited_later(&finding, &unneeded)? {
            return Ok(left_open(finding, &unneeded));
        }
        let finding = without(finding, &unneeded, self.terms());
        if finding.cause.is_some() { Ok(finding) } else { self.localize(finding) }
    }

    /// The named commits that the bad end does not need.
    fn unneeded(&mut self, finding: &Finding) -> Result<Vec<CommitId>, HuntError> {
        let (targets, _) = self.sought()?;
        let is_asked = self.terms().explains_levels()
            && self.values_repeat(&targets)
            && self.limit.is_none()
            && is_by_levels(finding);
        let main = self.main_to_explain(finding).filter(|_| is_asked);
        let Some(main) = main.map(|main| main.info.commit.clone()) else { return Ok(Vec::new()) };
        let mut known = BTreeMap::from([(main, finding.cause.as_ref().and_then(levels_of_trial))]);
        if explains_too_much(finding) {
            return self.worse_without(finding, &targets, &mut known);
        }
        let mut kept: Vec<Culprit> = Vec::new();
        for (target, movers) in shared_metrics(finding, &targets) {
            let is_known = |one: &&Culprit| known.contains_key(&one.info.commit);
            let first = movers.iter().copied().find(is_known).unwrap_or_else(|| largest(&movers));
            let levels = self.levels_without_one(first, &targets, &mut known)?;
            let Some(levels) = levels else { continue };
            if !is_odd(target, first, &levels)
                && !self.stays_without_others(target, first, &movers, &targets)?
            {
                continue;
            }
            for one in movers {
                let levels = self.levels_without_one(one, &targets, &mut known)?;
                let is_new = kept.iter().all(|other| other.info != one.info);
                if is_new && levels.is_some_and(|levels| keeps_all(one, &levels, &targets)) {
                    kept.push(one.clone());
                }
            }
        }
        for group in groups(&kept) {
            if self.is_unneeded(group, finding, &targets)? {
                return Ok(group.iter().map(|one| one.info.commit.clone()).collect());
            }
        }
        Ok(Vec::new())
    }

    /// The named commits without which, one at a time, the bad end is worse, if it is good without
    /// all others. `known`: the levels of earlier tests of this end.
    fn worse_without(
        &mut self,
        finding: &Finding,
        targets: &[Target],
        known: &mut BTreeMap<CommitId, Option<Levels>>,
    ) -> Result<Vec<CommitId>, HuntError> {
        let accounts = &finding.accounts;
        let mut worse: Vec<CommitId> = Vec::new();
        for (_, movers) in shared_metrics(finding, targets) {
            for one in movers.into_iter().filter(|one| may_outweigh(one, accounts)) {
                let commit = &one.info.commit;
                let levels = self.levels_without_one(one, targets, known)?;
                let is_worse =
                    levels.is_some_and(|levels| gets_worse(one, &levels, targets, accounts));
                if is_worse && !worse.contains(commit) {
                    worse.push(commit.clone());
                }
            }
        }
        let (own, others): (Vec<Culprit>, Vec<Culprit>) =
            finding.culprits.iter().cloned().partition(|one| worse.contains(&one.info.commit));
        if own.is_empty() || !move_all_metrics(&others, &own) {
            return Ok(Vec::new());
        }
        let levels = match others.as_slice() {
            [one] => self.levels_without_one(one, targets, known)?,
            several => self.levels_without(several, targets)?,
        };
        let is_good = levels.is_some_and(|levels| is_good_at(&levels, targets));
        Ok(if is_good { worse } else { Vec::new() })
    }

    /// Whether three or more commits move a metric, and the bad end keeps its level to the bit
    /// without all of them but the first one. Then the test without the first one may lose just its
    /// own step, and still tell nothing of the others.
    fn stays_without_others(
        &mut self,
        target: &GuardTarget,
        first: &Culprit,
        movers: &[&Culprit],
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        if movers.len() < 3 {
            return Ok(false);
        }
        let others = movers.iter().filter(|one| one.info != first.info);
        let others: Vec<Culprit> = others.map(|one| (*one).clone()).collect();
        let levels = self.levels_without(&others, targets)?;
        Ok(levels.is_some_and(|levels| levels.get(&target.guard.metric) == Some(&target.bad)))
    }

    /// Whether the bad end is good without all named commits but these, and keeps its level without
    /// these. Of a single commit, the latter is known. The others must move each metric that these
    /// move.
    fn is_unneeded(
        &mut self,
        group: &[Culprit],
        finding: &Finding,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        let is_other = |one: &&Culprit| group.iter().all(|own| own.info != one.info);
        let others: Vec<Culprit> = finding.culprits.iter().filter(is_other).cloned().collect();
        if !move_all_metrics(&others, group) || self.newer_end_good_without(&others)?.is_none() {
            return Ok(false);
        }
        if group.len() == 1 {
            return Ok(true);
        }
        let levels = self.levels_without(group, targets)?;
        let keeps = |levels: Levels| group.iter().all(|one| keeps_all(one, &levels, targets));
        Ok(levels.is_some_and(keeps))
    }

    /// The levels of the bad end without this commit. `known`: those of earlier tests; adds this
    /// one.
    fn levels_without_one(
        &mut self,
        culprit: &Culprit,
        targets: &[Target],
        known: &mut BTreeMap<CommitId, Option<Levels>>,
    ) -> Result<Option<Levels>, HuntError> {
        if let Some(levels) = known.get(&culprit.info.commit) {
            return Ok(levels.clone());
        }
        let levels = self.levels_without(std::slice::from_ref(culprit), targets)?;
        known.insert(culprit.info.commit.clone(), levels.clone());
        Ok(levels)
    }

    /// Takes the changes of these commits out of the bad end, the last one first. `None` if they do
    /// not come out, or if the result cannot be judged.
    fn levels_without(
        &mut self,
        culprits: &[Culprit],
        targets: &[Target],
    ) -> Result<Option<Levels>, HuntError> {
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let history = History::open(self.oracle.history.repository())?;
        let mut reverts = Vec::new();
        for culprit in culprits.iter().rev() {
            if self.common_recipe(culprit)?.is_none() {
                return Ok(None);
            }
            let change = Change::of(&history, &culprit.parent, culprit)?;
            match self.reversal(&end, culprit, &change, &[])? {
                Reversal::Trees(trees) => reverts.push(trees),
                Reversal::Conflict(_) => return Ok(None),
            }
        }
        let Patched::Done { recipe, .. } = self.patched(&end, &reverts)? else { return Ok(None) };
        let judged = self.judge_end(&end, &recipe, targets)?;
        let is_told = |verdict| matches!(verdict, Verdict::Good | Verdict::Bad);
        let Some((_, seen)) = judged.filter(|(judgement, _)| is_told(judgement.verdict)) else {
            return Ok(None);
        };
        let metrics = targets.iter().filter_map(|target| Some(&target.guard()?.guard.metric));
        let level = |metric: &Metric| Some((metric.clone(), seen.level(metric)?));
        Ok(Some(metrics.filter_map(level).collect()))
    }
}

/// Whether the finding names a few commits by levels that repeat.
fn is_by_levels(finding: &Finding) -> bool {
    let is_by_level = |culprit: &Culprit| {
        culprit.failure.is_none() && culprit.basis == Basis::BitExact && !culprit.effects.is_empty()
    };
    (2..=MOST_NAMED).contains(&finding.culprits.len())
        && finding.culprits.iter().all(is_by_level)
        && finding.accounts.iter().all(|one| one.overlap.is_none())
}

/// Whether the steps of the named commits exceed the whole change. Other rules ask whether the bad
/// end keeps its level without one of them.
fn explains_too_much(finding: &Finding) -> bool {
    finding.accounts.iter().any(Account::is_exceeded)
}

/// Whether each metric that one of these commits moves is moved by one of the others too.
fn move_all_metrics(others: &[Culprit], own: &[Culprit]) -> bool {
    let is_moved =
        |effect: &Effect| others.iter().any(|other| other.effect_on(&effect.metric).is_some());
    own.iter().flat_map(|one| &one.effects).all(is_moved)
}

/// Whether these levels break no guard.
fn is_good_at(levels: &Levels, targets: &[Target]) -> bool {
    targets.iter().all(|target| {
        let level = target.guard().and_then(|guarded| levels.get(&guarded.guard.metric));
        let guarded = target.guard().zip(level);
        guarded.is_some_and(|(guarded, level)| !guarded.guard.is_broken(&guarded.baseline, level))
    })
}

/// The metrics that two or more named commits move, with these commits. Not those that must not
/// change at all: there a commit may turn one bad value into another.
fn shared_metrics<'f>(
    finding: &'f Finding,
    targets: &'f [Target],
) -> Vec<(&'f GuardTarget, Vec<&'f Culprit>)> {
    let mut shared: Vec<(&GuardTarget, Vec<&Culprit>)> = Vec::new();
    for target in targets.iter().filter_map(Target::guard) {
        let metric = &target.guard.metric;
        let is_known = shared.iter().any(|(known, _)| known.guard.metric == *metric);
        let movers = finding.culprits.iter().filter(|one| one.effect_on(metric).is_some());
        let movers: Vec<&Culprit> = movers.collect();
        if target.guard.direction() != Direction::Any && movers.len() > 1 && !is_known {
            shared.push((target, movers));
        }
    }
    shared
}

/// The levels of the bad end without a commit's change, from the test of its cause.
fn levels_of_trial(cause: &Cause) -> Option<Levels> {
    let trial = cause.reverted().filter(|trial| trial.shows != Shows::Unresolved);
    trial.filter(|_| !cause.in_part).map(|trial| trial.levels.clone())
}

/// Whether the bad end without one of several commits tells that steps of this metric do not add
/// up: it keeps its level to the bit, it is worse, or it loses more than the commit's step. A step
/// may also multiply a level.
fn is_odd(target: &GuardTarget, culprit: &Culprit, levels: &Levels) -> bool {
    let metric = &target.guard.metric;
    let Some((effect, without)) = culprit.effect_on(metric).zip(levels.get(metric)) else {
        return false;
    };
    if *without == target.bad || is_worse_without(target, effect, without) {
        return true;
    }
    let at_end = without.number().zip(target.bad.number());
    let own = effect.parent.number().zip(effect.commit.number());
    let Some(((without, bad), (parent, commit))) = at_end.zip(own) else { return false };
    let step = target.guard.worsening(parent, commit);
    let same = same_level(target, step);
    let is_product = (without - bad * parent / commit).abs() <= same;
    target.guard.worsening(without, bad) > step + same && !is_product
}

/// Whether the bad end has its own level, to the bit, in each metric that the commit moves, or is
/// worse.
fn keeps_all(culprit: &Culprit, levels: &Levels, targets: &[Target]) -> bool {
    are_all_kept_or_worse(culprit, targets, &|metric: &Metric| levels.get(metric).cloned())
}

/// Which of the commits that the bad end keeps its level without may be unneeded together. Of two,
/// also each alone: the bad end may be bad by the other one without the rest.
fn groups(kept: &[Culprit]) -> Vec<&[Culprit]> {
    match kept {
        [] => Vec::new(),
        [_, _] => vec![kept, &kept[..1], &kept[1..]],
        _ => vec![kept],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Outcome};
    use crate::oracle::fixture::{self, effect, target, unchanged};

    fn step(digit: char, from: f64, to: f64) -> Culprit {
        Culprit { effects: vec![effect(from, to, 0.1)], ..fixture::culprit(digit, '2') }
    }

    fn levels(level: f64) -> Levels {
        BTreeMap::from([(Metric::of("ppl"), Value::Number(level))])
    }

    #[test]
    fn only_steps_that_do_not_add_up_are_odd() {
        let up = GuardForm::MaxIncrease(0.1);
        let is_odd_at = |[good, bad]: [f64; 2], commit: &Culprit, level: f64| {
            is_odd(&target(up, good, bad), commit, &levels(level))
        };
        // The larger of two parts: it stays without the smaller one, and all is good without it.
        assert!(is_odd_at([7.0, 7.6], &step('3', 7.0, 7.5), 7.6));
        assert!(is_odd_at([7.0, 8.5], &step('5', 7.5, 8.5), 7.0));
        // Steps add up, or multiply the level, or a part of one is gone.
        assert!(!is_odd_at([7.0, 7.6], &step('3', 7.0, 7.5), 7.1));
        assert!(!is_odd_at([100.0, 195.0], &step('3', 100.0, 150.0), 130.0));
        assert!(!is_odd_at([7.0, 7.6], &step('3', 7.0, 7.5), 7.4));
        assert!(!is_odd_at([7.0, 7.6], &step('3', 7.0, 7.5), 7.599));
        // Nothing was printed.
        assert!(!is_odd(&target(up, 7.0, 7.6), &step('3', 7.0, 7.5), &Levels::new()));
    }

    #[test]
    fn a_commit_is_unneeded_only_if_each_of_its_levels_stays() {
        let second = Effect { metric: Metric::of("speed"), ..effect(1.0, 2.0, 0.1) };
        let both =
            Culprit { effects: vec![effect(7.0, 7.5, 0.1), second], ..fixture::culprit('3', '2') };
        let sought = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.6))];
        assert!(keeps_all(&step('3', 7.0, 7.5), &levels(7.6), &sought));
        assert!(!keeps_all(&step('3', 7.0, 7.5), &levels(7.599), &sought));
        assert!(!keeps_all(&both, &levels(7.6), &sought));
    }

    /// Two commits: 3 made the level worse by 0.5, and 5 by another 0.1.
    fn two() -> Finding {
        Finding {
            culprits: vec![step('3', 7.0, 7.5), step('5', 7.5, 7.6)],
            ..Finding::plain(Outcome::Culprit, "3 is the first bad commit")
        }
    }

    #[test]
    fn only_a_metric_with_several_commits_is_tested() {
        let sought = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.6))];
        assert_eq!(shared_metrics(&two(), &sought).len(), 1);
        let mut one = two();
        one.culprits[1].effects[0].metric = Metric::of("speed");
        assert!(shared_metrics(&one, &sought).is_empty());
        // Each value but the good end's is bad.
        let mut facts = two();
        for culprit in &mut facts.culprits {
            culprit.effects[0].metric = Metric::of("launch");
        }
        let launch = [Target::Guard(unchanged("384", "128"))];
        assert!(shared_metrics(&facts, &launch).is_empty());
        assert!(is_by_levels(&two()) && !explains_too_much(&two()));
        // Then only a bad end that is worse without one of them tells.
        let account = fixture::account(0.6, 1.1);
        assert!(explains_too_much(&Finding { accounts: vec![account], ..two() }));
    }

    #[test]
    fn an_end_that_is_worse_without_a_commit_does_not_need_it() {
        // From 7.9 to 8.2, and a later commit made the same path better by 0.5.
        let (up, commit) = (GuardForm::MaxIncrease(0.1), step('3', 7.9, 8.2));
        let sought = [Target::Guard(target(up, 7.5, 7.7))];
        assert!(is_odd(&target(up, 7.5, 7.7), &commit, &levels(7.9)));
        assert!(keeps_all(&commit, &levels(7.9), &sought));
        assert!(is_good_at(&levels(7.3), &sought) && !is_good_at(&levels(7.7), &sought));
        assert!(!is_good_at(&Levels::new(), &sought));
        assert!(move_all_metrics(&[step('5', 7.5, 7.6)], &[commit]));
        assert!(!move_all_metrics(&[], &[step('3', 7.0, 7.5)]));
    }
}
