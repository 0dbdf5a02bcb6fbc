//! Several guards in one account.

use super::*;

#[test]
fn two_guards_of_one_metric_count_its_step_once() {
    let targets = [UP, GuardForm::Max(6.5)].map(|form| Target::Guard(target(form, 6.0, 7.0)));
    let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
    let search_range = search_range(Aim::Regression, commit('1'), commit('e'), targets.to_vec());
    let both = culprit('5', vec![effect(6.0, 7.0, 0.5), effect(6.0, 7.0, 0.5)]);
    ledger.enter(
        &search_range,
        Searched::Culprit(Box::new(both), at('5', &[7.0])),
        &at('e', &[7.0]),
    );
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!(finding.accounts.len(), 1);
    assert_eq!((finding.accounts[0].explained, finding.accounts[0].rest), (1.0, 0.0));
}

#[test]
fn a_guard_that_no_found_commit_moves_is_searched_by_itself() {
    let other =
        GuardTarget { guard: Guard { metric: Metric::of("kl"), form: UP }, ..target(UP, 0.0, 3.0) };
    let targets = vec![Target::Guard(target(UP, 6.0, 7.0)), Target::Guard(other.clone())];
    let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
    let whole = search_range(Aim::Regression, commit('1'), commit('e'), targets);
    assert!(ledger.range_of_unmoved(&whole).is_none());
    ledger.enter(&whole, found('5', 6.0, 7.0), &at('e', &[7.0]));
    let range = ledger.range_of_unmoved(&whole).unwrap();
    assert_eq!(range.targets, [Target::Guard(other)]);
    assert_eq!(range.ends(), whole.ends());
    assert_eq!(ledger.unexplained(&ledger.accounts()), [Unexplained::Metric(Metric::of("kl"))]);
    // The same commit moves it too.
    let moves = Effect { metric: Metric::of("kl"), ..effect(0.0, 3.0, 0.5) };
    let same = Searched::Culprit(Box::new(culprit('5', vec![moves])), at('5', &[7.0; 3]));
    ledger.enter(&range, same, &at('e', &[7.0]));
    assert!(ledger.range_of_unmoved(&whole).is_none());
    let finding = ledger.close(Vec::new(), &history(), false);
    assert_eq!((finding.culprits.len(), finding.outcome), (1, Outcome::Culprit));
    assert_eq!(finding.culprits[0].effects.len(), 2);
}

#[test]
fn a_guard_is_searched_by_itself_beside_candidates_for_another() {
    let metric = Metric::of("kl");
    let other = GuardTarget { guard: Guard { metric, form: UP }, ..target(UP, 0.0, 3.0) };
    let ppl = Target::Guard(target(UP, 6.0, 7.0));
    let targets = vec![ppl.clone(), Target::Guard(other.clone())];
    let whole = search_range(Aim::Regression, commit('1'), commit('e'), targets.clone());
    let new = || Ledger::new(&targets, SearchTerms::of(Aim::Regression));
    let searched = |ledger: &Ledger| ledger.range_of_unmoved(&whole).map(|range| range.targets);
    // The found step may hide another one of its metric.
    let mut ledger = new();
    ledger.enter(&whole, found('5', 6.0, 7.0), &at('e', &[7.0]));
    let among = vec![commit('5'), commit('8')];
    ledger.found()[0].status =
        CulpritStatus::Hides { among, left: 1.0, undone_by: None, why: None };
    assert_eq!(searched(&ledger), Some(vec![Target::Guard(other.clone())]));
    // No step of the first metric is confirmed.
    let mut ledger = new();
    let only_ppl = SearchRange { targets: vec![ppl], ..whole.clone() };
    let open = Searched::Candidates(vec![commit('8'), commit('9')], "neither builds".into());
    ledger.enter(&only_ppl, open, &at('e', &[7.0]));
    assert_eq!(searched(&ledger), Some(vec![Target::Guard(other)]));
}

#[test]
fn a_guard_without_candidates_has_all_commits_in_question() {
    let other =
        GuardTarget { guard: Guard { metric: Metric::of("kl"), form: UP }, ..target(UP, 0.0, 3.0) };
    let targets = vec![Target::Guard(target(UP, 6.0, 7.0)), Target::Guard(other)];
    let whole = search_range(Aim::Regression, commit('1'), commit('e'), targets.clone());
    let closed = |undone: Option<char>| {
        let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
        ledger.enter(&whole, found('5', 6.0, 7.0), &at('e', &[7.0]));
        if let Some(digit) = undone {
            let moves = Effect { metric: Metric::of("kl"), ..effect(0.0, 3.0, 0.5) };
            let step = culprit(digit, vec![moves]);
            ledger.found.push(FoundCommit {
                status: CulpritStatus::Undone { by: commit('c'), again: false },
                ..FoundCommit::new(step)
            });
        }
        ledger.close(Vec::new(), &history(), false)
    };
    let finding = closed(None);
    assert_eq!(finding.unexplained, [Unexplained::Metric(Metric::of("kl"))]);
    assert_eq!(finding.candidates.len(), history().commits().len());
    // The step of `9` was taken back, and something made it again.
    let candidates = closed(Some('9')).candidates;
    assert_eq!(candidates, ['5', '9', 'a', 'b', 'c', 'd', 'e'].map(commit));
}
