//! Two commits that add the same short line at different places of a file: two changes, and not one
//! that lands twice.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, names_or_leaves_open, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// Adds the lines of the file `a`.
const SUM: &str = "awk '{ s += $1 } END { printf \"e = %.3f\\n\", s }' a";
const KEYS: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];

/// The lines of `a`, one word each.
fn lines(words: &str) -> String {
    words.replace(' ', "\n") + "\n"
}

/// `k` adds 0.6 in the second line, `u` undoes that, and `n` makes the file `again`. The bad end
/// has `last`.
fn undone_and(again: &str, last: &str) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::new();
    let put_lines = |subject: &str, words: &str| step(&env, subject, "a", &lines(words));
    put(&env.repo().join("a"), lines("9 0 0 0 0").as_bytes());
    begin(&env, SUM);
    commit_notes(&env, 4);
    put_lines("k", "9 0.600 0 0 0");
    commit_notes(&env, 1);
    put_lines("r", "9 0.600 0 0 0.00");
    commit_notes(&env, 3);
    put_lines("u", "9 0 0 0 0.00");
    put_lines("n", again);
    commit_notes(&env, 2);
    put_lines("v", last);
    commit_notes(&env, 4);
    let hunt = hunt_by(&env, KEYS);
    (env, hunt)
}

#[test]
fn an_undone_line_that_another_commit_adds_elsewhere_did_not_land_again() {
    let (env, hunt) = undone_and("9 0 0.600 0 0.00", "9 0.0 0.600 0 0.00");
    names_or_leaves_open(&env, &hunt, &["n"]);
}

#[test]
fn an_undone_line_that_lands_again_at_its_place_is_told_both_times() {
    let (_, hunt) = undone_and("9 0.600 0 0 0.00", "9 0.600 0 0 0.000");
    assert_eq!(subjects(&hunt), ["k", "n"], "{}", hunt.output.stdout);
}

#[test]
fn the_same_line_at_two_places_on_two_branches_is_no_picked_change() {
    for (merged, lost) in [("0 0 1.0 0 0", "b"), ("0 0 0 1.0 0", "a")] {
        let env = TestEnvironment::new();
        put(&env.repo().join("a"), lines("0 0 0 0 0").as_bytes());
        begin(&env, SUM);
        env.git(&["branch", "side"]);
        commit_notes(&env, 3);
        step(&env, "a", "a", &lines("0 0 1.0 0 0"));
        commit_notes(&env, 1);
        env.git(&["checkout", "--quiet", "side"]);
        commit_notes(&env, 3);
        step(&env, "b", "a", &lines("0 0 0 1.0 0"));
        commit_notes(&env, 1);
        env.git(&["checkout", "--quiet", "-"]);
        env.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
        put(&env.repo().join("a"), lines(merged).as_bytes());
        commit(&env, "merge");
        commit_notes(&env, 6);
        let hunt = hunt_by(&env, KEYS);
        assert_ne!(hunt.output.code(), Some(4), "{}", hunt.output.stdout);
        assert!(subjects(&hunt).iter().all(|named| named != lost), "{}", hunt.output.stdout);
    }
}
