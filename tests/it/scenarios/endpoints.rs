//! Endpoints that are not as good or bad as the user says, and endpoints that fail.
//!
//! If the cause of a failure is unclear (an exit code, a hang), each failing run costs a control
//! run too, which counts as a run of the good endpoint. A failing build of an endpoint is made
//! twice; the report counts the second. The good endpoint is then built again as the control.

use super::hunt;
use crate::kit::{graph, line};

#[test]
fn good_is_bad_already() {
    hunt(line("b b b b b")).saying(&["7.5"]).shows_no_regression().costs(10, 4);
}

#[test]
fn bad_is_good_still() {
    hunt(line("7.0 7.5 7.5 7.125")).saying(&["0.125", "0.2"]).shows_no_regression().costs(8, 2);
}

#[test]
fn they_are_reversed_in_measure() {
    hunt(line("b b g g")).saying(&["-0.5", "swapped"]).shows_no_regression().costs(8, 2);
}

#[test]
fn they_are_reversed_in_ancestry() {
    hunt(line("g g b b")).between("3", "0").gets_refused(&["reversed"]).costs(0, 0);
}

#[test]
fn they_are_reversed_across_a_merge() {
    let plan = graph(&["a: g", "b < a: g", "s < a: b", "m < b s: b"]);
    hunt(plan).between("m", "s").gets_refused(&["reversed"]).costs(0, 0);
}

#[test]
fn they_are_one_commit() {
    hunt(line("g b")).between("1", "1").gets_refused(&["same commit"]).costs(0, 0);
}

#[test]
fn a_crash_is_hunted_and_announced() {
    let told = hunt(line("g g g s s")).saying(&["signal 11"]).finds("3").costs(17, 8);
    assert_eq!(told.hunt.report["culprit"]["basis"], "sequential");
}

#[test]
fn an_exit_code_is_hunted() {
    hunt(line("g g e e")).saying(&["exit code 3"]).finds("2").costs(16, 6);
}

#[test]
fn a_hang_is_hunted() {
    hunt(line("g h h")).oracle(|oracle| oracle.timeout("2s")).finds("1").costs(15, 5);
}

#[test]
fn nan_is_hunted_and_a_word_in_json() {
    let told = hunt(line("g g n n")).finds("2").costs(14, 6);
    let samples = told.commit("2")["samples"].as_array().unwrap();
    assert!(samples.iter().any(|s| s["value"] == "nan"), "{samples:#?}");
}

#[test]
fn a_broken_build_is_hunted() {
    hunt(line("g g g x x")).saying(&["build"]).finds("3").costs(1, 10);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_build_that_makes_no_program_is_hunted() {
    let plan = line("g g g g").with(2, "program = none").with(3, "program = none");
    // The good end ran twice, commit 1 five times. Commits 2 and 3 have no program to run.
    hunt(plan).counting(15, 6).finds("2").costs(7, 6);
}

#[test]
fn what_builds_is_good_where_a_broken_build_is_hunted() {
    hunt(line("g g s x x")).finds("3").costs(1, 10);
}

#[test]
fn a_build_that_breaks_in_another_way_is_another_failure() {
    let plan = line("g g g x x g x x")
        .with(3, "build_says = no such header")
        .with(4, "build_says = no such header");
    hunt(plan).finds("6").costs(1, 15);
}

#[test]
fn a_failure_hunted_does_not_look_at_the_figures() {
    // 7.5 would break the guard, but the hunt looks for the crash.
    hunt(line("g b b s s")).finds("3").costs(17, 8);
}

#[test]
fn other_failures_on_the_way_are_untestable() {
    hunt(line("g g e s s")).leaves("2 3").costs(10, 5);
    hunt(line("g g x s s")).leaves("2 3").costs(7, 6);
    hunt(line("g g i s s")).leaves("2 3").costs(9, 5);
}

#[test]
fn a_good_endpoint_that_fails_cannot_be_measured() {
    for (word, runs) in [("s", 2), ("e", 4), ("n", 2), ("i", 4), ("-", 2)] {
        hunt(line(&format!("{word} g b"))).cannot_be_measured().costs(runs + 2, 2);
    }
}

#[test]
fn a_good_endpoint_that_does_not_build_cannot_be_measured() {
    hunt(line("x g b")).cannot_be_measured().costs(1, 3);
    hunt(line("x x x")).cannot_be_measured().costs(0, 4);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_good_endpoint_that_hangs_cannot_be_measured() {
    let row = hunt(line("h g b")).oracle(|oracle| oracle.timeout("2s"));
    row.cannot_be_measured().costs(6, 2);
}

#[test]
fn a_bad_endpoint_that_stops_before_its_end_is_no_regression_to_hunt() {
    hunt(line("g g i")).cannot_be_measured().costs(6, 2);
    hunt(line("g g -")).cannot_be_measured().costs(4, 2);
}

#[test]
fn a_failure_of_the_bad_endpoint_that_comes_and_goes_is_found_by_its_rate() {
    let plan = line("g g g").with(2, "fate = crash:11 well");
    let (hunt, history) = hunt(plan).hunted();
    hunt.names(&history, 2).output.says(&["crashes in", "the hunt looks for this failure"]);
}
