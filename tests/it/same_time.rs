//! Two hunts over the same commits at the same time measure each shared commit once.

use std::collections::BTreeMap;

use rustix::process::Signal;

use crate::kit::{History, Oracle, PATIENCE, Snapshot, TestEnvironment, kill, line, wait_until};

/// How many builds or runs the store has of each commit, of those that two hunts may share.
fn shared(env: &TestEnvironment, history: &History, kind: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in env.records(kind) {
        if record["phase"] == "search" || record["phase"] == "endpoint" {
            let commit = record["commit"].as_str().unwrap();
            *counts.entry(history.label(commit).to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Starts two hunts, and returns what they said.
fn two_hunts(env: &TestEnvironment, args: &[&str]) -> [String; 2] {
    let first = env.spawn_product(args);
    assert!(wait_until(PATIENCE, || env.builds_of(0) > 0));
    let second = env.spawn_product(args);
    [first, second].map(|hunt| hunt.wait().expect(0).stdout)
}

#[test]
fn two_hunts_at_the_same_time_measure_each_commit_once() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g g b b b b b b b b").with_all("build_ms = 250");
    let history = plan.with_all("chunk_ms = 20").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let said = two_hunts(&env, &["start", "--good", "v1"]);
    env.assert_no_survivors();
    before.assert_unchanged(&env);
    let named = format!("First bad commit: {}", &history.commit(9)[..10]);
    assert!(said.iter().all(|said| said.contains(&named)), "{said:?}");
    let [builds, runs] = ["builds", "runs"].map(|kind| shared(&env, &history, kind));
    let inside = |count: &BTreeMap<String, usize>| {
        let is_end = |label: &str| label == "0" || label == "16";
        count.iter().filter(|(label, _)| !is_end(label)).map(|(_, count)| *count).max().unwrap()
    };
    assert_eq!((inside(&builds), inside(&runs)), (1, 1), "{builds:?} {runs:?}\n{}", said[1]);
    // The bad end is built once more by the hunt that took the other one's result for it.
    assert_eq!(builds["0"], 1, "{builds:?}");
    assert!(builds["16"] <= 2, "{builds:?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_hunt_measures_itself_what_a_stopped_hunt_had_begun() {
    let env = TestEnvironment::new();
    let history = line("g g g b b b").with_all("build_ms = 1500").build(&env);
    Oracle::new(&env).write(&env);
    let first = env.spawn_product(&["start", "--good", "v1"]);
    assert!(wait_until(PATIENCE, || env.builds_of(0) > 0));
    let second = env.spawn_product(&["start", "--good", "v1"]);
    let waits = || env.run(&["status"]).stdout.contains("which hunt ");
    assert!(wait_until(PATIENCE, waits), "{}", env.run(&["status"]).stdout);
    kill(first.pid(), Signal::KILL);
    first.wait();
    let said = second.wait().expect(0).stdout;
    assert!(said.contains(&history.commit(3)[..10]), "{said}");
    env.assert_no_survivors();
}
