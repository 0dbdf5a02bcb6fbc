//! If nothing builds on the machine any more, no commit is blamed.

use crate::kit::{Oracle, TestEnvironment, line};

#[test]
#[ignore = "long: scripts/test --long"]
fn a_machine_that_breaks_only_builds_is_found_out_at_the_second() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g g g g g b b b b b b b b");
    // The first searched commit breaks all later builds on the machine.
    for label in 1..15 {
        plan = plan.with(label, "break_world = build-broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    hunt.output.says(&["the good endpoint does not build now either", "resume"]);
    let builds: usize = (0..16).map(|label| env.builds_of(label)).sum();
    assert_eq!(builds, 2 + 1 + 2 * 2 + 1, "ends, one searched, two that fail twice, the control");
    env.assert_no_survivors();

    // Neither the commits nor the good endpoint are remembered as broken.
    env.world("build-broken", false);
    let hunt = env.resume().names(&history, 8);
    let skips = hunt.report["commits"].as_array().unwrap();
    assert!(skips.iter().all(|commit| commit["verdict"] != "skip"), "{skips:#?}");
}

#[test]
fn a_machine_that_breaks_builds_between_the_endpoints_is_not_what_is_hunted() {
    let env = TestEnvironment::new();
    let history = line("g g b b").with(0, "break_world = build-broken").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    env.world("build-broken", false);
    env.resume().names(&history, 2);
}
