//! The world's fault is never a commit's fault.

use serde_json::Value;

use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

#[test]
fn a_world_that_breaks_under_way_stops_the_hunt_and_resume_goes_on() {
    for switch in ["broken", "transient", "killer"] {
        let env = TestEnvironment::new();
        let mut plan = line("g g g g b b b b");
        // Whichever commit is searched first meets it.
        for label in 1..7 {
            plan = plan.with(label, &format!("break_world = {switch}"));
        }
        let history = plan.build(&env);
        Oracle::new(&env).write(&env);
        let before = Snapshot::of(&env);
        let hunt = env.hunt();
        assert_eq!(hunt.output.code(), Some(5), "{switch}: {}", hunt.output.stderr);
        assert!(hunt.report["culprit"].is_null(), "nobody is blamed");
        assert!(hunt.output.stderr.contains("resume"), "{}", hunt.output.stderr);
        before.assert_unchanged(&env);
        env.assert_no_survivors();

        env.world(switch, false);
        env.resume().names(&history, 4);
        before.assert_unchanged(&env);
    }
}

#[test]
fn a_world_that_breaks_only_builds_is_found_out_at_the_second() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g g g g g b b b b b b b b");
    // Whichever commit is searched first leaves a machine on which nothing builds.
    for label in 1..15 {
        plan = plan.with(label, "break_world = build-broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    hunt.output.says(&["the good endpoint does not build any more either", "resume"]);
    let builds: usize = (0..16).map(|label| env.builds_of(label)).sum();
    assert_eq!(builds, 2 + 1 + 2 + 1, "ends, one searched, two that fail, the control");
    env.assert_no_survivors();

    // Neither the commits nor the good endpoint are remembered as broken.
    env.world("build-broken", false);
    let hunt = env.resume().names(&history, 8);
    let skips = hunt.report["commits"].as_array().unwrap();
    assert!(skips.iter().all(|commit| commit["verdict"] != "skip"), "{skips:#?}");
}

#[test]
fn a_world_that_breaks_builds_between_the_endpoints_is_not_what_is_hunted() {
    let env = TestEnvironment::new();
    let history = line("g g b b").with(0, "break_world = build-broken").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    env.world("build-broken", false);
    env.resume().names(&history, 2);
}

#[test]
fn a_world_that_is_broken_from_the_start_is_not_the_endpoints_fault() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    env.world("transient", true);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    env.world("transient", false);
    env.resume().names(&history, 2);
}

fn is_skipped_for_want_of_a_resource(setting: &str) {
    let env = TestEnvironment::new();
    let history = line("g b b").with(1, setting).build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    assert_eq!(hunt.verdict(&history, 1), "skip");
    assert_eq!(hunt.commit(&history, 1)["skip"], "resource");
    assert!(env.runs_of(0) >= 3, "a control was run: {:?}", env.runs());
}

#[test]
fn a_killed_engine_is_skipped_when_the_control_works() {
    is_skipped_for_want_of_a_resource("fate = crash:9");
}

#[test]
fn a_transient_fault_of_one_commit_is_skipped_when_the_control_works() {
    is_skipped_for_want_of_a_resource(
        "fate = exit:1\nsay = error: no CUDA-capable device is detected",
    );
}

#[test]
fn an_unclear_failure_is_the_commits_when_the_control_works() {
    let env = TestEnvironment::new();
    let history = line("g e b").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    assert_eq!(hunt.verdict(&history, 1), "skip");
    assert!(env.runs_of(0) >= 3, "a control was run: {:?}", env.runs());
}

#[test]
fn a_missing_tool_stops_the_hunt() {
    for (build, ppl) in
        [(Some("no-such-compiler {src}"), None), (None, Some("no-such-runner {build}"))]
    {
        let env = TestEnvironment::new();
        line("g g b b").build(&env);
        let mut oracle = Oracle::new(&env);
        if let Some(command) = build {
            oracle = oracle.build_command(command);
        }
        if let Some(command) = ppl {
            oracle = oracle.ppl_command(command);
        }
        oracle.write(&env);
        let hunt = env.hunt();
        assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
        hunt.output.says(&["no-such-"]);
    }
}

#[test]
fn an_input_that_changes_under_way_stops_the_hunt() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        plan = plan.with(label, "change_input = yes");
    }
    let history = plan.build(&env);
    Oracle::new(&env)
        .ppl_command(
            "{build}/engine run ppl src={src} cache={cache} out={out} model={inputs.model}",
        )
        .write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    assert!(hunt.output.stderr.contains("model"), "{}", hunt.output.stderr);
    assert_eq!(hunt.report["culprit"], Value::Null);
    drop(history);
}
