//! Interrupted hunts: the same answer after `resume`, and no process lives on. `faults` kills
//! processes at random moments.

use rustix::process::Signal;

use crate::kit::{History, Oracle, PATIENCE, Snapshot, TestEnvironment, kill, line, wait_until};

/// A history with runs and builds long enough for a kill to hit.
fn slow() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let plan = line("g g g g g b b b").with_all("chunk_ms = 15").with_all("build_ms = 40");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

const CULPRIT: &str = "5";
/// Runs of the hunt: two at each endpoint, three in the search, eight to confirm.
const RUNS: usize = 15;

/// Interrupts a hunt during a run of a searched commit.
fn interrupted(signal: Signal, whole_group: bool) {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    let pid = running.pid();
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    kill(if whole_group { -pid } else { pid }, signal);
    let output = running.wait().expect(130).says(&["resume"]);
    env.assert_no_survivors();
    before.assert_unchanged(&env);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    let killed = env.runs().len();
    assert_eq!(killed, 5, "nothing was begun after the signal");
    env.resume().names(&history, 3);
    before.assert_unchanged(&env);
}

#[test]
fn ctrl_c_ends_the_whole_hunt_and_it_can_be_resumed() {
    interrupted(Signal::INT, true);
}

#[test]
fn a_signal_to_the_driver_alone_ends_the_whole_hunt() {
    interrupted(Signal::INT, false);
    interrupted(Signal::TERM, false);
}

#[test]
fn an_engine_deaf_to_term_does_not_outlive_ctrl_c() {
    let env = TestEnvironment::new();
    line("g g g b b").with(2, "fate = hang-hard").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 1));
    kill(-running.pid(), Signal::INT);
    running.wait().expect(130);
    env.assert_no_survivors();
}

#[test]
fn ctrl_c_within_an_endpoint_or_a_build_is_resumable_too() {
    for starts in [2, 3] {
        let (env, history) = slow();
        let running = env.spawn_product(&["start", "--good", "v1"]);
        assert!(wait_until(PATIENCE, || env.starts().len() >= starts));
        kill(-running.pid(), Signal::INT);
        running.wait().expect(130);
        env.assert_no_survivors();
        env.resume().names(&history, CULPRIT);
        assert!(env.runs().len() <= RUNS + 1, "{:?}", env.runs());
    }
}

#[test]
fn two_drivers_do_not_share_a_hunt() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    let second = env.run(&["resume"]);
    assert_eq!(second.code(), Some(2), "{}", second.stderr);
    env.run(&["status"]).expect(0);
    running.wait().expect(0);
    env.resume().names(&history, 3);
}

#[test]
fn stop_ends_a_hunt_from_outside() {
    let env = TestEnvironment::new();
    let history = line("g g g b b").with_all("chunk_ms = 150").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.runs().len() >= 5));
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
    env.assert_no_survivors();
    env.resume().names(&history, 3);
}
