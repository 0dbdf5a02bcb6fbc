//! A commit is never blamed for a fault of the machine.

use super::hunt;
use crate::kit::line;

/// The first commit of the search breaks the machine in this way.
fn breaks_under_way(switch: &str) {
    // A failure is tried once more before the control runs.
    let runs = 7;
    let mut plan = line("g g g g b b b b");
    // The first commit of the search breaks the machine, whichever it is.
    for label in 1..7 {
        plan = plan.with(label, &format!("break_world = {switch}"));
    }
    let told = hunt(plan).saying(&["resume"]).gets_stopped().costs(runs, 3);
    told.env().world(switch, false);
    // Five builds: three in the search (the failed commit is built again), two to confirm.
    told.resumed().finds("4").counting(11 + runs, 8).costs(11, 5);
}

#[test]
fn it_breaks_under_way_and_resume_goes_on() {
    breaks_under_way("broken");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn it_kills_engines_under_way_and_resume_goes_on() {
    breaks_under_way("killer");
}

#[test]
fn it_is_broken_from_the_start() {
    let row = hunt(line("g g b b"));
    row.env.world("transient", true);
    let told = row.gets_stopped().costs(2, 1);
    told.env().world("transient", false);
    told.resumed().finds("2").counting(16, 7).costs(14, 6);
}

/// A hunt never compares values from two shells.
#[test]
#[ignore = "long: scripts/test --long"]
fn it_is_resumed_from_another_shell() {
    let row = hunt(line("g g b b"));
    row.env.world("transient", true);
    let told = row.gets_stopped().costs(2, 1);
    told.env().world("transient", false);
    let told = told.resumed().variable("OMP_NUM_THREADS", "2");
    let told = told
        .saying(&["omp_num_threads: `2`, was not set"])
        .gets_stopped()
        .counting(2, 1)
        .costs(0, 0);
    told.resumed().unset("OMP_NUM_THREADS").finds("2").counting(16, 7).costs(14, 6);
}

#[test]
fn builds_are_broken_from_the_start() {
    let row = hunt(line("g g b b"));
    row.env.world("build-broken", true);
    row.cannot_be_measured().costs(0, 4);
}

fn is_skipped_for_want_of_a_resource(setting: &str) {
    // The commit runs twice, and then the control.
    let told = hunt(line("g b b").with(1, setting)).leaves("1 2").costs(7, 3);
    assert_eq!(told.verdict("1"), "skip");
    assert_eq!(told.commit("1")["skip"], "resource");
    assert_eq!(told.env().runs_of(0), 3, "a control was run");
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
    // The commit runs twice, and then the control.
    let told = hunt(line("g e b")).leaves("1 2").costs(7, 3);
    assert_eq!(told.verdict("1"), "skip");
    assert_eq!(told.env().runs_of(0), 3, "a control was run");
}

#[test]
fn a_tool_is_missing() {
    let row = hunt(line("g g b b")).oracle(|o| o.build_command("no-such-compiler {src}"));
    row.saying(&["no-such-compiler"]).gets_stopped().costs(0, 0);
    let row = hunt(line("g g b b")).oracle(|o| o.ppl_command("no-such-runner {build}"));
    row.saying(&["no-such-runner"]).gets_stopped().counting(1, 1).costs(0, 1);
}

#[test]
fn an_input_changes_under_way() {
    let mut plan = line("g g g g b b b b");
    for label in 1..7 {
        plan = plan.with(label, "change_input = yes");
    }
    let command = "{build}/engine run ppl src={src} cache={cache} out={out} m={inputs.model}";
    let row = hunt(plan).oracle(|oracle| oracle.ppl_command(command));
    // A run during which the input changed gives no value and is not counted.
    row.saying(&["model"]).gets_stopped().counting(4, 3).costs(5, 3);
}
