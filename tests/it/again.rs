//! What has been measured is not measured again; a verdict is derived anew.

use crate::kit::{Oracle, TestEnvironment, line};

fn tolerance(limit: f64) -> String {
    format!("metric = \"ppl\"\nmax_increase = {limit:?}")
}

#[test]
fn the_same_hunt_again_runs_nothing() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    Oracle::new(&env).write(&env);
    let first = env.hunt().names(&history, 4);
    let starts = env.starts().len();

    let second = env.hunt().names(&history, 4);
    assert_ne!(first.id(), second.id());
    assert_eq!(env.starts().len(), starts, "{:?}", env.starts());
    assert_eq!([second.total("runs"), second.total("builds")], [0.0, 0.0]);
    let samples = second.commit(&history, 4)["samples"].as_array().unwrap();
    assert!(!samples.is_empty() && samples.iter().all(|s| s["reused"] == true), "{samples:#?}");
}

#[test]
fn a_finished_hunt_resumed_says_its_answer_again() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
    let starts = env.starts().len();
    env.resume().names(&history, 2);
    assert_eq!(env.starts().len(), starts);
}

#[test]
fn a_changed_tolerance_judges_again_without_a_run() {
    let env = TestEnvironment::new();
    let history = line("g g g g b b b b").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 4);
    let starts = env.starts().len();

    Oracle::new(&env).only_guard(&tolerance(0.3)).write(&env);
    env.hunt().names(&history, 4);
    Oracle::new(&env).only_guard("metric = \"ppl\"\nmax_increase_percent = 1.0").write(&env);
    env.hunt().names(&history, 4);
    Oracle::new(&env).only_guard(&tolerance(0.6)).write(&env);
    env.hunt().expect(4, "no-regression");
    assert_eq!(env.starts().len(), starts, "{:?}", env.starts());
}

#[test]
fn a_changed_tolerance_runs_only_what_is_missing() {
    let env = TestEnvironment::new();
    let history = line("7.0 7.0 7.1 7.1 7.5 7.5 7.5 7.5").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 4);
    let known = env.runs();

    Oracle::new(&env).only_guard(&tolerance(0.05)).write(&env);
    let hunt = env.hunt().names(&history, 4);
    assert_eq!(hunt.culprits(&history), ["2", "4"]);
    let new = &env.runs()[known.len()..];
    // The new pair is confirmed afresh; else only commits that had never been run.
    let surplus: Vec<_> =
        new.iter().filter(|l| !["1", "2"].contains(&l.as_str()) && known.contains(l)).collect();
    assert!(surplus.is_empty(), "{known:?}, then {new:?}");
}

#[test]
fn another_measure_runs_nothing_else_again() {
    let env = TestEnvironment::new();
    let history = line("g g g b b b").build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 3);
    let before = env.starts().iter().filter(|s| s.measure == "ppl").count();
    let speed = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+) tokens'";
    Oracle::new(&env).measure("speed", "speed", speed).write(&env);
    env.hunt().names(&history, 3);
    let after = env.starts().iter().filter(|s| s.measure == "ppl").count();
    // A confirmation with another configuration may be made again: one run of each of the pair.
    assert!(after <= before + 2, "{:?}", env.starts());
}

#[test]
fn a_shared_tree_is_measured_once() {
    let env = TestEnvironment::new();
    // The revert and its forerunner are one tree.
    let mut plan = line("g g g b b");
    plan = plan.file(1, "version", "id = same\n").file(2, "version", "id = same\n");
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 3);
    assert!(env.runs_of("same") <= 2, "once, and once to confirm: {:?}", env.runs());
}

#[test]
fn a_change_of_the_input_makes_old_runs_worthless() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).ppl_command(WITH_MODEL).write(&env);
    env.hunt().names(&history, 2);
    let runs = env.runs().len();
    std::fs::write(env.path("inputs/model.bin"), "other weights\n").unwrap();
    env.hunt().names(&history, 2);
    assert_eq!(env.runs().len(), 2 * runs);
}

const WITH_MODEL: &str =
    "{build}/engine run ppl src={src} cache={cache} out={out} --model {inputs.model}";
