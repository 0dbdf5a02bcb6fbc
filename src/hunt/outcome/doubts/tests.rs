use crate::evaluation::{
    Aim, CommitId, Culprit, Effect, Finding, Guard, GuardForm, GuardTarget, Metric, Outcome,
    Target, Unexplained, Value,
};
use crate::hunt::outcome::account::Ledger;
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
        let history: Vec<CommitId> = "123456789abcde".chars().map(commit).collect();
        self.ledger.close(Vec::new(), &history, false)
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
    assert_eq!(finding.candidates, ['8', '9'].map(commit));
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
        hunt.ledger.hides(&commit('5'), &['7', '9'].map(commit));
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
