//! A bad endpoint that fails where the good one does not: the failure is hunted.

use crate::kit::{History, Hunt, Oracle, TestEnvironment, line};

fn hunt(words: &str, timeout: &str) -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::new();
    let history = line(words).build(&env);
    Oracle::new(&env).timeout(timeout).write(&env);
    let hunt = env.hunt();
    (env, history, hunt)
}

#[test]
fn nan_is_bad_and_a_word_in_json() {
    let (_env, history, hunt) = hunt("g g n n", "60s");
    let hunt = hunt.names(&history, 2);
    let samples = hunt.commit(&history, 2)["samples"].as_array().unwrap();
    assert!(samples.iter().any(|s| s["value"] == "nan"), "{samples:#?}");
}

#[test]
fn a_crash_is_hunted_and_announced() {
    let (_env, history, hunt) = hunt("g g g s s", "60s");
    let hunt = hunt.names(&history, 3);
    hunt.output.says(&["signal 11"]);
}

#[test]
fn an_exit_code_is_hunted() {
    let (_env, history, hunt) = hunt("g g e e", "60s");
    hunt.names(&history, 2);
}

#[test]
fn a_hang_is_hunted() {
    let (env, history, hunt) = hunt("g h h", "2s");
    hunt.names(&history, 1);
    env.assert_no_survivors();
}

#[test]
fn an_endpoint_that_does_not_build_is_hunted() {
    let (_env, history, hunt) = hunt("g g g x x", "60s");
    hunt.names(&history, 3).output.says(&["build"]);
}

#[test]
fn a_build_that_makes_no_program_is_the_commits_fault() {
    let env = TestEnvironment::new();
    let history = line("g g g g").with(2, "program = none").with(3, "program = none").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
}

#[test]
fn other_failures_on_the_way_are_untestable() {
    for words in ["g g e s s", "g g x s s", "g g i s s"] {
        let (_env, history, hunt) = hunt(words, "60s");
        let hunt = hunt.expect(3, "candidates");
        assert_eq!(hunt.candidates(&history), ["2", "3"], "{words}");
    }
}

#[test]
fn what_builds_is_good_where_a_broken_build_is_hunted() {
    let (_env, history, hunt) = hunt("g g s x x", "60s");
    hunt.names(&history, 3);
}

#[test]
fn a_failure_hunted_does_not_look_at_the_figures() {
    // 7.5 would break the guard, but what is hunted is the crash.
    let (_env, history, hunt) = hunt("g b b s s", "60s");
    hunt.names(&history, 3);
}

#[test]
fn a_figure_hunted_does_not_blame_crashes_and_hangs() {
    let (env, history, hunt) = hunt("g s g b b", "60s");
    hunt.names(&history, 3);
    env.assert_no_survivors();
    let env = TestEnvironment::new();
    let history = line("g g b").with(1, "fate = hang-hard").build(&env);
    Oracle::new(&env).timeout("2s").write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    env.assert_no_survivors();
}

#[test]
fn a_good_endpoint_that_fails_cannot_be_measured() {
    for words in ["s g b", "x g b", "n g b", "s s s", "x x x"] {
        let (_env, _history, hunt) = hunt(words, "60s");
        let hunt = hunt.expect(4, "endpoint-unmeasurable");
        assert!(hunt.report["culprit"].is_null());
    }
}

#[test]
fn a_process_with_a_session_of_its_own_does_not_outlive_its_run() {
    let env = TestEnvironment::new();
    let history = line("g g b").with_all("orphan = yes").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
    env.assert_no_survivors();
}
