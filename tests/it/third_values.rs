//! Without the named commit, the bad end shows a fact or a number that neither end has: another part
//! of the program runs there. This tells nothing of what the bad end needs, so the commit stays
//! named, and its confidence is limited.

use crate::kit::shell_engine::{FACT, NUMBER, hunt, notes, subjects};
use crate::kit::{Hunt, TestEnvironment};

const GUARD: &str = "metric = \"e\"\nunchanged = true";

/// `x` adds a path that is used if it is there, and `old` goes away: without `x`, the bad end shows
/// `none`. `values`: `old`'s, that of `x`, and `none`.
fn hunt_with_fallback(env: &TestEnvironment, measure: &str, values: [&str; 3]) -> Hunt {
    let [old, x, none] = values;
    let engine = format!("v={none}; [ -f old ] && v={old}; [ -f x ] && v={x}; echo e = $v");
    let mut commits = vec![("old", "1")];
    commits.extend(notes(3));
    commits.push(("x", "1"));
    commits.extend(notes(3));
    commits.push(("old", ""));
    commits.extend(notes(4));
    hunt(env, &engine, [measure, GUARD], &commits)
}

#[test]
fn a_third_value_without_the_commit_does_not_blame_another_one() {
    for (measure, values) in [(FACT, ["avx2", "scalar", "none"]), (NUMBER, ["40", "44", "3"])] {
        let env = TestEnvironment::localizing();
        let hunt = hunt_with_fallback(&env, measure, values).expect(0, "culprit");
        assert_eq!(subjects(&hunt), ["x"], "{}", hunt.output.stdout);
        assert_eq!(hunt.report["cause"]["revert"], "unlike", "{}", hunt.output.stdout);
        let confidence = hunt.report["culprits"][0]["confidence"].as_f64().unwrap();
        assert!(confidence <= 0.98, "{confidence}");
        hunt.output.says(&["shows another level than the step explains"]);
    }
}

#[test]
fn a_part_of_a_number_that_stays_without_the_commit_has_another_cause() {
    let env = TestEnvironment::localizing();
    let hunt = hunt_with_fallback(&env, NUMBER, ["40", "44", "42"]);
    let hunt = hunt.expect(3, "candidates");
    hunt.output.says(&["the bad end still shows it, at least in part"]);
}
