//! A failure that comes and goes at the bad end, in the test without the named commit.

use crate::kit::{History, Hunt, Oracle, TestEnvironment, line};

/// Commit 3 makes each run crash, 5 mends that in another file, and 6 makes runs crash by turns.
/// The bad end has the same turns, and its first two runs crash.
fn hunt_with(turns: &str) -> (Hunt, History) {
    let env = TestEnvironment::localizing();
    let plan = line("7.0 7.0 7.0 7.0 7.0 7.0 7.0 7.0")
        // The folder is not new in commit 3.
        .file(1, "kernels/0.conf", "fate = well\n")
        .file(3, "kernels/a.conf", "fate = crash:11\n")
        .file(5, "kernels/b.conf", "fate = well\n")
        .file(6, "kernels/c.conf", &format!("fate = crash:11 crash:11 {turns}\n"));
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", "v1", "--bad", "HEAD", "--allow-failure-hunt"]);
    (hunt, history)
}

/// Hunts, and fails unless commit 6 is a candidate because the bad end fails without 3 too.
#[track_caller]
fn leaves_6(turns: &str) {
    let (hunt, history) = hunt_with(turns);
    let hunt = hunt.expect(3, "candidates");
    assert!(hunt.report["culprit"].is_null());
    assert!(hunt.candidates(&history).contains(&"6".to_owned()), "{}", hunt.output.stdout);
    assert_eq!(hunt.report["cause"]["revert"], "still-bad", "{}", hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_bad_end_that_fails_in_some_runs_without_a_commit_does_not_need_it() {
    leaves_6("well crash:11 well well crash:11 well well");
}

#[test]
fn two_runs_that_work_do_not_show_that_the_failure_is_gone() {
    leaves_6("well well well crash:11 well well crash:11");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_rate_that_stays_open_is_no_sign_that_the_failure_is_gone() {
    // 4 of 24 runs fail: more than the machine makes fail, and less than half.
    let seldom = " crash:11 well well well well".repeat(4);
    leaves_6(&format!("well{seldom}{}", " well".repeat(8)));
}

#[test]
fn a_failure_that_repeats_is_gone_after_seven_runs() {
    let env = TestEnvironment::localizing();
    let plan = line("7.0 7.0 7.0 7.0 7.0 7.0").file(3, "kernels/a.conf", "fate = crash:11\n");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", "v1", "--bad", "HEAD", "--allow-failure-hunt"]);
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["commit"], history.commit("3"));
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    let trials = hunt.report["cause"]["trials"].as_array().unwrap();
    let reverted = trials.iter().find(|trial| trial["of"] == "reverted").unwrap();
    assert_eq!(reverted["attempts"].as_array().unwrap().len(), 7);
}
