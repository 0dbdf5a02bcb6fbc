//! Failures in a share of the runs of the bad end. The good end never fails.

use crate::kit::shell_engine::{NUMBER, among_notes, hunt, names_or_leaves_open, subjects};
use crate::kit::{Hunt, TestEnvironment};

/// Hunts where a run with `x` ends as `fate` says if the number of such runs, modulo `every`, is one
/// of these `turns`.
fn hunt_with(env: &TestEnvironment, fate: &str, every: usize, turns: &str) -> Hunt {
    let runs = env.path("runs").display().to_string();
    let engine = format!(
        "[ -f x ] && echo >> '{runs}' && case $(($(wc -l < '{runs}') % {every})) in \
         {turns}) {fate};; esac\necho e = 6"
    );
    let keys = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];
    hunt(env, &engine, keys, &among_notes(&[("x", "1")]))
}

/// Hunts, and fails unless `x` is named, by its failure rate.
#[track_caller]
fn finds_x(fate: &str, every: usize, turns: &str) {
    let env = TestEnvironment::new();
    let hunt = hunt_with(&env, fate, every, turns).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    let effect = &hunt.report["culprit"]["effect"];
    assert!(effect["parent"].as_str().unwrap().starts_with("fails in 0 of "), "{effect}");
    hunt.output.says(&["the hunt looks for this failure by its rate"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nan_in_two_of_three_runs_is_found_by_its_rate() {
    finds_x("echo e = nan; exit 0", 3, "0|1");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_crash_in_two_of_five_runs_is_found_by_its_rate() {
    // At the ends a crash counts if the next run crashes too.
    finds_x("echo misaligned address >&2; exit 3", 5, "3|4");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_missing_value_in_three_of_five_runs_is_found_by_its_rate() {
    finds_x("echo done; exit 0", 5, "0|2|4");
}

#[test]
fn a_failure_that_shows_in_both_first_runs_is_not_pinned_on_another_commit() {
    let env = TestEnvironment::new();
    // The second run of the search fails, and then all fresh runs but one work.
    let hunt = hunt_with(&env, "echo e = nan; exit 0", 40, "1|2|4|8");
    names_or_leaves_open(&env, &hunt, &["x"]);
}
