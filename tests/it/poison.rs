//! A build folder that is damaged during a hunt never makes a wrong first bad commit.

use crate::kit::{Hunt, Oracle, TestEnvironment, line};

/// A hunt in which one commit's build folder is altered before its first run.
fn hunt_with(poisoned: &str, value: &str) -> (Hunt, String, TestEnvironment) {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    let before = format!("before = [\"{{build}}/engine poison {poisoned} {value}\"]");
    Oracle::new(&env).ppl(&before).write(&env);
    let hunt = env.hunt();
    let named = hunt.report["culprit"]["commit"].as_str();
    let named = named.map(|sha| history.label(sha).to_owned()).unwrap_or_default();
    (hunt, named, env)
}

/// The build of this good commit is altered, and its first run is bad.
fn a_good_commit_looks_bad(poisoned: &str) {
    let (hunt, named, env) = hunt_with(poisoned, "7.9");
    assert!(env.path("world/count-poison").exists() || env.runs_of(poisoned) == 0);
    match hunt.output.code() {
        Some(0) => assert_eq!(named, "4", "{}", hunt.output.stderr),
        Some(3) => assert_eq!(named, ""),
        code => panic!("{code:?}: {}", hunt.output.stderr),
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_good_commit_that_looked_bad_is_cleared_by_its_confirmation() {
    a_good_commit_looks_bad("3");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_earlier_good_commit_that_looked_bad_is_cleared_too() {
    a_good_commit_looks_bad("2");
}

/// The build of this bad commit is altered, and its first run is good.
fn a_bad_commit_looks_good(poisoned: &str) {
    let (hunt, named, _env) = hunt_with(poisoned, "7.0");
    match hunt.output.code() {
        Some(0) => assert_eq!(named, "4", "{}", hunt.output.stderr),
        Some(3) => assert_eq!(named, ""),
        code => panic!("{code:?}: {}", hunt.output.stderr),
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_commit_that_looked_good_does_not_shift_the_blame() {
    a_bad_commit_looks_good("4");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_later_bad_commit_that_looked_good_does_not_shift_the_blame_either() {
    a_bad_commit_looks_good("5");
}

#[test]
fn confirm_reuse_is_said_in_the_report() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).build("confirm = \"reuse\"").write(&env);
    let hunt = env.hunt().names(&history, 2);
    assert!(hunt.file("report.md").contains("reuse"), "{}", hunt.file("report.md"));
}
