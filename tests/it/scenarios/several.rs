//! Ranges with several steps, ranges without a step to blame, and steps of another guard.

use super::hunt;
use crate::kit::{Oracle, line};

#[test]
fn the_hunt_goes_on_until_the_account_is_closed() {
    let plan = line("7.0 7.0 7.5 7.5 7.5 8.5 8.5 8.5");
    let told = hunt(plan).finds("2 5").costs(25, 12);
    let report = &told.hunt.report;
    assert_eq!(told.label(&report["culprit"]["commit"]), "5", "the larger one");
    for (of, expected) in [("total", 1.5), ("explained", 1.5), ("rest", 0.0)] {
        let found = report["account"][of].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{of}: {found}");
    }
    let steps: Vec<f64> = report["culprits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["effect"]["own_step"].as_f64().unwrap())
        .collect();
    assert!((steps[0] - 0.5).abs() < 1e-9 && (steps[1] - 1.0).abs() < 1e-9, "{steps:?}");
}

#[test]
fn first_only_ends_at_the_first() {
    let plan = line("7.0 7.0 7.5 7.5 7.5 8.5 8.5 8.5");
    let told = hunt(plan).with(&["--first-only"]).finds("2").costs(17, 10);
    let rest = told.hunt.report["account"]["rest"].as_f64().unwrap();
    assert!((rest - 1.0).abs() < 1e-9, "what is left is not hidden");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn three_in_a_row_are_all_found() {
    hunt(line("7.0 7.5 8.0 8.5")).finds("1 2 3").costs(14, 8);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn three_far_apart_are_all_found() {
    let plan = line("7.0 7.0 7.5 7.5 7.5 7.5 8.1 8.1 8.1 8.1 8.1 8.8 8.8");
    hunt(plan).finds("2 6 11").costs(36, 18);
}

#[test]
fn one_mended_and_another_after_it() {
    // Git picks commit 4. At commit 4 the first regression is already mended.
    let plan = line("7.0 7.5 7.5 7.0 7.0 7.0 7.6 7.6 7.6");
    hunt(plan).finds("6").costs(15, 7);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn one_mended_on_the_way_is_found_first_and_the_later_one_is_named() {
    // Git picks commit 4, which is bad, and finds 3. Commit 5 mended 3: the hunt goes on after 5.
    let plan = line("7.0 7.0 7.0 7.5 7.5 7.0 7.0 7.6 7.6");
    hunt(plan).finds("7").costs(28, 13);
}

#[test]
fn one_mended_before_bad_is_no_regression() {
    hunt(line("7.0 7.5 7.5 7.0 7.0")).shows_no_regression().costs(10, 4);
}

#[test]
fn nobody_is_blamed_for_a_ramp() {
    let levels: Vec<String> =
        (0..=20).map(|i| format!("{:.3}", 7.0 + 0.03 * f64::from(i))).collect();
    let told = hunt(line(&levels.join(" "))).blames_nobody_for("7 14 1 8 15 6 13").costs(32, 16);
    assert_eq!(told.hunt.report["culprits"], serde_json::json!([]));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_beside_a_ramp_is_blamed_and_the_ramp_told() {
    let plan = line("7.0 7.03 7.06 7.09 7.12 7.15 7.65 7.68 7.71 7.74 7.77 7.80");
    let told = hunt(plan).finds("6").costs(22, 10);
    let own = told.hunt.report["culprit"]["effect"]["own_step"].as_f64().unwrap();
    assert!((own - 0.5).abs() < 1e-9, "{own}");
}

#[test]
fn nan_on_the_way_leaves_everyone_who_may_have_done_what_stayed() {
    let told = hunt(line("g g n n n n b b")).leaves("2 3 4 5 6").costs(19, 11);
    let notes = told.hunt.report["notes"].to_string();
    assert!(notes.contains("did not look for"), "{notes}");
}

#[test]
fn a_budget_that_ends_before_anything_is_found_leaves_what_is_in_question() {
    let row = hunt(line("g g g g b b b b")).oracle(|o| o.section("[statistics]\nmax_runs = 5"));
    row.saying(&["budget of 5 runs"]).leaves("4 5 6 7").costs(5, 3);
}

/// A second guard, on speed.
fn and_speed(oracle: Oracle) -> Oracle {
    let keys = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+) tokens'";
    let guard = "metric = \"speed.tg\"\nmax_decrease_percent = 5.0";
    oracle.measure("speed", "speed", keys).guard(guard)
}

#[test]
fn another_guard_broken_and_healed_on_the_way_hijacks_nothing() {
    let plan = line("g g g g g g b b").with(2, "tg = 50").with(3, "tg = 50").with(4, "tg = 50");
    // Both measures run at each endpoint, and only the target's measure in the search.
    hunt(plan).oracle(and_speed).finds("6").costs(19, 7);
}

#[test]
fn two_guards_broken_by_two_commits() {
    let mut plan = line("g g g b b b b b");
    for label in 6..8 {
        plan = plan.with(label, "tg = 50");
    }
    // Two of the runs measure the first guard at the second commit and at its parent.
    hunt(plan).oracle(and_speed).finds("3 6").costs(44, 12);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_failure_and_a_guard_broken_by_two_commits() {
    let plan = (3..8).fold(line("g g g g g g s s"), |plan, label| plan.with(label, "tg = 50"));
    let told = hunt(plan).oracle(and_speed).finds("3 6").costs(35, 13);
    assert_eq!(told.label(&told.hunt.report["culprit"]["commit"]), "6", "the failure");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_failure_and_a_guard_broken_by_one_commit() {
    let plan = (6..8).fold(line("g g g g g g s s"), |plan, label| plan.with(label, "tg = 50"));
    hunt(plan).oracle(and_speed).finds("6").costs(22, 7);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_guard_of_another_commit_does_not_hide_that_a_change_was_taken_back() {
    let plan = (12..24).fold(line(&["7.0"; 24].join(" ")), |plan, at| plan.with(at, "tg = 50"));
    let plan = plan
        .file(0, "kernels/a.conf", "ppl+a = 0\n")
        .file(0, "kernels/b.conf", "ppl+b = 0\n")
        .file(4, "kernels/a.conf", "ppl+a = 0.5\n")
        .file(15, "kernels/b.conf", "ppl+b = -0.5\n")
        .file(18, "kernels/c.conf", "ppl+c = 0.45\n");
    hunt(plan).oracle(and_speed).finds("12 18").costs(58, 25);
}
