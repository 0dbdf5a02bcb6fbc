use crate::evaluation::{
    Aim, Basis, CommitId, Culprit, Effect, Finding, Guard, GuardForm, GuardTarget, Metric, Outcome,
    Target, Unexplained, Value,
};
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::left_out::LeftOut;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::outcome::culprit_status::CulpritStatus;
use crate::hunt::outcome::hidden_cause::WhyHidden;
use crate::hunt::path_filter::PathFilter;
use crate::hunt::range::SearchRange;
use crate::hunt::searched::Searched;
use crate::hunt::terms::SearchTerms;
use crate::oracle::fixture::{at, commit, culprit, effect, target, unchanged};

const UP: GuardForm = GuardForm::MaxIncrease(0.5);

/// `ppl` gets worse from 6.0 to this level.
fn ppl(bad: f64) -> Target {
    Target::Guard(target(UP, 6.0, bad))
}

/// `tg` falls from 100 to this level.
fn speed(bad: f64) -> Target {
    let form = GuardForm::MaxDecrease(5.0);
    let guard = Guard { metric: Metric::of("tg"), form };
    Target::Guard(GuardTarget { guard, ..target(form, 100.0, bad) })
}

/// A fall of `tg` between these levels.
fn slower(parent: f64, level: f64) -> Effect {
    let own_step = Some(parent - level);
    Effect { metric: Metric::of("tg"), own_step, ..effect(parent, level, 5.0) }
}

/// From commit 1 (good) to commit e (bad).
struct Hunt {
    ledger: Ledger,
    targets: Vec<Target>,
}

impl Hunt {
    fn of(targets: &[Target]) -> Self {
        let terms = SearchTerms::of(Aim::Regression);
        Self { ledger: Ledger::new(targets, terms), targets: targets.to_vec() }
    }

    fn enter(&mut self, targets: &[Target], searched: Searched) {
        let search_range = SearchRange {
            older: commit('1'),
            newer: commit('e'),
            terms: SearchTerms::of(Aim::Regression),
            targets: targets.to_vec(),
            paths: PathFilter::default(),
            aside: Vec::new(),
        };
        self.ledger.enter(&search_range, searched, &at('e', &[]));
    }

    /// A first bad commit, named by a digit, with its step.
    fn finds(&mut self, digit: char, step: Effect) {
        let found = Culprit { confidence: 1.0, effects: vec![step], ..culprit(digit, '4') };
        let targets = self.targets.clone();
        self.enter(&targets, Searched::Culprit(Box::new(found), at(digit, &[])));
    }

    /// For these targets, the first bad commit is 8 or 9.
    fn leaves_open(&mut self, targets: &[Target]) {
        let commits = vec![commit('8'), commit('9')];
        self.enter(targets, Searched::Candidates(commits, "neither builds".into()));
    }

    fn close(self) -> Finding {
        self.ledger.close(Vec::new(), &CommitOrder::line("123456789abcde"), false)
    }
}

fn named(finding: &Finding) -> Vec<CommitId> {
    finding.culprits.iter().map(|culprit| culprit.info.commit.clone()).collect()
}

fn left(metric: &str) -> Vec<Unexplained> {
    vec![Unexplained::Metric(Metric::of(metric))]
}

#[test]
fn of_two_guards_the_open_one_says_nothing_about_the_named_commit() {
    // In numbers the fall of `tg` is far larger than the rise of `ppl`.
    for (is_ppl_named, metric) in [(true, "tg"), (false, "ppl")] {
        let mut hunt = Hunt::of(&[ppl(7.0), speed(80.0)]);
        if is_ppl_named {
            hunt.finds('5', effect(6.0, 7.0, 0.5));
            hunt.leaves_open(&[speed(80.0)]);
        } else {
            hunt.finds('5', slower(100.0, 80.0));
            hunt.leaves_open(&[ppl(7.0)]);
        }
        let finding = hunt.close();
        assert_eq!((finding.outcome, finding.main), (Outcome::Candidates, None));
        assert_eq!(named(&finding), [commit('5')]);
        assert_eq!(finding.candidates, ['5', '8', '9'].map(commit));
        assert_eq!(finding.unexplained, left(metric));
    }
}

#[test]
fn a_larger_open_step_of_the_same_metric_takes_the_answer_back() {
    let mut hunt = Hunt::of(&[ppl(8.0)]);
    hunt.finds('5', effect(6.0, 6.75, 0.5));
    let rest = GuardTarget { baseline: Value::Number(6.75), ..target(UP, 6.0, 8.0) };
    hunt.leaves_open(&[Target::Guard(rest)]);
    let finding = hunt.close();
    assert_eq!((finding.outcome, named(&finding)), (Outcome::Candidates, Vec::new()));
    // The confirmed step that is open is a candidate too.
    assert_eq!(finding.candidates, ['8', '9', '5'].map(commit));
    assert_eq!(finding.open_steps[0].commit, commit('5'));
}

#[test]
fn an_open_step_between_facts_leaves_the_chain_open() {
    let fact = |text: &str| Value::Fact(text.to_owned());
    let whole = Target::Guard(unchanged("sse", "ref"));
    let mut hunt = Hunt::of(std::slice::from_ref(&whole));
    let metric = Metric::of("launch");
    let (parent, level) = (fact("sse"), fact("avx"));
    let (own_step, limit) = (None, 0.0);
    let step = Effect { metric, parent, commit: level, own_step, ..effect(0.0, 0.0, limit) };
    hunt.finds('5', step);
    hunt.leaves_open(&[Target::Guard(unchanged("avx", "ref"))]);
    let finding = hunt.close();
    assert_eq!((finding.outcome, named(&finding)), (Outcome::Candidates, vec![commit('5')]));
    assert_eq!(finding.unexplained, left("launch"));
}

#[test]
fn a_doubted_commit_was_undone_if_the_others_explain_the_end() {
    // 5 makes the whole step first; its change is gone at the end, and 9 is found behind it.
    let behind = |from: f64, level: f64, bad: f64| {
        let mut hunt = Hunt::of(&[ppl(bad)]);
        hunt.finds('5', effect(6.0, 7.0, 0.5));
        hunt.finds('9', effect(from, level, 0.5));
        hunt.ledger.hides(&commit('5'), &['7', '9'].map(commit), WhyHidden::GoneAtEnd);
        hunt.close()
    };
    let finding = behind(6.0, 7.0, 7.0);
    assert_eq!((finding.outcome, named(&finding)), (Outcome::Culprit, vec![commit('9')]));
    // 9 adds 0.75 to a level that 5, or another commit between them, made.
    let finding = behind(7.0, 7.75, 7.75);
    assert_eq!((finding.outcome, named(&finding)), (Outcome::Candidates, Vec::new()));
    assert_eq!(finding.candidates, ['5', '7', '9'].map(commit));
}

#[test]
fn a_doubt_gives_its_own_reason() {
    let reasons = [
        (WhyHidden::LostInNoise, "the runs do not tell whether the bad end still has the step"),
        (WhyHidden::BetterThanParent, "the bad end is better than the parent of 5555555555"),
        (WhyHidden::GoneAtEnd, "its change is gone at the bad end"),
        (WhyHidden::GoneAt(commit('9')), "is gone at 9999999999"),
        (WhyHidden::PerhapsGoneAt(commit('9')), "the runs of 9999999999 contradict each other"),
    ];
    for (why, said) in reasons {
        let mut hunt = Hunt::of(&[ppl(7.0)]);
        hunt.finds('5', effect(6.0, 7.0, 0.5));
        hunt.ledger.hides(&commit('5'), &['7', '9'].map(commit), why);
        let finding = hunt.close();
        assert_eq!(finding.candidates, ['5', '7', '9'].map(commit));
        assert!(finding.summary.contains(said), "{}", finding.summary);
    }
}

#[test]
fn what_no_search_tests_is_no_candidate_unless_the_filter_hides_a_found_commit() {
    let close = |tested: &[char]| {
        let mut hunt = Hunt::of(&[ppl(7.0)]);
        hunt.finds('5', effect(6.0, 7.0, 0.5));
        hunt.ledger.hides(&commit('5'), &['7', '8', '9'].map(commit), WhyHidden::LostInNoise);
        let filter = PathFilter { asked: vec!["src".to_owned()], unread: Vec::new() };
        let tested: Vec<CommitId> = tested.iter().copied().map(commit).collect();
        hunt.ledger.left_out = LeftOut::of(filter, &['5', '7', '8', '9'].map(commit), &tested);
        let finding = hunt.close();
        let is_said = finding.notes.iter().any(|note| note.contains("leave out 1 of 4 commits"));
        (finding.candidates, is_said)
    };
    assert_eq!(close(&['5', '7', '9']), (['5', '7', '9'].map(commit).to_vec(), true));
    assert_eq!(close(&['7', '8', '9']), (['5', '7', '8', '9'].map(commit).to_vec(), false));
}

#[test]
fn a_merge_is_a_candidate_beside_the_commits_of_a_branch_that_cannot_be_measured() {
    let mut hunt = Hunt::of(&[ppl(7.0)]);
    hunt.finds('5', effect(6.0, 7.0, 0.5));
    hunt.ledger.may_be_merged_in(&commit('5'), vec![commit('3'), commit('4')]);
    // Another target tells the same.
    hunt.ledger.may_be_merged_in(&commit('5'), vec![commit('3'), commit('4')]);
    hunt.ledger.withdraw_merges();
    let finding = hunt.close();
    assert_eq!((finding.outcome, named(&finding)), (Outcome::Candidates, Vec::new()));
    assert_eq!(finding.candidates, ['3', '4', '5'].map(commit));
    assert!(finding.summary.contains("is one of 3"), "{}", finding.summary);
}

#[test]
fn steps_that_hide_others_are_one_question() {
    let mut hunt = Hunt::of(&[ppl(7.0)]);
    hunt.finds('5', effect(6.0, 7.0, 0.5));
    hunt.finds('7', effect(6.0, 7.0, 0.5));
    for found in hunt.ledger.found() {
        let own = found.culprit.info.commit.clone();
        let among = vec![own, commit('9')];
        found.status = CulpritStatus::Hides { among, left: 0.75, undone_by: None, why: None };
    }
    let finding = hunt.close();
    assert_eq!(finding.candidates, ['5', '7', '9'].map(commit));
    // The number is that of all candidates, as in the headline of a report.
    let words = &finding.summary;
    assert!(words.contains("is one of 3: 5555555555, 7777777777, 9999999999; "), "{words}");
    assert!(words.contains("what 5555555555 and 7777777777 changed, but ppl is"), "{words}");
    let steps = finding.open_steps.iter().map(|step| step.commit.clone());
    assert_eq!(steps.collect::<Vec<_>>(), ['5', '7'].map(commit));
}

#[test]
fn an_undone_step_that_hid_another_one_is_no_question_if_the_others_explain_the_end() {
    let status = |bad: f64| {
        let mut hunt = Hunt::of(&[ppl(bad)]);
        hunt.finds('5', effect(6.0, 7.0, 0.5));
        hunt.finds('7', effect(7.0, 7.75, 0.5));
        let hides = CulpritStatus::Hides {
            among: ['7', '9'].map(commit).to_vec(),
            left: 1.75,
            undone_by: Some(commit('9')),
            why: None,
        };
        hunt.ledger.found()[1].status = hides;
        hunt.ledger.settle_what_hides_nothing();
        hunt.ledger.found()[1].status.clone()
    };
    assert_eq!(status(7.0), CulpritStatus::Undone { by: commit('9'), again: false });
    // Within the tolerance, but a part is left.
    assert!(matches!(status(7.25), CulpritStatus::Hides { .. }));
}

#[test]
fn a_commit_of_whose_step_little_is_left_is_named_with_less_confidence() {
    let mut hunt = Hunt::of(&[ppl(7.0)]);
    hunt.finds('5', effect(6.0, 7.0, 0.5));
    hunt.ledger.found()[0].perhaps_mended_by = Some(commit('9'));
    let finding = hunt.close();
    assert_eq!(named(&finding), vec![commit('5')]);
    let culprit = &finding.culprits[0];
    assert!(culprit.confidence <= 0.98);
    assert_eq!(culprit.doubts.perhaps_mended_by, Some(commit('9')));
}

#[test]
fn a_commit_whose_change_landed_again_says_where_it_was_undone() {
    let mut hunt = Hunt::of(&[ppl(7.0)]);
    hunt.finds('5', effect(6.0, 7.0, 0.5));
    hunt.finds('8', effect(6.0, 7.0, 0.5));
    hunt.ledger.found()[0].status = CulpritStatus::Undone { by: commit('6'), again: true };
    let finding = hunt.close();
    assert_eq!(named(&finding), ['5', '8'].map(commit));
    let undone = finding.culprits.iter().map(|one| one.undone_by.clone());
    assert_eq!(undone.collect::<Vec<_>>(), [Some(commit('6')), None]);
}

#[test]
fn a_commit_that_only_a_branch_undid_does_not_say_that_it_was_undone() {
    let mut hunt = Hunt::of(&[ppl(7.0)]);
    hunt.finds('5', effect(6.0, 7.0, 0.5));
    hunt.finds('8', effect(6.0, 7.0, 0.5));
    hunt.ledger.found()[0].status = CulpritStatus::Undone { by: commit('6'), again: true };
    hunt.ledger.kept_beside.insert(commit('5'));
    let finding = hunt.close();
    assert_eq!(named(&finding), ['5', '8'].map(commit));
    assert!(finding.culprits.iter().all(|one| one.undone_by.is_none()));
    let said = "on a branch; another line of history kept the change";
    assert!(finding.notes.iter().any(|note| note.ends_with(said)), "{:?}", finding.notes);
}

#[test]
fn groups_of_candidates_are_counted_together() {
    let mut hunt = Hunt::of(&[ppl(7.0)]);
    let targets = hunt.targets.clone();
    hunt.leaves_open(&targets);
    hunt.enter(&targets, Searched::Candidates(vec![commit('9'), commit('a')], "odd".into()));
    let finding = hunt.close();
    assert_eq!(finding.candidates, ['8', '9', 'a'].map(commit));
    let said = "one of 3: 8888888888, 9999999999, aaaaaaaaaa; 2 of them (8888888888, 9999999999): neither \
                builds";
    assert!(finding.summary.ends_with(said), "{}", finding.summary);
    assert_eq!(finding.notes, ["besides, 2 of them (9999999999, aaaaaaaaaa): odd"]);
}

#[test]
fn a_group_of_all_candidates_is_counted_once() {
    let summary = |first: &str, second: &str| {
        let mut hunt = Hunt::of(&[ppl(7.0)]);
        let targets = hunt.targets.clone();
        for (group, why) in [(first, "neither builds"), (second, "odd")] {
            let commits = group.chars().map(commit).collect();
            hunt.enter(&targets, Searched::Candidates(commits, why.into()));
        }
        let finding = hunt.close();
        (finding.summary, finding.notes)
    };
    let (said, notes) = summary("89a", "9a");
    assert!(
        said.ends_with("one of 3: 8888888888, 9999999999, aaaaaaaaaa; neither builds"),
        "{said}"
    );
    assert_eq!(notes, ["besides, 2 of them (9999999999, aaaaaaaaaa): odd"]);
    let (said, notes) = summary("9a", "89a");
    assert!(
        said.ends_with(
            "one of 3: 9999999999, aaaaaaaaaa, 8888888888; 2 of them (9999999999, aaaaaaaaaa): \
                        neither builds"
        ),
        "{said}"
    );
    assert_eq!(notes, ["besides, all of them: odd"]);
}

#[test]
fn a_claim_rests_on_values_that_repeat_only_if_no_runs_of_a_commit_differ() {
    let basis = |is_flaky| {
        let mut hunt = Hunt::of(&[ppl(7.0)]);
        hunt.finds('5', effect(6.0, 7.0, 0.5));
        hunt.ledger.is_flaky = is_flaky;
        hunt.close().culprits[0].basis
    };
    assert_eq!([false, true].map(basis), [Basis::BitExact, Basis::Sequential]);
}
