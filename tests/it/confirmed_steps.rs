//! Steps that are confirmed and last: an improvement of a part of the step, in another file, does not
//! undo them. Nor do improvements in the lines of another confirmed step.

use crate::kit::TestEnvironment;
use crate::kit::planted::put;
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, is_candidate, step, subjects,
};

const SUM: &str = "cat ?.conf | awk '{ s += $1 } END { print \"e = \" (7 + s) }'";

/// `x` makes a step, `i` improves half of it in another file, and `z` makes that file worse than it
/// was. So many commits that change nothing come after each of them.
fn are_both_named(notes: [usize; 3]) {
    let env = TestEnvironment::localizing();
    for file in ["i.conf", "x.conf"] {
        put(&env.repo().join(file), b"0\n");
    }
    begin(&env, SUM);
    commit_notes(&env, 2);
    let steps = [("x", "x.conf", "0.4\n"), ("i", "i.conf", "-0.2\n"), ("z", "i.conf", "0.4\n")];
    for ((subject, file, text), notes) in steps.into_iter().zip(notes) {
        step(&env, subject, file, text);
        commit_notes(&env, notes);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.05"]);
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x", "z"], "{}", hunt.output.stdout);
}

#[test]
fn an_improvement_of_half_of_a_step_long_before_the_next_one_does_not_undo_it() {
    are_both_named([1, 6, 3]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nor_does_one_long_after_it() {
    are_both_named([6, 2, 5]);
}

#[test]
fn improvements_in_the_lines_of_another_step_do_not_undo_a_step() {
    let env = TestEnvironment::localizing();
    for file in ["o.conf", "x.conf"] {
        put(&env.repo().join(file), b"0\n");
    }
    begin(&env, SUM);
    commit_notes(&env, 2);
    // Both improvements together have the size of x's step, but each edits o's line.
    let steps = [("x", "x", "0.4"), ("o", "o", "0.8"), ("m1", "o", "0.6"), ("m2", "o", "0.40")];
    for (subject, file, text) in steps {
        step(&env, subject, &format!("{file}.conf"), &format!("{text}\n"));
        commit_notes(&env, 3);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.05"]);
    let are_named = hunt.report["outcome"] == "culprit" && subjects(&hunt) == ["x", "o"];
    let is_open = hunt.report["outcome"] == "candidates" && is_candidate(&env, &hunt, "x");
    assert!(are_named || is_open, "{}", hunt.output.stdout);
    let notes = hunt.report["notes"].to_string();
    assert!(!notes.contains("undone by"), "{notes}");
}
