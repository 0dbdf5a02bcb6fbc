//! Slots have different paths: engines and builds that hold the path, and runs that are compared
//! with those of another path.

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, PATIENCE, TestEnvironment, kill, line, wait_until};
use crate::slots::events;

/// The hunt of an engine whose perplexity depends on the number of the slot's folder, by 1.
fn depends_on_its_path(bases: [u32; 2], slots: &str) -> (TestEnvironment, History, Hunt) {
    let engine = |base: u32| {
        format!(
            "n=${{1#*/slots/}}; n=${{n%%/*}}; n=${{n%.*}}\n\
             echo \"Final estimate: PPL = $(({base} + n)).0 +/- 0.1\"\n"
        )
    };
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").program(0, "run.sh", &engine(bases[0])).program(
        5,
        "run.sh",
        &engine(bases[1]),
    );
    let history = plan.build(&env);
    Oracle::new(&env).ppl_command("sh {src}/run.sh {build}").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", slots]);
    (env, history, hunt)
}

/// The perplexity depends on the slot.
fn other_values_in_slots(slots: &str) {
    let (_env, history, hunt) = depends_on_its_path([7, 9], slots);
    assert_eq!(events(&hunt, "one-slot").len(), 1, "{}", hunt.output.stderr);
    assert!(hunt.output.stderr.contains("begins again with one slot"));
    hunt.names(&history, 5);
    let (_env, _, hunt) = depends_on_its_path([7, 7], slots);
    let hunt = hunt.expect(4, "no-regression");
    let commits = hunt.report["commits"].as_array().unwrap().iter();
    let samples = commits.flat_map(|commit| commit["samples"].as_array().unwrap());
    let mut values = samples.filter(|one| one["metric"] == "ppl").map(|one| &one["value"]);
    assert!(values.all(|value| *value == 7.0), "{:#}", hunt.report["commits"]);
}

#[test]
fn slots_that_give_other_values_are_not_used() {
    other_values_in_slots("3");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_slots_that_give_other_values_are_not_used() {
    other_values_in_slots("2");
}

/// That no value differed between slots, and that values of two slots were really compared.
#[track_caller]
fn uses_its_slots(env: &TestEnvironment, history: &History, hunt: &Hunt) {
    let said = &hunt.output.stderr;
    assert!(events(hunt, "one-slot").is_empty() && !said.contains("with one slot"), "{said}");
    assert!(hunt.report["ahead"]["used"]["runs"].as_u64().unwrap() > 0, "{said}");
    let slot = |run: &Value| run["slot"].as_str().unwrap().to_owned();
    let runs = env.records("runs").into_iter().filter(|run| run["commit"] == history.commit("0"));
    let (checks, own): (Vec<Value>, Vec<Value>) = runs.partition(|run| run["phase"] == "control");
    assert!(!checks.is_empty(), "{said}");
    for check in &checks {
        assert!(own.iter().any(|run| slot(run) != slot(check)), "{}\n{said}", slot(check));
    }
}

#[test]
fn runs_of_an_earlier_hunt_are_compared_with_those_of_another_slot() {
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g b b b b").with_all("chunk_ms = 20");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let earlier = ["--good", "v1", "--bad", history.commit("3")];
    env.start(&earlier).expect(4, "no-regression");
    let hunt = env.start(&["--good", "v1", "--slots", "2"]).names(&history, 8);
    uses_its_slots(&env, &history, &hunt);
}

#[test]
fn a_hunt_that_was_killed_while_slots_were_compared_uses_them_all() {
    let env = TestEnvironment::new();
    // The driver runs the good end twice. The second slot runs the bad end, then the good end.
    let history = line("g g g g g g g g b b b b").with_all("chunk_ms = 200").build(&env);
    Oracle::new(&env).write(&env);
    let running = env.spawn_product(&["start", "--good", "v1", "--slots", "2"]);
    assert!(wait_until(PATIENCE, || env.runs_of(0) >= 3));
    kill(running.pid(), Signal::KILL);
    running.wait();
    env.assert_no_survivors();
    let hunt = env.resume().names(&history, 8);
    uses_its_slots(&env, &history, &hunt);
}

/// The hunt of an engine that keeps the path of its build folder in a file.
fn holds_its_path(slots: &str) -> (TestEnvironment, Hunt) {
    let build = "printf 'built in %s, %s\\n' \"$2\" \"$1\" > \"$2/place\"\n";
    let run = |ppl: &str| {
        format!("read -r place < \"$1/place\"\necho \"Final estimate: PPL = {ppl} +/- 0.1\"\n")
    };
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").program(0, "build.sh", build);
    let plan = plan.program(0, "run.sh", &run("7.0")).program(5, "run.sh", &run("9.0"));
    let history = plan.build(&env);
    let oracle = Oracle::new(&env).build_command("sh {src}/build.sh {src} {build}");
    oracle.ppl_command("sh {src}/run.sh {build}").write(&env);
    let hunt = env.start(&["--good", "v1", "--slots", slots]).names(&history, 5);
    (env, hunt)
}

#[test]
fn builds_that_hold_the_path_of_their_slot_repeat() {
    let confirmed = |hunt: &Hunt| -> usize {
        events(hunt, "build").iter().filter(|event| event["phase"] == "confirm").count()
    };
    let (_alone, alone) = holds_its_path("1");
    let (_env, hunt) = holds_its_path("2");
    let said = &hunt.output.stderr;
    assert!(hunt.report["ahead"]["used"]["runs"].as_u64().unwrap() > 0, "{said}");
    assert_eq!(confirmed(&hunt), confirmed(&alone), "{said}");
    assert_eq!(hunt.report["totals"]["builds"], alone.report["totals"]["builds"], "{said}");
    // The file with the path is not among those that the culprit changes.
    let unlike = |hunt: &Hunt| hunt.report["culprit"]["ran"]["unlike"].clone();
    assert_eq!(unlike(&hunt), unlike(&alone), "{said}");
    assert_eq!(unlike(&hunt).as_array().map(Vec::len), Some(1), "{said}");
}
