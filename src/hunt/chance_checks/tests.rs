use crate::evaluation::{GuardForm, Value};
use crate::oracle::Sample;
use crate::oracle::fixture::{checks, reading, seen};

use super::*;

const ALL: &str = "gemm softmax rope attn";

/// Runs of one build, each with the checks that failed in it.
fn runs(digit: char, failed: &[&str]) -> Observation {
    seen(digit, "t", failed.iter().map(|failed| run(failed, "first")))
}

fn run(failed: &str, built: &str) -> Sample {
    let (all, failed) = (checks(ALL), checks(failed));
    let count = |name: &str, count: usize| (Metric::named("t", name), Value::Number(count as f64));
    let counts = [count("failed", failed.len()), count("passed", all.len() - failed.len())];
    let sample = reading(counts);
    let result = sample.result.map(|own| Reading { checks: Some(all), failed, ..own });
    Sample { result, built: built.to_owned(), ..sample }
}

fn guards() -> [Guard; 1] {
    [Guard { metric: Metric::named("t", "failed"), form: GuardForm::MaxIncrease(0.0) }]
}

fn left_out(good: &[&str], bad: &[&str]) -> Option<String> {
    let (good, bad) = (runs('1', good), runs('2', bad));
    ChanceChecks::of([&good, &bad], &[], &guards()).map(|found| found.names().names())
}

#[test]
fn a_check_that_varies_beside_a_broken_one_is_left_out() {
    assert_eq!(left_out(&["", "softmax"], &["rope", "rope softmax"]).unwrap(), "softmax");
    assert_eq!(left_out(&["", "softmax", ""], &["rope", "rope"]).unwrap(), "softmax");
    assert_eq!(left_out(&["", ""], &["rope", "rope softmax", "rope"]).unwrap(), "softmax");
    let two = left_out(&["", "attn"], &["rope attn", "rope softmax"]).unwrap();
    assert_eq!(two, "attn, softmax");
    assert_eq!(left_out(&["", ""], &["rope", "rope"]), None, "nothing varies");
}

#[test]
fn the_others_must_tell_the_ends_apart_in_each_run() {
    assert_eq!(left_out(&["", "softmax"], &["softmax", "softmax"]), None, "no other check");
    assert_eq!(left_out(&["", ""], &["softmax", ""]), None, "it is the regression");
    assert_eq!(left_out(&["attn", "attn softmax"], &["rope", "rope softmax"]), None, "as many");
}

#[test]
fn a_check_that_fails_more_often_at_the_bad_end_stays() {
    let bad = ["rope softmax", "rope softmax", "rope softmax", "rope softmax", "rope"];
    assert_eq!(left_out(&["", "", "", "", ""], &bad), None, "0 of 5 and 4 of 5");
    let good = ["softmax", "", "", "", "softmax"];
    assert_eq!(left_out(&good, &bad).unwrap(), "softmax", "2 of 5 and 4 of 5");
}

#[test]
fn runs_between_the_ends_tell_too_but_other_builds_do_not() {
    let (good, bad) = (runs('1', &["", ""]), runs('2', &["rope", "rope"]));
    let of = |between: Observation| ChanceChecks::of([&good, &bad], &[between], &guards());
    let found = of(runs('3', &["", "softmax"])).unwrap();
    assert_eq!(
        found.to_string(),
        "checks of t that pass or fail by chance are left out of its counts: softmax (fails in 0 of \
         2 runs of the good end and in 0 of 2 of the bad end). The answer is about the other \
         checks; to hunt one of these, let the command run it alone"
    );
    let builds = [run("", "first"), run("softmax", "second")];
    assert_eq!(of(seen('3', "t", builds)), None);
    // A check that one commit breaks and the next one mends.
    let always = of(runs('3', &["softmax", "softmax"]));
    assert_eq!(always, None);
}

#[test]
fn a_check_broken_for_good_stays_even_if_it_varies_in_between() {
    let (good, bad) = (runs('1', &["", ""]), runs('2', &["rope softmax", "rope softmax"]));
    let between = runs('3', &["", "softmax"]);
    assert_eq!(ChanceChecks::of([&good, &bad], &[between], &guards()), None);
}
