//! Ways in which an innocent commit could be named, and is not.

use crate::kit::{Oracle, TestEnvironment, line};

#[test]
fn a_crash_that_comes_and_goes_is_never_pinned_on_the_commit_where_it_showed() {
    let env = TestEnvironment::new();
    // Commit 3 brings a race. In the search 3 and 4 happen not to crash, so git names 5.
    let history = line("g g g g g g g g")
        .with(3, "fate = well crash:11")
        .with(4, "fate = well crash:11 crash:11 well crash:11 crash:11")
        .with(5, "fate = crash:11")
        .with(6, "fate = crash:11")
        .with(7, "fate = crash:11")
        .build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert!(hunt.candidates(&history).contains(&"3".to_owned()), "{:?}", hunt.report["summary"]);
}

#[test]
fn a_crash_is_confirmed_by_five_runs_against_five() {
    let env = TestEnvironment::new();
    let history = line("g g g s s s").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 3);
    assert_eq!(hunt.report["culprit"]["basis"], "sequential");
    assert!(env.runs_of(3) >= 5 && env.runs_of(2) >= 5, "{:?}", env.runs());
}

#[test]
fn a_build_that_breaks_in_another_way_is_another_failure() {
    let env = TestEnvironment::new();
    let history = line("g g g x x g x x")
        .with(3, "build_says = no such header")
        .with(4, "build_says = no such header")
        .build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 6);
}

#[test]
fn nan_on_the_way_is_named_and_what_came_after_is_said_to_be_open() {
    let env = TestEnvironment::new();
    let history = line("g g n n n n b b").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 2);
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("was not looked for"), "{notes}");
}

#[test]
fn what_was_confirmed_stands_when_the_budget_ends() {
    let plan = line("7.0 7.0 7.5 7.5 7.5 7.5 8.5 8.5");
    let first = TestEnvironment::new();
    let history = plan.clone().build(&first);
    Oracle::new(&first).write(&first);
    let alone = first.start(&["--good", "v1", "--first-only"]).names(&history, 2);
    let runs = alone.total("runs");

    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).section(&format!("[statistics]\nmax_runs = {runs}")).write(&env);
    let hunt = env.hunt().names(&history, 2);
    assert!(hunt.report["notes"].to_string().contains("budget"), "{}", hunt.report["notes"]);
}
