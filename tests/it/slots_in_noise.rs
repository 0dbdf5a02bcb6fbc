//! Hunts that measure in several slots at the same time, with values that vary from run to run.

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{
    Hunt, Oracle, PATIENCE, Plan, TestEnvironment, events, kill, line, most_at_once, wait_until,
};

/// A line of 17 commits in noise. The ninth commit makes a step of four standard deviations.
fn in_noise() -> Plan {
    let levels: Vec<&str> = (0..=16).map(|at| if at < 9 { "7.0" } else { "7.8" }).collect();
    let plan = line(&levels.join(" ")).with_all("noise = 0.2").with_all("seed = 3");
    plan.with_all("chunk_ms = 60").with_all("build_ms = 100")
}

/// Hunts with so many slots in noise, by the posterior.
fn hunt_in_noise(env: &TestEnvironment, slots: &str) -> Hunt {
    env.start(&["--good", "v1", "--search", "posterior", "--slots", slots])
}

/// Whether a hunt said that its search in noise uses one slot.
fn says_one_slot(hunt: &Hunt) -> bool {
    let words = "values vary from run to run, so commits are measured one after the other, in one";
    let mut notes = events(hunt, "note").into_iter();
    notes.any(|note| note["text"].as_str().unwrap().starts_with(words))
}

#[test]
#[ignore = "long: scripts/test --long"]
fn further_runs_of_an_end_in_noise_need_no_second_build() {
    let env = TestEnvironment::new();
    let history = in_noise().build(&env);
    Oracle::new(&env).write(&env);
    let hunt = hunt_in_noise(&env, "2");
    let said = &hunt.output.stderr;
    for label in [0, 16] {
        let of_the_end = |kind: &str| {
            let records = env.records(kind).into_iter();
            let is_of_end = |record: &Value| {
                record["phase"] == "endpoint" && record["commit"] == history.commit(label)
            };
            records.filter(is_of_end).count()
        };
        assert!(of_the_end("runs") > 2, "{label}: more runs than were made at first\n{said}");
        assert_eq!(of_the_end("builds"), 1, "{label}: {said}");
    }
}

#[test]
fn other_slots_work_at_the_next_commits_of_a_search_in_noise() {
    let env = TestEnvironment::new();
    let history = in_noise().build(&env);
    Oracle::new(&env).write(&env);
    let hunt = hunt_in_noise(&env, "3").names(&history, 9);
    let said = &hunt.output.stderr;
    assert!(!says_one_slot(&hunt), "{said}");
    let in_search = |kind: &str| {
        let events = events(&hunt, kind).into_iter();
        events.filter(|event| event["phase"] == "search").collect::<Vec<Value>>()
    };
    assert!(!in_search("took-over").is_empty(), "{:#?}\n{said}", in_search("ahead"));
    // A run that was made ahead and that the search took is in its journal once.
    let ahead = in_search("ahead");
    let ahead: Vec<&Value> = ahead.iter().flat_map(|one| one["runs"].as_array().unwrap()).collect();
    let taken = in_search("run");
    let times = |run: &Value| taken.iter().filter(|one| one["attempt"] == run[0]).count();
    assert!(ahead.iter().any(|&run| times(run) == 1), "{ahead:?}\n{said}");
    assert!(ahead.iter().all(|&run| times(run) <= 1), "{ahead:?}\n{said}");
    env.assert_no_survivors();
}

/// Runs in noise take turns. Builds go on beside them, unless these take turns too.
fn take_turns_in_noise(keys: &str, is_one_slot: bool) {
    let env = TestEnvironment::new();
    in_noise().build(&env);
    Oracle::new(&env).ppl(keys).write(&env);
    let hunt = hunt_in_noise(&env, "2");
    assert_eq!(says_one_slot(&hunt), is_one_slot, "{keys}: {}", hunt.output.stderr);
    let ahead = events(&hunt, "ahead").into_iter();
    let ahead: Vec<Value> = ahead.filter(|event| event["phase"] == "search").collect();
    assert_eq!(ahead.is_empty(), is_one_slot, "{keys}: {ahead:#?}");
    assert!(ahead.iter().all(|event| event["runs"].as_array().is_none_or(Vec::is_empty)));
    assert_eq!(most_at_once(&env.spans("runs")), 1, "{keys}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn runs_in_noise_that_take_turns_have_only_builds_beside_them() {
    take_turns_in_noise("exclusive = \"runs\"", false);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn where_builds_take_turns_too_a_search_in_noise_has_one_slot() {
    take_turns_in_noise("exclusive = true", true);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_search_in_noise_with_slots_goes_on_after_a_kill() {
    let env = TestEnvironment::new();
    let history = in_noise().build(&env);
    Oracle::new(&env).write(&env);
    let words = ["start", "--good", "v1", "--search", "posterior", "--slots", "3"];
    let running = env.spawn_product(&words);
    // The ends need about ten runs, and the check of the slots one.
    assert!(wait_until(PATIENCE, || env.runs().len() > 14));
    kill(running.pid(), Signal::KILL);
    running.wait();
    env.assert_no_survivors();
    env.resume().names(&history, 9);
}
