//! Metrics that are the largest of several parts: a later commit undoes the step of a named one, and
//! the level does not move, because another part is worse by then.

use crate::kit::TestEnvironment;
use crate::kit::shell_engine::{NUMBER, among_notes, hunt, subjects};

const GUARD: &str = "metric = \"e\"\nmax_increase = 1";

/// Three parts, of which the engine prints the worst: the files `x`, `y` and `z` make one worse each,
/// to the level in the file, and `m` undoes what `x` does.
const ENGINE: &str = "worst=100\n\
     part() { [ -f \"$1\" ] && [ \"$(cat \"$1\")\" -gt $worst ] && worst=$(cat \"$1\"); }\n\
     [ -f m ] || part x; part y; part z\n\
     echo e = $worst";

/// `x` is mended behind `y`, which makes its part as bad as this.
fn is_mended_behind(worse: &str) {
    let env = TestEnvironment::localizing();
    let commits = among_notes(&[("x", "150"), ("y", worse), ("m", "1")]);
    let hunt = hunt(&env, ENGINE, [NUMBER, GUARD], &commits).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["y"], "{}", hunt.output.stdout);
    assert_eq!(hunt.report["cause"]["revert"], "heals", "{}", hunt.output.stdout);
    let told = hunt.report["notes"].to_string();
    assert!(told.contains("the bad end does not need"), "{told}");
}

#[test]
fn a_commit_whose_part_was_mended_behind_a_worse_one_is_not_named() {
    // The one without effect has the larger step.
    is_mended_behind("160");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nor_is_one_with_a_smaller_step() {
    is_mended_behind("300");
}

#[test]
fn each_part_that_is_still_worse_is_named() {
    let env = TestEnvironment::localizing();
    let commits = among_notes(&[("x", "150"), ("y", "160")]);
    let hunt = hunt(&env, ENGINE, [NUMBER, GUARD], &commits).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x", "y"], "{}", hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn of_three_parts_those_that_are_still_worse_are_named() {
    // The largest step is that of `x`, and then that of `z`: without `z` alone, just its own step is
    // gone.
    for worst in ["210", "300"] {
        let env = TestEnvironment::localizing();
        let commits = among_notes(&[("x", "150"), ("y", "180"), ("z", worst), ("m", "1")]);
        let hunt = hunt(&env, ENGINE, [NUMBER, GUARD], &commits).expect(0, "culprit");
        assert_eq!(subjects(&hunt), ["y", "z"], "{}", hunt.output.stdout);
    }
}
