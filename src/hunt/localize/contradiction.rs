//! Whether a test of the endpoints contradicts the answer. Pure.
//!
//! A test contradicts the answer in four cases:
//! - The newer end without the named commits keeps their steps, in whole or in part, or does not
//!   have their change at all. Then another commit does the same. If the metric is a fact, or a
//!   number that must not change, a value that only the test shows is no part of the steps.
//! - The bad end stays bad without the named commits, and their steps leave a part of the change
//!   that no measurement explains.
//! - The newer end without the named commit breaks a guard that it breaks with it too. If only a
//!   part of the commit could be taken out, the rest of it may break this guard.
//! - In a hunt for a fix, the bad end stays bad with the named commits. Then an earlier commit is
//!   needed too.

use crate::evaluation::{
    Account, Aim, Backport, Cause, CommitId, Culprit, Direction, Effect, Finding, GuardTarget,
    JointBackport, JointRevert, Metric, Outcome, Revert, Shows, Target, Trial, TrialOf,
    Unexplained, Value, exceeds_limit,
};
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::distinct::distinct;
use crate::hunt::terms::SearchTerms;
use crate::ui::text;

use super::lost_step::{OwnStep, standing};
use super::same_level::{SAME_OF_STEPS, same_level};
use super::third_value::is_third_value;

/// What of the bad end the answer does not explain, by the tests of the endpoints; empty if no test
/// contradicts the answer. Only for a single named commit.
pub(super) fn found(finding: &Finding, cause: &Cause, targets: &[Target]) -> Vec<Unexplained> {
    // With several commits, a revert of one leaves the steps of the others.
    if finding.outcome != Outcome::Culprit || finding.culprits.len() != 1 {
        return Vec::new();
    }
    if let Some(metric) = &cause.broken_too {
        return vec![Unexplained::Metric(metric.clone())];
    }
    let reverted = match &cause.revert {
        Some(Revert::Absent) => return unchanged(finding, None, targets),
        // The rest of the change may make the step too.
        _ if cause.in_part => return Vec::new(),
        Some(revert) if may_keep_steps(revert) => cause.reverted(),
        _ => None,
    };
    let backported = cause.backported().filter(|_| cause.backport.as_ref().is_some_and(may_lack));
    in_trials([reverted, backported], finding, targets)
}

/// Whether the newer end without a change may still have its steps, as far as the verdict tells.
/// Then the levels decide.
fn may_keep_steps(revert: &Revert) -> bool {
    matches!(revert, Revert::StillBad | Revert::Unlike | Revert::StillGood | Revert::BreaksAgain)
}

/// Whether the bad end with a fix may still have a step that the fix should take out, as far as the
/// verdict tells. Then the levels decide.
fn may_lack(backport: &Backport) -> bool {
    matches!(backport, Backport::StillBad | Backport::Unlike)
}

/// What the first test that contradicts the answer leaves unexplained.
fn in_trials(
    trials: [Option<&Trial>; 2],
    finding: &Finding,
    targets: &[Target],
) -> Vec<Unexplained> {
    let trials = trials.into_iter().flatten();
    let mut found = trials.map(|trial| unchanged(finding, Some(trial), targets));
    found.find(|unexplained| !unexplained.is_empty()).unwrap_or_default()
}

/// The same for several named commits, by the tests of an endpoint with or without the causes
/// inside all of them.
pub(super) fn found_jointly(finding: &Finding, targets: &[Target]) -> Vec<Unexplained> {
    let Finding { joint_revert, joint_backport, .. } = finding;
    if finding.outcome != Outcome::Culprit {
        return Vec::new();
    }
    let reverted = match joint_revert.as_ref().map(|joint| (&joint.revert, &joint.trial)) {
        Some((Revert::Absent, _)) => return unchanged(finding, None, targets),
        Some((revert, trial)) if may_keep_steps(revert) => trial.as_ref(),
        _ => None,
    };
    let backported = match joint_backport {
        Some(JointBackport { backport, trial }) if may_lack(backport) => trial.as_ref(),
        _ => None,
    };
    in_trials([reverted, backported], finding, targets)
}

/// The metrics whose account leaves more than the tolerance, and that stay bad at the bad end in
/// the test without the named commits. Only for a regression, and where values repeat.
pub(super) fn left(finding: &Finding, targets: &[Target]) -> Vec<Unexplained> {
    let trial = match (&finding.cause, &finding.joint_revert) {
        _ if finding.outcome != Outcome::Culprit => None,
        (_, Some(JointRevert { revert: Revert::StillBad | Revert::Unlike, trial })) => {
            trial.as_ref()
        }
        (Some(cause), _) if finding.culprits.len() == 1 && !cause.in_part => match cause.revert {
            Some(Revert::StillBad | Revert::Unlike) => cause.reverted(),
            _ => None,
        },
        _ => None,
    };
    let is_of_bad_end =
        |trial: &&Trial| [TrialOf::Reverted, TrialOf::AllReverted].contains(&trial.of);
    let Some(trial) = trial.filter(is_of_bad_end) else { return Vec::new() };
    let is_left = |target: &&GuardTarget| {
        let metric = &target.guard.metric;
        let account = finding.accounts.iter().find(|account| account.metric == *metric);
        let most = target.limit.max(0.0);
        target.noise.is_none()
            && account.is_some_and(|it| exceeds_limit(it.left(), most, target.levels_at_ends()))
            && trial.levels.get(metric).is_some_and(|level| is_other_than_good(target, level, 0.0))
    };
    let guards = targets.iter().filter_map(Target::guard).filter(is_left);
    let metrics = distinct(guards.map(|target| &target.guard.metric));
    metrics.into_iter().cloned().map(Unexplained::Metric).collect()
}

/// Whether this test of an endpoint leaves an effect of the commit that it is about.
pub(super) fn keeps_effect(effect: &Effect, trial: &Trial, targets: &[Target]) -> bool {
    keeps_a_step(trial, &effect.metric, effect.own_step.unwrap_or(0.0), 0.0, &[], targets)
}

/// The metrics for which the commits are named and whose steps the endpoint still has in this test;
/// or their failure. Without a test, all of these metrics: the endpoint does not have the change.
fn unchanged(finding: &Finding, trial: Option<&Trial>, targets: &[Target]) -> Vec<Unexplained> {
    let culprits = &finding.culprits;
    let effects = culprits.iter().flat_map(|culprit| &culprit.effects);
    let mut metrics: Vec<&Metric> = distinct(effects.map(|effect| &effect.metric));
    if metrics.is_empty() {
        // A failure is judged bad only if it is the bad end's own.
        let is_failure = culprits.iter().any(|culprit| culprit.failure.is_some());
        return is_failure.then_some(Unexplained::OwnFailure).into_iter().collect();
    }
    let Some(trial) = trial else {
        return metrics.into_iter().cloned().map(Unexplained::Metric).collect();
    };
    metrics.retain(|metric| {
        let effects = standing(culprits, metric).into_iter();
        let steps = effects.filter_map(|effect| effect.own_step).sum();
        let is_slow = |account: &Account| account.metric == **metric && account.in_small_steps;
        let slack = if finding.accounts.iter().any(is_slow) { SAME_OF_STEPS } else { 0.0 };
        let is_third = |target: &GuardTarget| {
            let level = trial.levels.get(*metric).filter(|_| target.guard.metric == **metric);
            level.is_some_and(|level| is_third_value(target, level, culprits))
        };
        keeps_a_step(trial, metric, steps, slack, culprits, targets)
            && !targets.iter().filter_map(Target::guard).any(is_third)
    });
    let mut left: Vec<Unexplained> =
        metrics.into_iter().cloned().map(Unexplained::Metric).collect();
    if culprits.iter().any(|culprit| culprit.failure.is_some()) && still_fails(trial, targets) {
        left.push(Unexplained::OwnFailure);
    }
    left
}

/// Whether the bad end still shows the sought failure in a test without commits: it is bad, and
/// breaks no guard. A guard that is broken too may be all that makes it bad.
fn still_fails(trial: &Trial, targets: &[Target]) -> bool {
    let is_broken = |target: &GuardTarget| {
        let level = trial.levels.get(&target.guard.metric);
        level.is_some_and(|level| target.guard.is_broken(&target.baseline, level))
    };
    [TrialOf::Reverted, TrialOf::AllReverted].contains(&trial.of)
        && trial.shows == Shows::Difference
        && targets.iter().any(|target| target.failure().is_some())
        && !targets.iter().filter_map(Target::guard).any(is_broken)
}

/// Whether an endpoint keeps a part of the steps that this test takes out of it. `steps`: their
/// sum, in the metric's unit; `slack`: a share of them that small steps may leave; `named`: the
/// commits that made them, if their levels may tell. Steps that multiply a level become smaller with
/// it, so the endpoint may lose less than their sum. False if the endpoint then has the level of
/// the older end, or changes the other way: other code may depend on the commits. In noise, single
/// runs show only whether the level is still the same.
fn keeps_a_step(
    trial: &Trial,
    metric: &Metric,
    steps: f64,
    slack: f64,
    named: &[Culprit],
    targets: &[Target],
) -> bool {
    let Some(level) = trial.levels.get(metric) else { return false };
    targets.iter().any(|target| match target {
        Target::Guard(target) if target.guard.metric == *metric => {
            let is_good_end = [TrialOf::Unfixed, TrialOf::AllUnfixed].contains(&trial.of);
            if !is_good_end && is_settled_by_equality(target) {
                return is_other_than_good(target, level, slack * steps.abs());
            }
            let ends = [&target.baseline, &target.bad];
            let [older, own] = if is_good_end { [ends[1], ends[0]] } else { ends };
            let (Some(level), Some(own)) = (level.number(), own.number()) else {
                return level == own;
            };
            let steps = steps.abs();
            let same = same_level(target, steps);
            if target.noise.is_some() || target.guard.direction() == Direction::Any {
                return (level - own).abs() <= same;
            }
            let own_step = older
                .number()
                .and_then(|older| Some((older, OwnStep::of_all(named, target, [older, own])?)));
            if own_step.as_ref().is_some_and(|(older, step)| step.is_at_older_end(*older, level)) {
                return false;
            }
            let steps = own_step.map_or(steps, |(_, step)| steps.min(step.least_loss()));
            let lost = if is_good_end {
                target.guard.worsening(own, level)
            } else {
                target.guard.worsening(level, own)
            };
            lost >= -same && lost < steps - f64::max(target.limit, slack * steps)
        }
        _ => false,
    })
}

/// Whether each value but the good end's is bad, and values repeat. A commit that turned one bad
/// value into another took no part of the step away, so each of them is a remnant.
fn is_settled_by_equality(target: &GuardTarget) -> bool {
    target.noise.is_none() && target.guard.direction() == Direction::Any
}

/// Whether the level is not the good end's. `slack`: what small steps may leave, in the metric's
/// unit.
pub(super) fn is_other_than_good(target: &GuardTarget, level: &Value, slack: f64) -> bool {
    match (target.baseline.number(), level.number()) {
        (Some(good), Some(level)) => {
            target.guard.is_worse_by(good, level, f64::max(target.limit, slack))
        }
        _ => *level != target.baseline,
    }
}

/// ` (in 2 runs)`: how many runs showed the bad end without the named commit, if that is known.
fn runs_of_test(finding: &Finding) -> String {
    let trials = finding.cause.iter().flat_map(|cause| &cause.trials);
    let mut without = trials.filter(|trial| trial.of == TrialOf::Reverted);
    match without.next_back().map_or(0, |trial| trial.attempts.len()) {
        0 => String::new(),
        runs => format!(" (in {})", text::plural(runs, "run")),
    }
}

/// The finding as candidates: the confirmed commits, and all that are not before them; if the bad
/// end stays bad with a fix, all that are not after them; if the account leaves a part, all.
/// `order`: the commits of the hunt. `is_other_recipe`: the newer end has another recipe than a
/// named commit. Then any commit may make what that end shows, also one before the named commit
/// that the recipe there does not measure. `earlier`: candidates too, because a named commit's
/// parent is bad already, or may be in noise; empty if no parent is.
pub(super) fn incomplete(
    finding: Finding,
    unexplained: Vec<Unexplained>,
    order: &CommitOrder,
    terms: SearchTerms,
    is_other_recipe: bool,
    earlier: &[CommitId],
) -> Finding {
    let named: Vec<&CommitId> = finding.culprits.iter().map(|one| &one.info.commit).collect();
    let is_several = named.len() > 1;
    let breaks_other =
        !is_several && finding.cause.as_ref().is_some_and(|cause| cause.broken_too.is_some());
    let is_later = is_fixed_later(&finding);
    // The account does not tell where the rest is.
    let is_left = |account: &Account| {
        unexplained.contains(&Unexplained::Metric(account.metric.clone()))
            && account.left() > account.limit.max(0.0)
    };
    let is_anywhere = is_other_recipe || finding.accounts.iter().any(is_left);
    let from_named = if is_anywhere {
        order.commits().to_vec()
    } else {
        let later = order.not_before(named.iter().copied());
        let is_candidate = |one: &&CommitId| later.contains(one) || earlier.contains(one);
        order.commits().iter().filter(is_candidate).cloned().collect()
    };
    // A commit of another branch is neither earlier nor later.
    let is_beside = named.iter().any(|one| order.has_commits_beside(one));
    let is_open = is_anywhere || is_beside || is_several || !earlier.is_empty();
    let later = if is_open { "another commit" } else { "a later commit" };
    let [needed, the_needed] = match (is_beside, is_several) {
        (true, _) => ["another commit", "the other one"],
        (false, true) => ["another commit before the last of them", "the other one"],
        (false, false) => ["an earlier commit", "the earlier one"],
    };
    let them = if is_several { "the confirmed commits" } else { "it" };
    let shown = what_is_left(&finding, &unexplained);
    let runs = if is_several { String::new() } else { runs_of_test(&finding) };
    let recipe = if is_other_recipe { ", by another recipe of oracle.toml" } else { "" };
    let is_in_part = finding.cause.as_ref().is_some_and(|cause| cause.in_part);
    let patch = |of: &str, the: &str| {
        let all = if is_several { "-all" } else { "" };
        format!("a hunt with {of}{all}.patch as a [[patch]] in oracle.toml looks for {the}")
    };
    let (candidates, why, next) = match (terms.aim(), is_later) {
        _ if breaks_other && is_in_part => (
            Vec::new(),
            "without the part of it that makes the failure the bad end still breaks another \
             guard: the rest of it or another commit does that"
                .to_owned(),
            patch("revert", "what breaks the guard"),
        ),
        // The other commit may be older or newer.
        _ if breaks_other => (
            Vec::new(),
            "without it the bad end still breaks another guard: another commit does that"
                .to_owned(),
            patch("revert", "the other commit"),
        ),
        (Aim::Regression, _) => (
            from_named,
            format!(
                "without {them} the bad end still shows {shown}, at least in part{runs}{recipe}: \
                 {later} may do this too"
            ),
            patch("revert", "such a commit"),
        ),
        (Aim::Fix, true) => {
            let fixes = if is_several { "the fixes" } else { "the first fix" };
            (
                from_named,
                format!(
                    "without {them} the good end is still good, at least in part: {later} fixes \
                     this too"
                ),
                format!("`start --find-fix --no-localize` names {fixes} without this test"),
            )
        }
        (Aim::Fix, false) => (
            order.not_after(named),
            format!(
                "with {them} the bad end still shows it, at least in part: {needed} is needed too"
            ),
            if is_several {
                patch("backport", "the other commit")
            } else {
                format!("`start --find-fix` with an earlier good commit looks for {the_needed}")
            },
        ),
    };
    let summary = format!("{}; but {why}", finding.summary);
    // A `[[patch]]` does not change the files of a submodule.
    let is_in_submodule = finding.cause.as_ref().is_some_and(Cause::is_reverted_in_submodule);
    let is_of_no_use = is_in_submodule && !is_several && terms.aim().is_regression();
    let next = Some(next).filter(|_| !is_of_no_use);
    Finding {
        outcome: Outcome::Candidates,
        summary,
        candidates,
        main: None,
        unexplained,
        next: next.into_iter().chain(finding.next).collect(),
        ..finding
    }
}

/// In a hunt for a fix: whether it is the good end without the fix that contradicts, so a later
/// commit fixes this too. It does so also if the bad end with the fix lacks nothing.
fn is_fixed_later(finding: &Finding) -> bool {
    let is_several = finding.culprits.len() > 1;
    let cause = finding.cause.as_ref();
    let revert = match &finding.joint_revert {
        Some(joint) if is_several => Some(&joint.revert),
        _ => cause.and_then(|cause| cause.revert.as_ref()),
    };
    // With several fixes, each alone may leave the bad end bad.
    let backport = if is_several {
        finding.joint_backport.as_ref().map(|joint| &joint.backport)
    } else {
        cause.and_then(|cause| cause.backport.as_ref())
    };
    matches!(revert, Some(Revert::StillGood | Revert::Absent)) || !backport.is_some_and(may_lack)
}

/// Names what the bad end still shows: `the change of ppl`. Only `it` if the named commits change
/// nothing else, or if a failure is among what is left.
fn what_is_left(finding: &Finding, unexplained: &[Unexplained]) -> String {
    let effects = finding.culprits.iter().flat_map(|culprit| &culprit.effects);
    let moved = distinct(effects.map(|effect| &effect.metric)).len();
    let fails = finding.culprits.iter().any(|culprit| culprit.failure.is_some());
    let is_all = unexplained.len() >= moved + usize::from(fails);
    let is_metric = |one: &Unexplained| matches!(one, Unexplained::Metric(_));
    if is_all || !unexplained.iter().all(is_metric) {
        return "it".to_owned();
    }
    let names: Vec<String> = unexplained.iter().map(Unexplained::to_string).collect();
    let of = if names.len() > 1 { "the changes of" } else { "the change of" };
    format!("{of} {}", names.join(" and "))
}

#[cfg(test)]
mod tests;
