//! A sought failure that only some runs of a commit show.

use super::*;
use crate::evaluation::{FailureMessage, FailureReason};
use crate::oracle::fixture::failure;

fn sought() -> [Target; 1] {
    [fails_alike(Some("ppl"), FailureKind::Crash, "signal 11")]
}

fn crash() -> Sample {
    failed(FailureKind::Crash, "signal 11")
}

/// The decision on runs of which these first ones crash.
fn judged(crashes: usize, others: usize) -> Decision {
    let runs = std::iter::repeat_n(crash(), crashes);
    let runs = runs.chain(std::iter::repeat_n(ppl(7.0), others));
    decide(&seen('a', "ppl", runs), &sought())
}

#[test]
fn one_crash_never_blames_a_commit_and_one_run_without_it_never_clears_it() {
    assert_eq!(judged(1, 1), Decision::More(3));
    assert_eq!(settled(judged(2, 1)).verdict, Verdict::Bad);
    assert_eq!(judged(1, 10), Decision::More(12));
    let good = settled(judged(1, 11));
    assert_eq!(good.verdict, Verdict::Good);
    assert_eq!(good.reason, "fails as the bad endpoint does in 1 of 12 runs");
}

#[test]
fn another_failure_is_no_vote() {
    let other = failed(FailureKind::Crash, "signal 6");
    let two = [crash(), other.clone()];
    assert_eq!(decide(&seen('a', "ppl", two), &sought()), Decision::More(3));
    let many = std::iter::once(crash()).chain(std::iter::repeat_n(other, 23));
    assert_eq!(skipped(decide(&seen('a', "ppl", many), &sought())), SkipReason::Unsteady);
}

#[test]
fn a_failure_with_a_reason_is_hardly_chance() {
    let lines = vec!["assertion failed: n_past < n_ctx".to_owned()];
    let said = FailureMessage::Reason { lines, telling: true };
    let shown = String::new();
    let told = failure(FailureKind::Crash, "signal 6").heard(FailureReason { said, shown });
    let crash = Sample { result: Err(told.clone()), ..ppl(0.0) };
    let runs = std::iter::once(crash).chain(std::iter::repeat_n(ppl(7.0), 11));
    let measure = Some("ppl".to_owned());
    let targets = [Target::Failure { measure, failure: told, checks: None }];
    assert_eq!(skipped(decide(&seen('a', "ppl", runs), &targets)), SkipReason::Unsteady);
}
