//! Two commits that add the same short line at different places of a file: two changes, and not one
//! that lands twice.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, is_candidate, names_or_leaves_open, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// Adds the lines of the file `a`.
const SUM: &str = "awk '{ s += $1 } END { printf \"e = %.3f\\n\", s }' a";
const KEYS: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];

/// The lines of `a`, one word each.
fn lines(words: &str) -> String {
    words.replace(' ', "\n") + "\n"
}

/// `k` adds 0.6 in the second line, `u` undoes that with this line in its place, and `n` makes the
/// file `again`. The bad end has `last`.
fn undone_and(undone: &str, again: &str, last: &str) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::new();
    let put_lines = |subject: &str, words: &str| step(&env, subject, "a", &lines(words));
    put(&env.repo().join("a"), lines("9 0 0 0 0").as_bytes());
    begin(&env, SUM);
    commit_notes(&env, 4);
    put_lines("k", "9 0.600 0 0 0");
    commit_notes(&env, 1);
    put_lines("r", "9 0.600 0 0 0.00");
    commit_notes(&env, 3);
    put_lines("u", &format!("9 {undone} 0 0 0.00"));
    put_lines("n", again);
    commit_notes(&env, 2);
    put_lines("v", last);
    commit_notes(&env, 4);
    let hunt = hunt_by(&env, KEYS);
    (env, hunt)
}

#[test]
fn an_undone_line_that_another_commit_adds_elsewhere_did_not_land_again() {
    let (env, hunt) = undone_and("0", "9 0 0.600 0 0.00", "9 0.0 0.600 0 0.00");
    names_or_leaves_open(&env, &hunt, &["n"]);
}

/// `u` undoes the line with this one in its place, and `n` lands it again there.
fn lands_again_after(undone: &str) {
    let (_, hunt) = undone_and(undone, "9 0.600 0 0 0.00", "9 0.600 0 0 0.000");
    assert_eq!(subjects(&hunt), ["k", "n"], "{}", hunt.output.stdout);
    let [first, again] = [0_usize, 1].map(|place| &hunt.report["culprits"][place]["undone_by"]);
    assert!(first.is_string() && again.is_null(), "{}", hunt.output.stdout);
    let told = &hunt.output.stdout;
    assert!(told.contains("at the latest, and applied again later"), "{told}");
}

#[test]
fn an_undone_line_that_lands_again_at_its_place_is_told_both_times() {
    // A mend need not write the old line.
    lands_again_after("0.00");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_line_that_was_undone_with_the_old_one_and_lands_again_is_told_both_times() {
    lands_again_after("0");
}

/// `h` hides the step of `k`. A branch undoes `k` and lands it again; the main line keeps it.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_change_that_only_a_branch_undid_is_not_called_undone() {
    let env = TestEnvironment::new();
    let put_lines = |subject: &str, words: &str| step(&env, subject, "a", &lines(words));
    put(&env.repo().join("a"), lines("7 0 0 0 0 0 0").as_bytes());
    begin(&env, SUM);
    commit_notes(&env, 2);
    put_lines("h", "7 0 0 0 0 0 9");
    commit_notes(&env, 2);
    put_lines("k", "7 1.0 0 0 0 0 9");
    commit_notes(&env, 1);
    put_lines("g", "7 1.0 0 0 0 0 0");
    commit_notes(&env, 2);
    env.git(&["checkout", "--quiet", "-b", "side"]);
    put_lines("u", "7 0 0 0 0 0 0");
    commit_notes(&env, 3);
    put_lines("n", "7 1.0 0 0 0 0 0");
    commit_notes(&env, 2);
    env.git(&["checkout", "--quiet", "-"]);
    commit_notes(&env, 3);
    env.git(&["merge", "--quiet", "--strategy", "ours", "-m", "merge", "side"]);
    commit_notes(&env, 5);
    let hunt = hunt_by(&env, KEYS);
    let told = &hunt.output.stdout;
    assert!(subjects(&hunt).contains(&"k".to_owned()), "{told}");
    assert!(!told.contains("applied again later"), "{told}");
}

/// `a` and `b` add the same line at two places on two branches; the merge has `merged`, without the
/// line of `lost`.
fn keeps_one_of_two_places(merged: &str, lost: &str) {
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

#[test]
fn the_same_line_at_two_places_on_two_branches_is_no_picked_change() {
    keeps_one_of_two_places("0 0 1.0 0 0", "b");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_line_that_the_merge_keeps_at_the_branchs_place_is_no_picked_change() {
    keeps_one_of_two_places("0 0 0 1.0 0", "a");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_line_that_two_branches_add_at_two_places_is_both_commits_step_if_either_is_enough() {
    // A line that is there twice counts once.
    let once = "sort -u a | awk -F= '{ s += $NF } END { printf \"e = %.3f\\n\", s }'";
    let text = |at: &[usize]| {
        let keys = (1..=12).map(|key| {
            let added = if at.contains(&key) { " y=1.0" } else { "" };
            format!("k{key}=0.{key:02}{added}")
        });
        lines(&keys.collect::<Vec<_>>().join(" "))
    };
    let env = TestEnvironment::localizing();
    put(&env.repo().join("a"), text(&[]).as_bytes());
    begin(&env, once);
    env.git(&["branch", "side"]);
    step(&env, "a", "a", &text(&[3]));
    commit_notes(&env, 3);
    env.git(&["checkout", "--quiet", "side"]);
    commit_notes(&env, 1);
    step(&env, "b", "a", &text(&[9]));
    commit_notes(&env, 3);
    env.git(&["checkout", "--quiet", "-"]);
    env.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
    put(&env.repo().join("a"), text(&[3, 9]).as_bytes());
    commit(&env, "merge");
    commit_notes(&env, 6);
    let hunt = hunt_by(&env, KEYS).expect(0, "culprit");
    let mut named = subjects(&hunt);
    named.sort();
    assert_eq!(named, ["a", "b"], "{}", hunt.output.stdout);
}

#[test]
fn a_number_that_two_branches_add_leaves_both_as_candidates() {
    // Lines without a letter are no text that tells commits apart.
    let once = "sort -u a | awk '{ s += $1 } END { printf \"e = %.3f\\n\", s }'";
    let env = TestEnvironment::localizing();
    put(&env.repo().join("a"), lines("9 .1 .2 .3 .4 .5 .6 .7 .8 .9 .11 .12").as_bytes());
    begin(&env, once);
    env.git(&["branch", "side"]);
    step(&env, "a", "a", &lines("9 .1 .2 1.0 .3 .4 .5 .6 .7 .8 .9 .11 .12"));
    commit_notes(&env, 3);
    env.git(&["checkout", "--quiet", "side"]);
    commit_notes(&env, 1);
    step(&env, "b", "a", &lines("9 .1 .2 .3 .4 .5 .6 .7 .8 1.0 .9 .11 .12"));
    commit_notes(&env, 3);
    env.git(&["checkout", "--quiet", "-"]);
    env.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
    put(&env.repo().join("a"), lines("9 .1 .2 1.0 .3 .4 .5 .6 .7 .8 1.0 .9 .11 .12").as_bytes());
    commit(&env, "merge");
    commit_notes(&env, 6);
    let hunt = hunt_by(&env, KEYS);
    for one in ["a", "b"] {
        let is_told = subjects(&hunt).contains(&one.to_owned()) || is_candidate(&env, &hunt, one);
        assert!(is_told, "{}", hunt.output.stdout);
    }
}
