mod guards;

use proptest::prelude::*;

use super::*;
use crate::evaluation::{
    Account, Aim, Contribution, Effect, FailureKind, Guard, GuardForm, Outcome, Unexplained, Value,
};
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::path_filter::PathFilter;
use crate::oracle::fixture::{self, at, commit, effect, fails_alike, failure, noisy, target};

const UP: GuardForm = GuardForm::MaxIncrease(0.5);

/// A first bad commit, named by a digit; its parent is the digit before.
fn culprit(digit: char, effects: Vec<Effect>) -> Culprit {
    let parent = char::from_digit(digit.to_digit(16).unwrap() - 1, 16).unwrap();
    Culprit { confidence: 1.0, effects, ..fixture::culprit(digit, parent) }
}

fn found(digit: char, parent: f64, level: f64) -> Searched {
    Searched::Culprit(
        Box::new(culprit(digit, vec![effect(parent, level, 0.5)])),
        at(digit, &[level; 3]),
    )
}

fn crossing(digit: char, parent: f64, level: f64) -> Searched {
    Searched::Gradual(
        Box::new(culprit(digit, vec![effect(parent, level, 0.5)])),
        at(digit, &[level]),
    )
}

fn search_range(aim: Aim, good: CommitId, bad: CommitId, targets: Vec<Target>) -> SearchRange {
    let terms = SearchTerms::of(aim);
    let [older, newer] = terms.older_and_newer([good, bad]);
    let (paths, aside) = (PathFilter::default(), Vec::new());
    SearchRange { older, newer, terms, targets, paths, aside }
}

/// From commit 1 (good) to commit e (bad).
fn whole(target: GuardTarget) -> (Ledger, SearchRange) {
    let targets = vec![Target::Guard(target)];
    let ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
    (ledger, search_range(Aim::Regression, commit('1'), commit('e'), targets))
}

fn history() -> CommitOrder {
    CommitOrder::line("123456789abcde")
}

fn only_target(search_range: &SearchRange) -> &GuardTarget {
    let [Target::Guard(target)] = search_range.targets.as_slice() else {
        panic!("{search_range:?}")
    };
    target
}

#[test]
fn one_step_that_explains_everything_closes_the_account() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 7.0));
    assert!(ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[7.0])).is_empty());
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!(finding.outcome, Outcome::Culprit);
    assert_eq!(finding.candidates, [commit('5')]);
    let account = &finding.accounts[0];
    assert_eq!((account.total, account.explained, account.rest), (1.0, 1.0, 0.0));
    assert!(finding.summary.contains("own step 1, tolerance 0.5"));
}

#[test]
fn a_rest_beyond_the_limit_is_searched_to_the_right_from_the_level_found() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
    let next = ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[8.0]));
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].good_and_bad(), [&commit('5'), &commit('e')]);
    let rest = only_target(&next[0]);
    assert_eq!((&rest.baseline, rest.limit), (&Value::Number(7.0), 0.5));
    assert_eq!(rest.noise, None);
}

#[test]
fn on_the_way_to_a_fix_the_rest_lies_before_the_parent_with_its_level() {
    // From commit 1 (bad, 8.0) to commit e (good, 6.0).
    let targets = vec![Target::Guard(target(UP, 6.0, 8.0))];
    let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Fix));
    let search_range = search_range(Aim::Fix, commit('e'), commit('1'), targets);
    let mut effect = effect(7.0, 6.0, 0.5);
    effect.own_step = Some(1.0);
    let searched =
        Searched::Culprit(Box::new(culprit('5', vec![effect])), at('4', &[7.0, 7.0, 7.0]));
    let next = ledger.enter(&search_range, searched, &at('1', &[8.0]));
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].good_and_bad(), [&commit('4'), &commit('1')]);
    assert_eq!(next[0].ends(), [&commit('1'), &commit('4')]);
    assert_eq!(only_target(&next[0]).baseline, Value::Number(7.0));
    let finding = ledger.close(Vec::new(), &history(), false);
    assert!(finding.summary.starts_with("5555555555 is the first fixed commit: ppl 7 → 6"));
    let account = &finding.accounts[0];
    assert_eq!((account.total, account.explained, account.rest), (2.0, 1.0, 1.0));
}

#[test]
fn a_rest_of_exactly_the_limit_is_not_searched() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 7.5));
    assert!(ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[7.5])).is_empty());
    let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
    assert!(ledger.enter(&search_range, found('e', 7.0, 8.0), &at('e', &[8.0])).is_empty());
}

#[test]
fn a_level_between_two_runs_is_said_in_as_many_digits_as_make_sense() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 7.0));
    let level = f64::midpoint(7.1469, 7.1205);
    ledger.enter(&search_range, found('5', level, 8.0), &at('e', &[7.0]));
    let summary = ledger.close(Vec::new(), &history(), false).summary;
    assert!(summary.contains("ppl 7.1337 → 8 "), "{summary}");
}

#[test]
fn where_less_is_worse_the_account_runs_the_other_way() {
    let (mut ledger, search_range) = whole(target(GuardForm::MaxDecrease(5.0), 100.0, 60.0));
    let step = Effect { own_step: Some(20.0), ..effect(100.0, 80.0, 5.0) };
    let searched = Searched::Culprit(Box::new(culprit('5', vec![step])), at('5', &[80.0]));
    assert_eq!(ledger.enter(&search_range, searched, &at('e', &[60.0])).len(), 1);
    let account = ledger.close(Vec::new(), &history(), false).accounts.remove(0);
    assert_eq!((account.total, account.explained, account.rest), (40.0, 20.0, 20.0));
}

#[test]
fn in_noise_a_rest_is_searched_that_exceeds_its_limit_beyond_doubt() {
    // Levels 3 apart, a standard deviation of 0.3.
    let (mut ledger, search_range) = whole(noisy(UP, 6.0, 9.0));
    let next = ledger.enter(&search_range, found('5', 6.0, 8.0), &at('e', &[9.0, 9.2, 8.8]));
    let [right] = next.as_slice() else { panic!("{next:?}") };
    assert_eq!(only_target(right).baseline, Value::Number(8.0));

    // 0.6 is more than the tolerance of 0.5, but not by two standard errors.
    let (mut ledger, search_range) = whole(noisy(UP, 6.0, 9.0));
    assert!(ledger.enter(&search_range, found('5', 6.0, 8.4), &at('e', &[9.0; 3])).is_empty());
    let finding = ledger.close(Vec::new(), &history(), false);
    assert!(finding.notes[0].contains("is lost in its noise"), "{:?}", finding.notes);
}

#[test]
fn in_noise_a_rest_before_the_found_step_is_searched() {
    // A level of 7.2 may be judged good between 6 and 9.
    let (mut ledger, search_range) = whole(noisy(UP, 6.0, 9.0));
    let next = ledger.enter(&search_range, found('8', 7.2, 9.0), &at('e', &[9.0; 3]));
    let [left] = next.as_slice() else { panic!("{next:?}") };
    assert_eq!(left.good_and_bad(), [&commit('1'), &commit('7')]);
    assert_eq!(only_target(left).bad, Value::Number(7.2));

    // In that range, the rest ends at the range's own bad level, not at the bad endpoint's.
    let mut left = left.clone();
    if let Target::Guard(target) = &mut left.targets[0] {
        target.bad = Value::Number(8.2);
    }
    let within = ledger.enter(&left, found('3', 6.0, 6.6), &at('e', &[9.0; 3]));
    let [right] = within.as_slice() else { panic!("{within:?}") };
    assert_eq!(right.good_and_bad(), [&commit('3'), &commit('7')]);
}

#[test]
fn a_failure_rate_has_no_account_and_no_further_range() {
    use crate::evaluation::{Noise, NoiseKind};
    let target = target(GuardForm::Unchanged, 0.0, 1.0);
    let (kind, good, bad) = (NoiseKind::Breaks, 0.05, 0.7);
    let noise = Noise { kind, good, bad, sd: 0.0, runs: 9, paired: false, error: 0.001 };
    let (mut ledger, search_range) = whole(GuardTarget { noise: Some(noise), ..target });
    let fails = |count: usize| Value::Fact(format!("fails in {count} of 5 runs"));
    let rate =
        Effect { parent: fails(0), commit: fails(5), own_step: None, ..effect(0.0, 1.0, 0.0) };
    let searched = Searched::Culprit(Box::new(culprit('5', vec![rate])), at('5', &[1.0; 5]));
    let next = ledger.enter(&search_range, searched, &at('e', &[1.0; 5]));
    assert!(next.is_empty(), "{next:?}");
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!((finding.outcome, finding.accounts.len()), (Outcome::Culprit, 0));
}

#[test]
fn a_range_in_which_nothing_is_left_after_all_is_a_note() {
    let (mut ledger, search_range) = whole(noisy(UP, 6.0, 9.0));
    ledger.enter(&search_range, found('5', 6.0, 9.0), &at('e', &[9.0]));
    let nothing = Searched::Nothing("nothing to be seen".to_owned());
    assert!(ledger.enter(&search_range, nothing, &at('e', &[9.0])).is_empty());
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!((finding.outcome, finding.notes.len()), (Outcome::Culprit, 1));
}

#[test]
fn a_refuted_mend_is_dropped_for_its_metric_alone() {
    let (mut ledger, _) = whole(noisy(UP, 6.0, 9.0));
    let mend = |metric: &str| Mend {
        by: commit('9'),
        before: None,
        metric: Some(Metric::of(metric)),
        amount: 3.0,
        left: 0.0,
        limit: 0.1,
        repeats: false,
    };
    ledger.mended(mend("ppl"));
    ledger.mended(mend("other"));
    ledger.refute_mends(&commit('8'), &Metric::of("ppl"));
    assert_eq!(ledger.mends().len(), 2);
    ledger.refute_mends(&commit('9'), &Metric::of("ppl"));
    let left: Vec<_> = ledger.mends().iter().filter_map(|mend| mend.metric.clone()).collect();
    assert_eq!(left, [Metric::of("other")]);
}

#[test]
fn nothing_found_explains_nothing_without_a_sign() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 9.0));
    let open = Searched::Candidates(vec![commit('8'), commit('9')], "neither builds".into());
    ledger.enter(&search_range, open, &at('e', &[9.0]));
    let account = ledger.close(Vec::new(), &history(), false).accounts.remove(0);
    assert_eq!(account.explained.to_bits(), 0.0_f64.to_bits());
}

#[test]
fn the_main_one_is_the_largest_in_limits_and_all_are_told_in_order_of_history() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 9.0));
    ledger.enter(&search_range, found('9', 6.6, 8.6), &at('e', &[9.0]));
    ledger.enter(&search_range, found('3', 6.0, 6.6), &at('e', &[9.0]));
    ledger.enter(&search_range, found('c', 8.6, 9.0), &at('e', &[9.0]));
    let finding = ledger.close(Vec::new(), &history(), false);
    let order: Vec<_> = finding.culprits.iter().map(|c| c.info.commit.clone()).collect();
    assert_eq!(order, [commit('3'), commit('9'), commit('c')]);
    assert_eq!(finding.culprit().unwrap().info.commit, commit('9'));
    assert_eq!(finding.candidates, [commit('9')]);
}

#[test]
fn small_steps_alone_are_gradual_with_the_crossing_first() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 6.6));
    ledger.enter(&search_range, crossing('7', 6.45, 6.55), &at('e', &[6.6]));
    assert!(ledger.is_gradual());
    let part = |from: char, to: char, commits| Contribution {
        from: commit(from),
        to: commit(to),
        commits,
        rise: 0.1,
        metric: Metric::of("ppl"),
    };
    let contributions = vec![part('1', '4', 3), part('4', '5', 1), part('6', '7', 1)];
    let finding = ledger.close(contributions.clone(), &history(), false);
    assert_eq!(finding.outcome, Outcome::Gradual);
    // A contribution of several commits adds no candidate.
    assert_eq!(finding.candidates, [commit('7'), commit('5')]);
    assert_eq!(finding.contributions, contributions);
    assert!(finding.summary.ends_with("no single commit is blamed"), "{}", finding.summary);
    assert_eq!((finding.main, finding.accounts[0].explained), (None, 0.0));
}

#[test]
fn what_stayed_open_beside_a_first_bad_commit_is_not_explained() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
    let next = ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[8.0]));
    let search_range = next.into_iter().next().unwrap();
    let open = Searched::Candidates(vec![commit('8'), commit('9')], "neither builds".into());
    assert!(ledger.enter(&search_range, open, &at('e', &[8.0])).is_empty());
    ledger.enter(&search_range, crossing('c', 7.5, 7.7), &at('e', &[8.0]));
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!((finding.outcome, finding.main), (Outcome::Candidates, None));
    assert_eq!(finding.candidates, ['5', '8', '9'].map(commit));
    assert_eq!(finding.culprits.len(), 1);
    assert_eq!(finding.notes.len(), 2);
    assert!(finding.notes[0].contains("one of 2") && finding.notes[0].contains("neither builds"));
    assert!(finding.notes[1].contains("small steps add up"));
}

#[test]
fn a_rest_that_has_no_candidates_makes_the_answer_incomplete() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
    ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[8.0]));
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!((finding.outcome, finding.main), (Outcome::Candidates, None));
    assert_eq!(finding.candidates, [commit('5')]);
    assert_eq!(
        (finding.culprits.len(), finding.unexplained),
        (1, vec![Unexplained::Metric(Metric::of("ppl"))])
    );
    assert!(finding.summary.ends_with("it does not explain all that the bad end shows of ppl"));
}

#[test]
fn the_first_commit_is_enough_if_it_was_asked_for() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
    ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[8.0]));
    let finding = ledger.close(Vec::new(), &history(), true);
    assert_eq!((finding.outcome, finding.main), (Outcome::Culprit, Some(0)));
    assert!(finding.unexplained.is_empty());
}

#[test]
fn a_rest_within_its_noise_is_explained() {
    let within = |bad: f64| {
        let (mut ledger, whole) = whole(noisy(UP, 6.0, bad));
        ledger.enter(&whole, found('5', 6.0, 7.0), &at('e', &[bad; 3]));
        ledger.unexplained(&ledger.accounts()).is_empty()
    };
    assert!(within(7.4) && within(7.6) && !within(8.5));
}

#[test]
fn candidates_of_every_range_are_named_with_their_reasons() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
    for (digit, why) in [('5', "the first reason"), ('9', "the second reason")] {
        let open = Searched::Candidates(vec![commit(digit)], why.into());
        ledger.enter(&search_range, open, &at('e', &[8.0]));
    }
    ledger.enter(&search_range, crossing('c', 7.5, 7.7), &at('e', &[8.0]));
    assert!(!ledger.is_gradual());
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!(finding.outcome, Outcome::Candidates);
    assert_eq!(finding.candidates, [commit('5'), commit('9')]);
    assert!(finding.summary.contains("the first reason"), "{}", finding.summary);
    assert!(finding.notes.iter().any(|note| note.contains("the second reason")));
    assert!(finding.notes.iter().any(|note| note.contains("small steps add up")));
}

#[test]
fn a_merge_with_a_step_of_its_own_stays_beside_the_commit_that_it_merges() {
    let named = |adds_own_step: bool| {
        let (mut ledger, search_range) = whole(target(UP, 6.0, 8.0));
        ledger.enter(&search_range, found('5', 6.0, 7.0), &at('e', &[8.0]));
        ledger.enter(&search_range, found('9', 7.0, 8.0), &at('e', &[8.0]));
        let inside = culprit('5', vec![effect(6.0, 7.0, 0.5)]);
        ledger.brought_by(&commit('9'), &inside, adds_own_step);
        let named = ledger.named().map(|culprit| culprit.info.commit.clone());
        named.collect::<Vec<CommitId>>()
    };
    assert_eq!(named(true), [commit('5'), commit('9')]);
    assert_eq!(named(false), [commit('5')]);
}

#[test]
fn a_failure_has_no_account_and_says_how_it_fails() {
    let targets = [fails_alike(Some("ppl"), FailureKind::Crash, "signal 11")];
    let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
    let search_range = search_range(Aim::Regression, commit('1'), commit('e'), targets.to_vec());
    let crash = Some(failure(FailureKind::Crash, "signal 11"));
    let culprit = Culprit { failure: crash, ..culprit('5', Vec::new()) };
    let searched = Searched::Culprit(Box::new(culprit), at('5', &[]));
    assert!(ledger.enter(&search_range, searched, &at('e', &[])).is_empty());
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!((finding.outcome, finding.accounts.len()), (Outcome::Culprit, 0));
    assert!(finding.summary.contains("it crashes"), "{}", finding.summary);
}

#[test]
fn a_search_that_came_to_nothing_is_not_silent() {
    let (ledger, _) = whole(target(UP, 6.0, 8.0));
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!(finding.outcome, Outcome::Candidates);
    assert!(!finding.summary.is_empty());
}

#[test]
fn a_step_that_each_of_two_commits_makes_alone_is_in_the_account_twice() {
    let (mut ledger, search_range) = whole(target(UP, 6.0, 7.0));
    for digit in ['3', '5'] {
        ledger.enter(&search_range, found(digit, 6.0, 7.0), &at('e', &[7.0; 3]));
    }
    assert_eq!(ledger.accounts()[0].overlap, None);
    ledger.either = Some([commit('3'), commit('5')]);
    let account = ledger.accounts().remove(0);
    assert_eq!((account.rest, account.overlap), (-1.0, Some(1.0)));
    // Once only one of them is named, nothing is there twice.
    ledger.undone_by(&commit('3'), &commit('9'));
    assert_eq!(ledger.accounts()[0].overlap, None);
}

#[test]
fn the_rest_has_an_error_only_in_noise() {
    use crate::evaluation::{Noise, NoiseKind};
    let (kind, good, bad) = (NoiseKind::Plain, 6.0, 7.0);
    let noise = Noise { kind, good, bad, sd: 0.2, runs: 4, paired: false, error: 0.001 };
    let error = |noise| {
        let (ledger, _) = whole(GuardTarget { noise, ..target(UP, 6.0, 7.0) });
        ledger.accounts()[0].error
    };
    assert_eq!(error(None), None);
    // Two ends with four runs each.
    let expected = 0.2 * f64::sqrt(0.5);
    assert!((error(Some(noise)).unwrap() - expected).abs() < 1e-9);
}

proptest! {
    // Quarters, so that no sum is rounded.
    #[test]
    fn what_is_explained_and_the_rest_are_the_whole(
        steps in prop::collection::vec((2_u32..14, 1_i32..40), 0..6),
        total in 1_i32..400,
    ) {
        // A commit is found once, however many paths lead to it.
        let steps: std::collections::BTreeMap<u32, i32> = steps.into_iter().collect();
        let bad = 6.0 + f64::from(total) / 4.0;
        let (mut ledger, search_range) = whole(target(UP, 6.0, bad));
        for (digit, step) in &steps {
            let digit = char::from_digit(*digit, 16).unwrap();
            let level = 6.0 + f64::from(*step) / 4.0;
            ledger.enter(&search_range, found(digit, 6.0, level), &at('e', &[bad]));
        }
        let Account { total, explained, rest, .. } = ledger.accounts().remove(0);
        prop_assert!((explained + rest - total).abs() < 1e-12);
        let found: f64 = steps.values().map(|step| f64::from(*step) / 4.0).sum();
        prop_assert!((explained - found).abs() < 1e-12);
        if !steps.is_empty() {
            let finding = ledger.close(Vec::new(), &history(), true);
            let order: Vec<_> = finding.culprits.iter().map(|c| c.info.commit.clone()).collect();
            prop_assert!(order.is_sorted());
            let own = |c: &Culprit| c.effects[0].own_step.unwrap();
            let main = own(finding.culprit().unwrap());
            prop_assert!(finding.culprits.iter().all(|c| own(c) <= main));
        }
    }
}
