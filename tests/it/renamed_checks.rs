//! Tests of a suite that get another name after a commit broke them.

use crate::kit::TestEnvironment;
use crate::kit::shell_engine::{PARITY, hunt, is_candidate, notes, subjects};

/// A suite of two tests. The second one has the name that the file `name` says, does not run
/// without this file, and fails if `x` is there.
const SUITE: &str = "echo rope PASS; [ -f name ] || exit 0\n\
                     [ -f x ] && echo \"$(cat name) FAIL\" || echo \"$(cat name) PASS\"";

const NO_FAILURE: [&str; 2] = [PARITY, "metric = \"e.failed\"\nmax = 0"];

#[test]
fn a_failing_test_that_is_renamed_is_the_same_failure() {
    let commits = [
        [("name", "gelu")].to_vec(),
        notes(3).collect(),
        [("x", "1")].to_vec(),
        notes(4).collect(),
        [("name", "gelu_forward")].to_vec(),
        notes(4).collect(),
    ]
    .concat();
    let env = TestEnvironment::new();
    let hunt = hunt(&env, SUITE, NO_FAILURE, &commits);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["x"]);
}

#[test]
fn a_test_that_comes_back_under_another_name_broke_anywhere_in_between() {
    let commits = [
        [("name", "gelu")].to_vec(),
        notes(2).collect(),
        [("name", "")].to_vec(),
        notes(2).collect(),
        [("x", "1")].to_vec(),
        notes(3).collect(),
        [("name", "gelu_forward")].to_vec(),
        notes(3).collect(),
    ]
    .concat();
    let env = TestEnvironment::new();
    let hunt = hunt(&env, SUITE, NO_FAILURE, &commits).expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "x"), "{}", hunt.output.stdout);
    hunt.output.says(&["gelu_forward", "the same test under another name"]);
}
