use std::collections::BTreeMap;

use super::*;
use crate::evaluation::{CauseEnd, FailureKind, GuardForm, Lineage};
use crate::oracle::fixture::{self, commit, effect, fails_alike, failure, target, trial};

fn culprit(digit: char) -> Culprit {
    Culprit { effects: vec![effect(6.0, 7.0, 0.5)], ..fixture::culprit(digit, '1') }
}

fn named(culprits: &[char]) -> Finding {
    Finding {
        culprits: culprits.iter().copied().map(culprit).collect(),
        main: Some(0),
        ..Finding::plain(Outcome::Culprit, "5 is the first bad commit")
    }
}

fn cause(end: CauseEnd, trials: Vec<Trial>) -> Cause {
    Cause {
        commit: commit('5'),
        parent: commit('4'),
        sets: Vec::new(),
        end,
        dependents: Vec::new(),
        trials,
        without: None,
        roles: BTreeMap::new(),
        revert: Some(Revert::StillBad),
        broken_too: None,
        in_part: false,
        backport: None,
    }
}

fn sought(limit: f64) -> [Target; 1] {
    [Target::Guard(target(GuardForm::MaxIncrease(limit), 6.0, 7.0))]
}

fn ppl() -> [Unexplained; 1] {
    [Unexplained::Metric(Metric::of("ppl"))]
}

/// What the revert of this commit contradicts, if the bad end without it has this level.
fn contradicted(level: f64, end: CauseEnd, culprits: &[char]) -> Vec<Unexplained> {
    let cause = cause(end, vec![trial(TrialOf::Reverted, level)]);
    found(&named(culprits), &cause, &sought(0.5))
}

/// The same for the revert of both commits together.
fn both_contradicted(level: f64, ends: [CauseEnd; 2]) -> Vec<Unexplained> {
    let [one, other] = ends.map(|end| cause(end, Vec::new()));
    let trial = Some(trial(TrialOf::AllReverted, level));
    let finding = Finding {
        cause: Some(one),
        other_causes: vec![other],
        joint_revert: Some(JointRevert { revert: Revert::StillBad, trial }),
        ..named(&['5', '9'])
    };
    found_jointly(&finding, &sought(0.1))
}

#[test]
fn an_end_that_stays_the_same_without_the_commit_has_another_one() {
    assert_eq!(contradicted(7.0, CauseEnd::Complete, &['5']), ppl());
    // Later code may depend on the commit: the end is bad in another way.
    assert_eq!(contradicted(900.0, CauseEnd::Complete, &['5']), []);
    // All of the commit was taken out.
    assert_eq!(contradicted(7.0, CauseEnd::RestUnknown, &['5']), ppl());
    // Another commit is named too.
    assert_eq!(contradicted(7.0, CauseEnd::Complete, &['5', '9']), []);
}

#[test]
fn an_end_that_stays_the_same_without_all_commits_has_another_one() {
    let both = || [CauseEnd::Complete, CauseEnd::Complete];
    assert_eq!(both_contradicted(7.0, both()), ppl());
    // The two commits claim a step of 2 together, and only a sliver of it is gone.
    assert_eq!(both_contradicted(6.85, both()), ppl());
    // It is better, though not good: one step of 1 is still there.
    assert_eq!(both_contradicted(5.9, both()), ppl());
    assert_eq!(both_contradicted(5.1, both()), []);
    // All of both commits was taken out.
    assert_eq!(both_contradicted(7.0, [CauseEnd::Complete, CauseEnd::RestPart]), ppl());
}

/// What the test of an end without all of these commits contradicts, if it has this level.
fn all_contradicted(
    of: TrialOf,
    level: f64,
    culprits: &[Culprit],
    target: &GuardTarget,
) -> Vec<Unexplained> {
    let revert = if of == TrialOf::AllReverted { Revert::Unlike } else { Revert::BreaksAgain };
    let finding = Finding {
        culprits: culprits.to_vec(),
        joint_revert: Some(JointRevert { revert, trial: Some(trial(of, level)) }),
        ..named(&[])
    };
    found_jointly(&finding, &[Target::Guard(target.clone())])
}

fn step(parent: f64, level: f64) -> Culprit {
    Culprit { effects: vec![effect(parent, level, 0.1)], ..culprit('5') }
}

#[test]
fn steps_that_multiply_become_smaller_if_the_level_does() {
    // A later commit made everything 15 % better.
    let up = target(GuardForm::MaxIncrease(30.0), 1000.0, 1326.0);
    let steps = [step(800.0, 1200.0), step(1200.0, 1560.0)];
    let left = |level: f64| all_contradicted(TrialOf::AllReverted, level, &steps, &up);
    assert_eq!(left(680.0), []);
    // One of the two steps is still there.
    assert_eq!(left(884.0), ppl());
}

#[test]
fn a_fix_that_landed_again_is_taken_out_once() {
    // A later commit made the good end a little worse.
    let ends = target(GuardForm::MaxIncrease(0.1), 7.09, 7.5);
    let mut fixes = [step(7.5, 7.0), step(7.5, 7.0)];
    let left =
        |level: f64, fixes: &[Culprit]| all_contradicted(TrialOf::AllUnfixed, level, fixes, &ends);
    assert_eq!(left(7.59, &fixes), ppl());
    fixes[0].undone_by = Some(commit('7'));
    assert_eq!(left(7.59, &fixes), []);
    assert_eq!(left(7.3, &fixes), ppl());
}

#[test]
fn a_good_end_without_all_fixes_that_is_like_the_bad_end_needs_no_other_one() {
    // The fix of another metric made this one worse by 5, which is no effect of a fix.
    let ends = target(GuardForm::MaxDecrease(2.0), 40.0, 30.0);
    let fixes = [step(25.0, 40.0), Culprit { effects: Vec::new(), ..culprit('6') }];
    let left = |level: f64| all_contradicted(TrialOf::AllUnfixed, level, &fixes, &ends);
    assert_eq!(left(30.0), []);
    for level in [31.0, 34.0] {
        assert_eq!(left(level), ppl(), "{level}");
    }
}

#[test]
fn the_sentence_on_a_fix_is_about_the_end_that_contradicts() {
    let order = CommitOrder::line("34567");
    let said = |backport: Backport| {
        let finding = Finding {
            joint_revert: Some(JointRevert { revert: Revert::BreaksAgain, trial: None }),
            joint_backport: Some(JointBackport { backport, trial: None }),
            ..named(&['4', '6'])
        };
        incomplete(finding, ppl().to_vec(), &order, SearchTerms::of(Aim::Fix), false, &[]).summary
    };
    let (later, needed) = (said(Backport::Heals), said(Backport::StillBad));
    assert!(later.contains("the good end is still good, at least in part"), "{later}");
    assert!(needed.contains("the bad end still shows it, at least in part"), "{needed}");
}

#[test]
fn an_end_with_a_bad_fact_or_a_part_of_a_number_that_must_not_change_has_another_commit() {
    let unexplained = |value: &dyn Fn(f64) -> Value, level: f64| {
        let target = GuardTarget {
            baseline: value(6.0),
            bad: value(7.0),
            ..target(GuardForm::Unchanged, 6.0, 7.0)
        };
        let levels = BTreeMap::from([(Metric::of("ppl"), value(level))]);
        let trial = Trial { levels, ..trial(TrialOf::AllReverted, level) };
        let finding = Finding {
            joint_revert: Some(JointRevert { revert: Revert::StillBad, trial: Some(trial) }),
            ..named(&['5', '9'])
        };
        found_jointly(&finding, &[Target::Guard(target)])
    };
    let fact = |number: f64| Value::Fact(number.to_string());
    assert_eq!(unexplained(&fact, 7.0), ppl());
    for level in [6.5, 7.0] {
        assert_eq!(unexplained(&Value::Number, level), ppl());
    }
    // Only the test shows these values: another part of the program may run.
    assert_eq!(unexplained(&fact, 6.5), []);
    for level in [5.0, 900.0] {
        assert_eq!(unexplained(&Value::Number, level), []);
    }
    assert_eq!(unexplained(&fact, 6.0), []);
    assert_eq!(unexplained(&Value::Number, 6.0), []);
}

#[test]
fn a_guard_that_the_end_breaks_also_without_the_commit_has_another_one() {
    let broken_too = Some(Metric::of("speed"));
    let cause = Cause { broken_too, ..cause(CauseEnd::Complete, Vec::new()) };
    let speed = Unexplained::Metric(Metric::of("speed"));
    assert_eq!(found(&named(&['5']), &cause, &sought(0.5)), std::slice::from_ref(&speed));
    let finding = Finding { cause: Some(cause), ..named(&['5']) };
    let order = CommitOrder::line("3456");
    let terms = SearchTerms::of(Aim::Regression);
    let open = incomplete(finding.clone(), vec![speed.clone()], &order, terms, false, &[]);
    assert_eq!((open.outcome, open.candidates.len()), (Outcome::Candidates, 0));
    assert!(open.summary.ends_with("guard: another commit does that"), "{}", open.summary);
    // The whole commit was not taken out.
    let in_part = finding.cause.map(|cause| Cause { in_part: true, ..cause });
    let finding = Finding { cause: in_part, ..named(&['5']) };
    let open = incomplete(finding, vec![speed], &order, terms, false, &[]);
    assert_eq!(open.outcome, Outcome::Candidates);
    assert!(open.summary.contains("the rest of it or another commit"), "{}", open.summary);
}

#[test]
fn the_later_commits_are_candidates_then() {
    let order = CommitOrder::line("23456");
    let terms = SearchTerms::of(Aim::Regression);
    let open = incomplete(named(&['5']), ppl().to_vec(), &order, terms, false, &[]);
    assert_eq!((open.outcome, open.main), (Outcome::Candidates, None));
    assert_eq!(open.candidates, [commit('5'), commit('6')]);
    assert_eq!(open.culprits.len(), 1);
    assert!(open.summary.ends_with("a later commit may do this too"), "{}", open.summary);
}

#[test]
fn earlier_commits_are_candidates_too_if_the_parent_is_bad_already() {
    let order = CommitOrder::line("23456");
    let terms = SearchTerms::of(Aim::Regression);
    let earlier = ['4', '5', '6'].map(commit);
    let open = incomplete(named(&['5']), ppl().to_vec(), &order, terms, false, &earlier);
    assert_eq!(open.candidates, earlier);
    assert!(open.summary.ends_with("another commit may do this too"), "{}", open.summary);
}

#[test]
fn all_commits_are_candidates_if_the_end_is_measured_by_another_recipe() {
    let order = CommitOrder::line("23456");
    let terms = SearchTerms::of(Aim::Regression);
    let open = incomplete(named(&['5']), ppl().to_vec(), &order, terms, true, &[]);
    assert_eq!(open.candidates, order.commits());
    let said = "in part, by another recipe of oracle.toml: another commit may do this too";
    assert!(open.summary.ends_with(said), "{}", open.summary);
}

#[test]
fn the_commits_of_another_branch_are_candidates_too() {
    // 3 and 5 on two branches after 2, merged by 6.
    let one = |of, parents: &str| Lineage {
        commit: commit(of),
        parents: parents.chars().map(commit).collect(),
    };
    let branches = [one('2', "1"), one('3', "2"), one('5', "2"), one('6', "53")];
    let order = CommitOrder::of(branches.to_vec());
    let terms = SearchTerms::of(Aim::Regression);
    let open = incomplete(named(&['5']), ppl().to_vec(), &order, terms, false, &[]);
    assert_eq!(open.candidates, ['3', '5', '6'].map(commit));
    assert!(open.summary.ends_with("another commit may do this too"), "{}", open.summary);
}

#[test]
fn a_bad_end_without_the_commits_needs_another_one_if_the_account_leaves_a_part() {
    let account = |taken_back: Option<f64>, in_small_steps: bool| Account {
        metric: Metric::of("ppl"),
        total: 1.7,
        explained: 1.0,
        rest: 0.7,
        in_small_steps,
        taken_back,
        overlap: None,
        error: None,
        limit: 0.5,
    };
    let left_at = |level: f64, account: Account| {
        let cause = cause(CauseEnd::Complete, vec![trial(TrialOf::Reverted, level)]);
        let finding = Finding { cause: Some(cause), accounts: vec![account], ..named(&['5']) };
        left(&finding, &sought(0.5))
    };
    assert_eq!(left_at(6.7, account(None, false)), ppl());
    // The end is good without the commit.
    assert_eq!(left_at(6.4, account(None, false)), []);
    // The commit took a step of the same size back, or small steps make the rest.
    assert_eq!(left_at(6.7, account(Some(0.7), false)), []);
    assert_eq!(left_at(6.7, account(None, true)), []);
    // Nobody knows where the rest is.
    let finding = Finding { accounts: vec![account(None, false)], ..named(&['5']) };
    let order = CommitOrder::line("23456");
    let terms = SearchTerms::of(Aim::Regression);
    let open = incomplete(finding, ppl().to_vec(), &order, terms, false, &[]);
    assert_eq!(open.candidates, order.commits());
}

#[test]
fn the_sentence_names_the_guard_that_stays_if_the_commits_move_others_too() {
    let order = CommitOrder::line("23456");
    let mut finding = named(&['3', '5']);
    finding.culprits[1].effects[0].metric = Metric::of("speed");
    let said = |unexplained: Vec<Unexplained>| {
        let terms = SearchTerms::of(Aim::Regression);
        incomplete(finding.clone(), unexplained, &order, terms, false, &[]).summary
    };
    let of_speed = said(vec![Unexplained::Metric(Metric::of("speed"))]);
    assert!(of_speed.contains("still shows the change of speed, at least in part"), "{of_speed}");
    let both = ["ppl", "speed"].map(|name| Unexplained::Metric(Metric::of(name)));
    let of_both = said(both.to_vec());
    assert!(of_both.contains("still shows it, at least in part"), "{of_both}");
}

#[test]
fn a_failure_that_stays_beside_a_healed_guard_is_unexplained() {
    let failing = Culprit { failure: Some(failure(FailureKind::Crash, "signal")), ..culprit('9') };
    let failing = Culprit { effects: Vec::new(), ..failing };
    let targets =
        [fails_alike(Some("speed"), FailureKind::Crash, "signal"), sought(0.5)[0].clone()];
    let left = |level: f64, targets: &[Target]| {
        let mut finding = named(&['5']);
        finding.culprits.push(failing.clone());
        let trial = trial(TrialOf::AllReverted, level);
        finding.joint_revert = Some(JointRevert { revert: Revert::StillBad, trial: Some(trial) });
        found_jointly(&finding, targets)
    };
    assert_eq!(left(6.0, &targets), [Unexplained::OwnFailure]);
    // The guard alone may make the end bad.
    assert_eq!(left(7.0, &targets), ppl());
    assert_eq!(left(6.0, &targets[1..]), []);
}
