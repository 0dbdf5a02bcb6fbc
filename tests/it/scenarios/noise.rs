//! Values that do not repeat, and failures that come and go.

use super::hunt;
use crate::kit::{Plan, line};

const CALM: &str = "ppl = 7.00 7.01 7.02 6.99 7.03 7.01 6.98";
const WORSE: &str = "ppl = 7.50 7.52 7.49 7.51 7.53 7.48 7.50";

/// A line in which each value varies from run to run.
fn wavering(words: &str) -> Plan {
    let mut plan = line(words);
    for (label, word) in words.split(' ').enumerate() {
        plan = plan.with(label, if word == "g" { CALM } else { WORSE });
    }
    plan
}

#[test]
fn endpoints_that_lie_well_apart_take_a_run_a_commit() {
    // Four runs of each endpoint, one of each of three commits, two each of 3 and 4 to confirm, and
    // one of a later commit to check that the change lasts.
    let told = hunt(wavering("g g g g b b b b")).finds("4").costs(16, 8);
    let culprit = &told.hunt.report["culprit"];
    assert_eq!(culprit["basis"], "sequential");
    let confidence = culprit["confidence"].as_f64().unwrap();
    assert!(confidence > 0.99 && confidence < 1.0, "{confidence}");
}

#[test]
fn a_stray_run_of_the_search_is_found_out_by_the_confirmation() {
    // Commit 3 is good, but its first run has the value of a bad commit.
    let stray = "ppl = 7.52 7.01 7.02 7.00 7.01 7.02 7.03 7.01 7.00 7.02";
    // One run of the good end shows that the machine is not why the claim fails, and four runs of
    // two builds that the empty home folder is not.
    let told = hunt(wavering("g g g g b b b b").with(3, stray)).finds("4").costs(30, 13);
    assert_eq!(told.verdict("3"), "good");
}

#[test]
fn a_stray_run_of_the_confirmation_costs_more_pairs() {
    let stray = "ppl = 7.01 7.52 7.03 7.00 7.01 7.02 7.03 7.01";
    hunt(wavering("g g g g b b b b").with(3, stray)).finds("4").costs(20, 8);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn where_even_sixty_runs_do_not_part_the_endpoints_the_hunt_ends() {
    let noise = "ppl = 7.0 9.0 5.0 8.0 6.0 7.5 6.5";
    let plan = line("g g g b b b").with(0, noise).with(5, "ppl = 7.6 6.6 9.6 7.1 5.6 8.1 8.6");
    hunt(plan).drowns_in_noise().costs(120, 2);
}

#[test]
fn noise_around_one_level_is_no_regression() {
    let plan = line("g g g").with(0, CALM).with(2, "ppl = 7.02 7.00 7.01 7.03 6.99");
    // A new build of each end is run too.
    hunt(plan).shows_no_regression().costs(16, 4);
}

#[test]
fn a_second_level_that_only_the_bad_end_shows_in_some_runs_is_a_failure_rate() {
    let bad = "ppl = 7.02 7.00 9.50 7.01 6.99 7.03 9.60 7.04 6.98";
    hunt(line("g g g").with(0, CALM).with(2, bad)).finds("2").costs(159, 5);
}

fn hangs_once(label: usize) {
    let once = "fate = hang well well well well well well well";
    let row = hunt(line("g g g g b b b b").with(label, once)).oracle(|o| o.timeout("2s"));
    row.finds("4").costs(16, 7);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_that_hangs_once_is_measured_again() {
    hangs_once(3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_commit_that_hangs_once_is_measured_again() {
    hangs_once(5);
}

#[test]
fn a_commit_that_is_killed_once_is_tried_again() {
    let once = "fate = crash:9 well well well well well well well";
    hunt(line("g g g g b b b b").with(3, once)).finds("4").costs(16, 7);
    let once = "fate = exit:1 well well well well well well well";
    let plan = line("g g g g b b b b").with(3, once).with(3, "say = no CUDA-capable device");
    hunt(plan).finds("4").costs(16, 7);
}

#[test]
fn a_crash_that_comes_and_goes_is_never_pinned_on_the_commit_where_it_showed() {
    // Commit 3 introduces a race. In the search 3 and 4 do not crash by chance, so git names 5.
    let plan = line("g g g g g g g g")
        .with(3, "fate = well crash:11")
        .with(4, "fate = well crash:11 crash:11 well crash:11 crash:11")
        .with(5, "fate = crash:11")
        .with(6, "fate = crash:11")
        .with(7, "fate = crash:11");
    let told = hunt(plan).leaves("1 2 3 4 5").costs(14, 7);
    assert!(told.hunt.report["culprit"].is_null());
}

/// So many runs, after a first one with this fate.
fn once(fate: &str, others: usize) -> String {
    format!("fate = {fate}{}", " well".repeat(others))
}

#[test]
fn a_commit_that_crashes_first_and_works_then_is_not_taken_for_a_good_one() {
    // Commit 3 introduces a race: it crashes in every second run, and 4 did so once.
    let plan = line("g g g g g g g g")
        .with(3, "fate = crash:11 well")
        .with(4, &once("crash:11", 40))
        .with(5, "fate = crash:11")
        .with(6, "fate = crash:11")
        .with(7, "fate = crash:11");
    let (hunt, history) = hunt(plan).hunted();
    let hunt = hunt.expect(3, "candidates");
    assert!(hunt.candidates(&history).contains(&"3".to_owned()), "{}", hunt.output.stdout);
    assert!(hunt.report["culprit"].is_null());
}

/// Commit 3 is good. It crashes once as the bad end does, or in another way.
fn a_good_commit_crashes_once(fate: &str) {
    let mut plan = line("g g g g g g g g").with(3, &once(fate, 60));
    for label in 5..8 {
        plan = plan.with(label, "fate = crash:11");
    }
    let (hunt, history) = hunt(plan).hunted();
    match hunt.output.code() {
        Some(0) => assert_eq!(hunt.culprits(&history), ["5"]),
        Some(3) if fate == "crash:11" => {
            assert!(hunt.candidates(&history).contains(&"5".to_owned()));
        }
        code => panic!("{fate}, {code:?}: {}", hunt.output.stderr),
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_crash_seen_once_never_blames_a_commit() {
    a_good_commit_crashes_once("crash:11");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn another_crash_seen_once_never_blames_a_commit() {
    a_good_commit_crashes_once("crash:6");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn commits_that_do_not_build_are_no_answer_if_their_failures_went_away_and_came_back() {
    // Two in three runs are worse from 4 to 7 and from 10 on; the commits 3 to 5 do not build.
    let mut plan = line(&["7.0"; 12].join(" "));
    for label in [4, 5, 6, 7, 10, 11] {
        plan = plan.with(label, "ppl = 7.5 7.0 7.5");
    }
    let plan = plan
        .file(3, "kernels/builds.conf", "build_exit = 1\n")
        .file(5, "kernels/notes.conf", "# rows of four\n")
        .file(6, "kernels/builds.conf", "# builds again\n");
    let (hunt, history) = hunt(plan).hunted();
    let said = [hunt.culprits(&history), hunt.candidates(&history)].concat();
    assert!(said.contains(&"10".to_owned()), "{}", hunt.output.stdout);
}
