//! Values that do not repeat, and failures that come and go.

use super::hunt;
use crate::kit::{Plan, line};

const CALM: &str = "ppl = 7.00 7.01 7.02 6.99 7.03 7.01 6.98";
const WORSE: &str = "ppl = 7.50 7.52 7.49 7.51 7.53 7.48 7.50";

/// A line in which every value wavers.
fn wavering(words: &str) -> Plan {
    let mut plan = line(words);
    for (label, word) in words.split(' ').enumerate() {
        plan = plan.with(label, if word == "g" { CALM } else { WORSE });
    }
    plan
}

#[test]
fn endpoints_that_lie_apart_take_three_runs_a_commit() {
    // Five of each endpoint, three of each of three commits, five of the pair.
    let told = hunt(wavering("g g g g b b b b")).finds("4").costs(29, 7);
    let culprit = &told.hunt.report["culprit"];
    assert_eq!(culprit["basis"], "sequential");
    let confidence = culprit["confidence"].as_f64().unwrap();
    assert!(confidence > 0.99 && confidence < 1.0, "{confidence}");
}

#[test]
fn one_outlier_in_five_is_outvoted() {
    let outlier = "ppl = 7.01 7.52 7.02 7.00 7.01 7.02 7.03 7.01 7.00 7.02";
    hunt(wavering("g g g g b b b b").with(3, outlier)).finds("4").costs(31, 7);
}

#[test]
fn one_outlier_in_the_confirmation_leaves_too_little_confidence() {
    let outlier = "ppl = 7.01 7.02 7.03 7.00 7.52 7.02 7.03 7.01";
    let row = hunt(wavering("g g g g b b b b").with(3, outlier));
    row.saying(&["confidence of 0.956"]).leaves("4").costs(29, 7);
}

#[test]
fn runs_that_contradict_each_other_are_untestable() {
    let plan = wavering("g g b").with(1, "ppl = 7.01 7.52 7.02 7.49 7.25 7.26");
    let told = hunt(plan).leaves("1 2").costs(15, 3);
    assert_eq!(told.verdict("1"), "skip");
}

#[test]
fn endpoints_whose_runs_overlap_end_the_hunt() {
    let plan = line("g g g b b b")
        .with(0, "ppl = 7.0 7.6 7.1 7.5 7.2")
        .with(5, "ppl = 7.3 7.8 7.4 7.9 7.6");
    hunt(plan).drowns_in_noise().costs(10, 2);
}

#[test]
fn noise_around_one_level_is_no_regression() {
    let plan = line("g g g").with(0, CALM).with(2, "ppl = 7.02 7.00 7.01 7.03 6.99");
    hunt(plan).shows_no_regression().costs(10, 2);
}

#[test]
fn a_level_that_creeps_over_the_limit_in_its_noise_is_no_culprit_of_chance() {
    // The medians are 0.25 apart, the groups overlap by one run each.
    let plan = line("g g b")
        .with(0, "ppl = 7.00 7.05 7.20 7.02 7.04")
        .with(2, "ppl = 7.29 7.15 7.30 7.31 7.28");
    hunt(plan).drowns_in_noise().costs(10, 2);
}

#[test]
fn a_commit_that_hangs_once_is_untestable_and_nobody_is_blamed() {
    // The control ran at once; the commit is not tried again.
    let once = "fate = hang well well well well well well well";
    let row = hunt(line("g g g g b b b b").with(3, once)).oracle(|o| o.timeout("2s"));
    row.leaves("3 4").costs(8, 5);
    let row = hunt(line("g g g g b b b b").with(5, once)).oracle(|o| o.timeout("2s"));
    row.finds("4").costs(10, 7);
}

#[test]
fn a_commit_that_is_killed_once_is_tried_again() {
    let once = "fate = crash:9 well well well well well well well";
    hunt(line("g g g g b b b b").with(3, once)).finds("4").costs(10, 7);
    let once = "fate = exit:1 well well well well well well well";
    let plan = line("g g g g b b b b").with(3, once).with(3, "say = no CUDA-capable device");
    hunt(plan).finds("4").costs(10, 7);
}

#[test]
fn a_crash_that_comes_and_goes_is_never_pinned_on_the_commit_where_it_showed() {
    // Commit 3 brings a race. In the search 3 and 4 happen not to crash, so git names 5.
    let plan = line("g g g g g g g g")
        .with(3, "fate = well crash:11")
        .with(4, "fate = well crash:11 crash:11 well crash:11 crash:11")
        .with(5, "fate = crash:11")
        .with(6, "fate = crash:11")
        .with(7, "fate = crash:11");
    let told = hunt(plan).leaves("3 4").costs(22, 8);
    assert!(told.hunt.report["culprit"].is_null());
}
