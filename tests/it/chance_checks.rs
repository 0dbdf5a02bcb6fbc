//! Tests of a suite that pass or fail by chance, beside a test that a commit breaks.

use crate::kit::TestEnvironment;
use crate::kit::shell_engine::{PARITY, among_notes, hunt, subjects};

#[test]
fn a_test_that_fails_in_each_third_run_does_not_hide_the_broken_one() {
    let env = TestEnvironment::new();
    let count = env.path("count");
    let suite = format!(
        "n=$(cat '{count}' 2>/dev/null || echo 0)\necho $((n + 1)) >'{count}'\n\
         [ $((n % 3)) = 1 ] && echo 'softmax FAIL' || echo 'softmax PASS'\n\
         [ -f x ] && echo 'rope FAIL' || echo 'rope PASS'",
        count = count.display()
    );
    let keys = [PARITY, "metric = \"e.failed\"\nmax_increase = 0"];
    let hunt = hunt(&env, &suite, keys, &among_notes(&[("x", "1")])).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    assert_eq!(hunt.report["culprit"]["effect"]["commit"], 1.0);
    hunt.output.says(&["pass or fail by chance are left out of its counts: softmax (fails in"]);
}
