//! A bad end that is worse without a named commit than with it, where values repeat: it may not need
//! this commit. Code of later commits may depend on the commit, so this names no other one: all
//! commits after the last good one are candidates. Not if the commit alone made the whole change,
//! to the bit. Then a path that the bad end does not use became worse. Pure.

use crate::evaluation::{
    Cause, CommitId, Culprit, Direction, Effect, Finding, GuardTarget, Metric, Outcome, Revert,
    Target, TrialOf, Unexplained, Value,
};
use crate::ui::text;

/// The metrics that get worse at the bad end without the only named commit; empty if the test of
/// that end does not tell this, if the end loses a part of another effect of the commit, or if the
/// commit made the whole change of each of these metrics.
pub(super) fn found(finding: &Finding, cause: &Cause, targets: &[Target]) -> Vec<Unexplained> {
    let [culprit] = finding.culprits.as_slice() else { return Vec::new() };
    let is_asked = finding.outcome == Outcome::Culprit
        && cause.revert == Some(Revert::Unlike)
        && !cause.in_part;
    let trial = cause.reverted().filter(|trial| is_asked && trial.of == TrialOf::Reverted);
    let Some(trial) = trial else { return Vec::new() };
    let level = |metric: &Metric| trial.levels.get(metric).cloned();
    if !are_all_kept_or_worse(culprit, targets, &level) {
        return Vec::new();
    }
    let worse = metrics_worse_without(culprit, targets, &level);
    if worse.iter().all(|metric| makes_whole_change(culprit, metric, targets)) {
        return Vec::new();
    }
    worse.into_iter().map(|metric| Unexplained::Metric(metric.clone())).collect()
}

/// Whether the commit's parent has the good end's value of a metric, and the commit has the bad
/// end's, both to the bit.
fn makes_whole_change(culprit: &Culprit, metric: &Metric, targets: &[Target]) -> bool {
    let guarded = Target::on(targets, metric).and_then(Target::guard);
    let made = guarded.zip(culprit.effect_on(metric));
    made.is_some_and(|(target, effect)| {
        effect.parent == target.baseline && effect.commit == target.bad
    })
}

/// The metrics of a commit in which the bad end is worse without it; see [`is_worse_without`].
/// `level`: that of a metric at this end.
pub(super) fn metrics_worse_without<'c>(
    culprit: &'c Culprit,
    targets: &[Target],
    level: &dyn Fn(&Metric) -> Option<Value>,
) -> Vec<&'c Metric> {
    let is_worse = |effect: &&Effect| {
        let guarded = Target::on(targets, &effect.metric).and_then(Target::guard);
        let seen = guarded.zip(level(&effect.metric));
        seen.is_some_and(|(target, level)| is_worse_without(target, effect, &level))
    };
    culprit.effects.iter().filter(is_worse).map(|effect| &effect.metric).collect()
}

/// Whether the bad end without a commit keeps its level, to the bit, or is worse, in each metric
/// that the commit moves. `level`: that of a metric at this end.
pub(super) fn are_all_kept_or_worse(
    culprit: &Culprit,
    targets: &[Target],
    level: &dyn Fn(&Metric) -> Option<Value>,
) -> bool {
    culprit.effects.iter().all(|effect| {
        let guarded = Target::on(targets, &effect.metric).and_then(Target::guard);
        guarded.zip(level(&effect.metric)).is_some_and(|(target, level)| {
            level == target.bad || is_worse_without(target, effect, &level)
        })
    })
}

/// Whether values repeat, and the bad end is worse at this level, without the commit of the effect,
/// by more than the tolerance. Not by more than the commit's step if the level is also worse than
/// the commit's own: then the program may be broken without the commit, whatever the end needs.
pub(super) fn is_worse_without(target: &GuardTarget, effect: &Effect, level: &Value) -> bool {
    let ends = target.bad.number().zip(level.number());
    let own = effect.parent.number().zip(effect.commit.number());
    let Some(((bad, level), (parent, commit))) = ends.zip(own) else { return false };
    let limit = target.limit.max(0.0);
    let lost = target.guard.worsening(bad, level);
    let most =
        f64::max(target.guard.worsening(parent, commit), target.guard.worsening(bad, commit));
    target.noise.is_none()
        && target.guard.direction() != Direction::Any
        && lost.is_finite()
        && lost <= most + limit
        && target.guard.is_worse_by(bad, level, limit)
}

/// The finding as candidates: these commits. `worse`: see [`found`].
pub(super) fn as_candidates(
    finding: Finding,
    worse: Vec<Unexplained>,
    commits: &[CommitId],
) -> Finding {
    let commit = finding.culprit().map_or("it", |culprit| culprit.info.commit.short());
    let metrics = text::joined(worse.iter().map(ToString::to_string).collect());
    let summary = format!(
        "{}; but without it the bad end is even worse in {metrics}, so it may not need {commit}: \
         another commit may make what it shows",
        finding.summary
    );
    // A `[[patch]]` does not change the files of a submodule.
    let is_in_submodule = finding.cause.as_ref().is_some_and(Cause::is_reverted_in_submodule);
    let next = "a hunt with revert.patch as a [[patch]] in oracle.toml looks for the other commit";
    let next = Some(next.to_owned()).filter(|_| !is_in_submodule);
    Finding {
        outcome: Outcome::Candidates,
        summary,
        candidates: commits.to_vec(),
        main: None,
        unexplained: worse,
        next: next.into_iter().chain(finding.next).collect(),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::hunt::localize::unknown;
    use crate::oracle::fixture::{self, commit, effect, noisy, target, unchanged};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    fn step(parent: f64, level: f64) -> Culprit {
        Culprit { effects: vec![effect(parent, level, 0.1)], ..fixture::culprit('5', '4') }
    }

    fn is_worse(target: &GuardTarget, step: [f64; 2], level: f64) -> bool {
        is_worse_without(target, &effect(step[0], step[1], 0.1), &Value::Number(level))
    }

    #[test]
    fn an_end_is_worse_only_by_more_than_the_tolerance() {
        // From 7.9 to 8.2, and a later commit made the same path better by 0.6.
        let exact = target(UP, 7.5, 7.6);
        let at = |level: f64| is_worse(&exact, [7.9, 8.2], level);
        assert!(at(7.8) && at(7.9) && at(8.2));
        assert!(!at(7.3) && !at(7.6) && !at(7.65));
        assert!(!is_worse(&noisy(UP, 7.5, 7.6), [7.9, 8.2], 7.9));
        let down = target(GuardForm::MaxDecrease(1.0), 40.0, 35.0);
        assert!(is_worse(&down, [40.0, 30.0], 32.0) && !is_worse(&down, [40.0, 30.0], 38.0));
    }

    #[test]
    fn an_end_that_is_broken_without_the_commit_tells_nothing() {
        let exact = target(UP, 7.0, 7.5);
        for level in [8.5, 300.0, f64::NAN, f64::INFINITY] {
            assert!(!is_worse(&exact, [7.0, 7.5], level), "{level}");
        }
        let fact = Value::Fact("none".to_owned());
        let facts = unchanged("avx2", "scalar");
        assert!(!is_worse_without(&facts, &effect(7.0, 7.5, 0.1), &fact));
    }

    /// What gets worse at a bad end of 7.6 without a commit from 7.9 to 8.2.
    fn worse(level: f64, revert: Revert) -> Vec<Unexplained> {
        let finding = named();
        let trial = fixture::trial(TrialOf::Reverted, level);
        let unknown = unknown(&finding.culprits[0], String::new());
        let cause = Cause { revert: Some(revert), trials: vec![trial], ..unknown };
        found(&finding, &cause, &[Target::Guard(target(UP, 7.5, 7.6))])
    }

    fn named() -> Finding {
        Finding {
            culprits: vec![step(7.9, 8.2)],
            main: Some(0),
            ..Finding::plain(Outcome::Culprit, "5 is the first bad commit")
        }
    }

    #[test]
    fn a_commit_without_which_the_end_is_worse_is_a_candidate_among_others() {
        let ppl = [Unexplained::Metric(Metric::of("ppl"))];
        assert_eq!(worse(7.8, Revert::Unlike), ppl);
        assert_eq!(worse(7.3, Revert::Unlike), []);
        assert_eq!(worse(7.8, Revert::Heals), []);
        let all = ['3', '4', '5'].map(commit);
        let open = as_candidates(named(), ppl.to_vec(), &all);
        assert_eq!((open.outcome, open.main), (Outcome::Candidates, None));
        assert_eq!(open.candidates, all);
        assert!(open.summary.contains("without it the bad end is even worse in ppl"));
    }

    #[test]
    fn a_commit_that_made_the_whole_change_stays_named() {
        let finding = |from: f64, to: f64| Finding { culprits: vec![step(from, to)], ..named() };
        let is_withdrawn = |finding: &Finding| {
            let trials = vec![fixture::trial(TrialOf::Reverted, 8.1)];
            let unknown = unknown(&finding.culprits[0], String::new());
            let cause = Cause { revert: Some(Revert::Unlike), trials, ..unknown };
            !found(finding, &cause, &[Target::Guard(target(UP, 7.5, 7.9))]).is_empty()
        };
        // A later commit made the path worse that only the parent uses.
        assert!(!is_withdrawn(&finding(7.5, 7.9)));
        assert!(is_withdrawn(&finding(7.500_001, 7.9)));
        assert!(is_withdrawn(&finding(7.5, 7.900_001)));
    }

    #[test]
    fn an_end_that_loses_another_effect_may_need_the_commit() {
        let second = Effect { metric: Metric::of("speed"), ..effect(1.0, 2.0, 0.1) };
        let both = Culprit { effects: vec![effect(7.9, 8.2, 0.1), second], ..step(7.9, 8.2) };
        let level = |metric: &Metric| {
            Some(Value::Number(if *metric == Metric::of("ppl") { 7.8 } else { 1.0 }))
        };
        let mut speed = target(UP, 1.0, 2.0);
        speed.guard.metric = Metric::of("speed");
        let targets = [Target::Guard(target(UP, 7.5, 7.6)), Target::Guard(speed)];
        assert!(!are_all_kept_or_worse(&both, &targets, &level));
        assert!(are_all_kept_or_worse(&step(7.9, 8.2), &targets, &level));
    }
}
