//! Recipes that change along the history, path filters that are right, and path filters that hide
//! the first bad commit.

use super::hunt;
use crate::kit::{Oracle, Plan, line};

const RUN: &str = "run ppl src={src} cache={cache} out={out}";

fn older_recipe(oracle: Oracle, program: &str, words: &str) -> Oracle {
    oracle.section(&format!(
        "[[override]]\nwhen = {{ missing = \"tools/README\" }}\n\
         measure.ppl.command = \"{{build}}/{program} {RUN}{words}\""
    ))
}

#[test]
fn the_recipe_changes_elsewhere() {
    let mut plan = line("g g g g b b").file(3, "tools/README", "new\n");
    for old in 0..3 {
        plan = plan.with(old, "program = perplexity");
    }
    let row = hunt(plan).oracle(|oracle| older_recipe(oracle, "perplexity", ""));
    row.finds("4").costs(13, 7);
}

#[test]
fn the_recipe_changes_at_the_step_and_nothing_can_be_compared() {
    let mut plan = line("g g g b b b").file(3, "tools/README", "new\n");
    for old in 0..3 {
        plan = plan.with(old, "program = perplexity");
    }
    let row = hunt(plan).oracle(|oracle| older_recipe(oracle, "perplexity", ""));
    let row = row.saying(&["the recipe changes at", "of an earlier commit"]).counting(23, 9);
    row.leaves("1 2 3").costs(15, 9);
}

#[test]
fn the_recipe_changes_at_the_step_but_runs_on_both_sides() {
    let plan = line("g g g b b b").file(3, "tools/README", "new\n");
    let row = hunt(plan).oracle(|oracle| older_recipe(oracle, "engine", " --old"));
    row.finds("3").costs(17, 7);
}

/// Commit 3 is bad because of `engine.conf`; commits 2 and 5 change kernels without effect.
fn filtered() -> Plan {
    line("g g g b b b b").file(0, "kernels/note", "# 0\n").file(2, "kernels/note", "# 2\n").file(
        5,
        "kernels/note",
        "# 5\n",
    )
}

#[test]
fn a_right_filter_saves_runs() {
    let keys = "ignore = [\"kernels/**\", \"version\"]";
    hunt(filtered()).oracle(|oracle| oracle.build(keys)).finds("3").costs(15, 7);
    hunt(filtered()).with(&["--", "engine.conf"]).finds("3").costs(15, 7);
}

#[test]
fn a_filter_that_hid_the_answer_is_dropped_and_the_path_named() {
    let told =
        hunt(filtered()).with(&["--", "kernels"]).saying(&["engine.conf"]).finds("3").costs(21, 9);
    assert!(told.hunt.file("report.md").contains("engine.conf"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_filter_of_the_configuration_that_hid_the_answer_is_dropped_too() {
    let row = hunt(filtered()).oracle(|oracle| oracle.build("paths = [\"kernels/**\"]"));
    row.saying(&["engine.conf"]).finds("3").costs(21, 9);
}

#[test]
fn a_filter_that_leaves_no_commit_is_refused() {
    let row = hunt(filtered()).with(&["--", "no/such/path"]);
    row.gets_refused(&["no/such/path"]).costs(0, 0);
}
