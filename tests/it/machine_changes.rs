//! A machine that changes in the middle of a hunt: from some run on, it gives other values or is
//! slower at every commit.

use std::fs;

use crate::kit::{Clock, Hunt, Oracle, PATIENCE, Plan, TestEnvironment, line, wait_until};

/// The number of commits; the first bad one is in the middle.
const COMMITS: usize = 33;
const FIRST_BAD: usize = 16;

/// A line with one step, on a machine that adds so much to ppl after so many runs.
fn stepped(jump: &str) -> Plan {
    let words: Vec<&str> =
        (0..COMMITS).map(|commit| if commit < FIRST_BAD { "g" } else { "b" }).collect();
    line(&words.join(" ")).with_all(&format!("jump = {jump}"))
}

/// Hunts on machines that change like this.
fn moves_by(jumps: &[&str]) {
    let mut left_out = 0;
    for jump in jumps {
        let env = TestEnvironment::new();
        let history = stepped(jump).build(&env);
        Oracle::new(&env).write(&env);
        let hunt = env.hunt().expect(0, "culprit").names(&history, FIRST_BAD);
        let notes = hunt.report["notes"].to_string();
        assert!(notes.contains("the machine changed: ppl of the good end"), "{jump}: {notes}");
        let [good, bad] = ["baseline", "bad"].map(|end| hunt.report["guards"][0][end].as_f64());
        let moved: f64 = jump.split_once(' ').unwrap().0.parse().unwrap();
        assert_eq!([good, bad], [Some(7.0 + moved), Some(7.5 + moved)], "{jump}");
        // The figure of the search leaves out the commits that only the first search asked about.
        let page = hunt.file("report.html");
        let (_, narrowing) = page.split_once("How the range narrowed").expect("the figure");
        let narrowing = narrowing.split_once("</svg>").unwrap().0;
        for commit in hunt.report["commits"].as_array().unwrap() {
            let is_left_out = commit["verdict"] == "unknown";
            let name = &commit["commit"].as_str().unwrap()[..10];
            assert!(!is_left_out || !narrowing.contains(name), "{jump}: {name}");
            left_out += usize::from(is_left_out);
        }
        let apart = &hunt.commit(&history, 0)["apart"];
        assert_eq!(apart[0]["why"], "machine-changed", "{apart}");
        assert!(apart[0]["log"].as_str().is_some_and(|log| log.contains("endpoint")), "{apart}");
    }
    assert!(left_out > 0);
}

// The four runs of the endpoints are the first ones, so the search begins with the fifth.

#[test]
#[ignore = "long: scripts/test --long"]
fn the_first_bad_commit_is_found_whichever_way_an_exact_engine_moves() {
    moves_by(&["0.75 5", "-0.75 6"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_first_bad_commit_is_found_whenever_an_exact_engine_moves() {
    moves_by(&["0.75 7", "-0.75 5"]);
}

/// How often the good end is run.
fn runs_of_the_good_end(plan: Plan) -> usize {
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().expect(0, "culprit").names(&history, FIRST_BAD);
    env.runs_of(0)
}

#[test]
fn a_machine_that_stays_as_it_is_costs_nothing() {
    // The endpoint's runs and none more: no claim failed.
    assert_eq!(runs_of_the_good_end(stepped("0 0")), 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_machine_that_changes_costs_more_runs_of_the_good_end() {
    let changed = runs_of_the_good_end(stepped("0.75 6"));
    assert!(changed >= 2 + 3, "{changed}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_share_of_the_speed_that_another_program_takes_is_no_commit() {
    let speed = |commit| if commit < FIRST_BAD { "tg = 100" } else { "tg = 92" };
    let mut plan = stepped("0.1 12").with_all("noise = 0.005").with_all("seed = 11");
    for commit in 0..COMMITS {
        plan = plan.with(commit, speed(commit));
    }
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    Oracle::new(&env).only_speed().write_to(&env.repo().join("oracle.toml"));
    let output = env.run_in(&env.repo(), &["start", "--good", "v1", "--bad", "main"]);
    let hunt = Hunt::of(&env, output).expect(0, "culprit").names(&history, FIRST_BAD);
    let account = hunt.report["account"].to_string();
    assert!(
        account.contains("\"explained\":true") || hunt.report["unexplained"].is_null(),
        "{account}"
    );
}

#[test]
fn a_hunt_that_was_stopped_after_the_change_goes_on_without_the_runs_from_before() {
    let env = TestEnvironment::new();
    let history = stepped("0.75 6").build(&env);
    Oracle::new(&env).write(&env);
    // The change is seen after 29 runs; the second search needs more than three.
    env.run(&["start", "--good", "v1", "--max-runs", "32"]).expect(3);
    let report = env.run(&["report", "--format", "json"]).stdout;
    assert!(report.contains("the machine changed"), "{report}");
    env.run(&["resume", "--max-runs", "60"]).expect(0).says(&[&history.commit(FIRST_BAD)[..10]]);
    let hunt = env.run(&["report", "--format", "json"]).stdout;
    assert_eq!(hunt.matches("the machine changed").count(), 1, "{hunt}");
}

/// Hunts; while the engine runs for the first time after so many runs, the clock goes forward.
fn hunt_with_a_long_run(
    plan: Plan,
    runs: usize,
    minutes: i64,
) -> (TestEnvironment, crate::kit::History, Hunt) {
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    let clock = Clock::new(&env);
    let [log, go, waits, script] =
        ["world/starts.log", "go", "waits", "wait.sh"].map(|name| env.path(name));
    let text = format!(
        "test $(grep -c ^run {log}) -ne {runs} || touch {waits}\n\
         test ! -e {waits} || until test -e {go}; do sleep 0.05; done\n\
         exec \"$@\"\n",
        log = log.display(),
        waits = waits.display(),
        go = go.display(),
    );
    fs::write(&script, text).unwrap();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    Oracle::new(&env).ppl_command(&format!("sh {} {run}", script.display())).write(&env);
    let mut command = env.command(TestEnvironment::product(), &env.repo());
    command.args(["start", "--good", "v1", "--no-localize"]).envs(clock.variables());
    let running = env.spawn(command);
    assert!(wait_until(PATIENCE, || waits.exists()));
    clock.advance(60 * minutes);
    fs::write(go, "").unwrap();
    let hunt = Hunt::of(&env, running.wait());
    (env, history, hunt)
}

/// The endpoints take 4 runs, the search 5. The run after so many of them takes so many minutes.
/// `looks`: later runs of the good end.
fn with_a_long_run(runs: usize, minutes: i64, looks: usize) {
    let (env, history, hunt) = hunt_with_a_long_run(stepped("0 0"), runs, minutes);
    hunt.names(&history, FIRST_BAD);
    assert_eq!(env.runs_of(0), 2 + looks, "{minutes} minutes after {runs} runs");
    assert_eq!(env.builds_of(0), 1);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_a_long_hunt_the_good_end_is_run_once_more_and_never_built() {
    with_a_long_run(8, 20, 1);
    with_a_long_run(8, 5, 0);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_a_hunt_whose_first_run_is_long_the_good_end_is_run_once_more() {
    with_a_long_run(4, 50, 1);
    with_a_long_run(4, 70, 1);
}

/// Values move after the start of a run that takes so many minutes.
fn moved_in_a_long_search(jump: &str, runs: usize, minutes: i64) {
    let (_env, history, hunt) = hunt_with_a_long_run(stepped(jump), runs, minutes);
    let hunt = hunt.names(&history, FIRST_BAD);
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("the machine changed: ppl of the good end"), "{jump}: {notes}");
    let journal = hunt.file("journal.jsonl");
    let (before, _) = journal.split_once("\"machine-changed\"").unwrap();
    assert!(!before.contains("\"phase\":\"confirm\""), "{jump}: {before}");
}

#[test]
fn values_that_moved_in_a_long_search_are_seen_before_a_claim_is_tested() {
    moved_in_a_long_search("0.75 5", 4, 70);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn values_that_moved_after_a_long_search_are_seen_before_a_claim_is_tested() {
    moved_in_a_long_search("-0.75 7", 8, 20);
}
