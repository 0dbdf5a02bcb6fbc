//! Commits that begin to use another path of the engine, which a later commit makes better than the
//! path before it: without such a commit the bad end is worse, so it may not need the commit.

use crate::kit::planted::put;
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, is_candidate, names_or_leaves_open, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// `on` begins to use the fused path, which `f.conf` makes worse. `q.conf` makes the plain path
/// worse, and `b.conf` both.
const ENGINE: &str = "b=$(cat b.conf); f=$(cat f.conf); q=$(cat q.conf)\n\
     if [ -f on ]; then v=\"7.8 + $b + $f\"; else v=\"7.5 + $b + $q\"; fi\n\
     awk \"BEGIN { print \\\"e = \\\" ($v) }\"";

/// A hunt with these commits: each puts a text into its file, which is its subject.
fn hunted(steps: &[(&str, &str)]) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::localizing();
    for file in ["b.conf", "f.conf", "q.conf"] {
        put(&env.repo().join(file), b"0\n");
    }
    begin(&env, ENGINE);
    commit_notes(&env, 2);
    for (file, text) in steps {
        step(&env, file, file, &format!("{text}\n"));
        commit_notes(&env, 3);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.05"]);
    (env, hunt)
}

#[test]
fn a_commit_without_which_the_bad_end_is_worse_is_a_candidate() {
    // The bad end is at 7.65, and at 7.9 without `on`, whose parent is good.
    let steps = [("b.conf", "0.0"), ("on", "1"), ("q.conf", "0.4"), ("f.conf", "-0.15")];
    let (env, hunt) = hunted(&steps);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "on") && is_candidate(&env, &hunt, "q.conf"));
    assert!(!is_candidate(&env, &hunt, "b.conf"));
    hunt.output.says(&["the bad end is even worse"]);
}

#[test]
fn a_commit_that_makes_the_whole_change_stays_named_if_an_unused_path_gets_worse() {
    // The bad end is at 7.8 since `on`, and at 8.0 without it.
    let (_env, hunt) = hunted(&[("on", "1"), ("q.conf", "0.5")]);
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["on"]);
}

#[test]
fn a_commit_without_which_the_bad_end_is_worse_is_not_named_beside_another() {
    // The bad end is at 7.7, at 7.9 without `on`, and at 7.3 without `b.conf`.
    let (env, hunt) = hunted(&[("b.conf", "0.4"), ("on", "1"), ("f.conf", "-0.5")]);
    names_or_leaves_open(&env, &hunt, &["b.conf"]);
}

/// `on` begins to use `f.conf` in place of `q.conf`, which gets worse later, and an improvement of
/// both paths takes back nearly as much as `on` and `b` made worse.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_is_not_left_out_if_no_later_commit_edits_what_it_begins_to_use() {
    let env = TestEnvironment::localizing();
    for (file, text) in [("q", "7.5"), ("f", "7.9"), ("b", "0"), ("m", "0")] {
        put(&env.repo().join(format!("{file}.conf")), format!("{text}\n").as_bytes());
    }
    let engine = "f=q; [ -f on ] && f=f\n\
                  cat $f.conf b.conf m.conf | awk '{ s += $1 } END { print \"e = \" s }'";
    begin(&env, engine);
    commit_notes(&env, 2);
    // The bad end is at 7.65, at 7.95 without `on`, and at 7.2 without `b`.
    let steps = [
        ("on", "on", "1"),
        ("b", "b.conf", "0.45"),
        ("q", "q.conf", "8.2"),
        ("m", "m.conf", "-0.7"),
    ];
    for (subject, file, text) in steps {
        step(&env, subject, file, &format!("{text}\n"));
        commit_notes(&env, 2);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.1"]);
    let are_named = hunt.report["outcome"] == "culprit" && subjects(&hunt) == ["on", "b"];
    let are_open = ["on", "b"].iter().all(|one| is_candidate(&env, &hunt, one));
    assert!(are_named || are_open, "{}", hunt.output.stdout);
}
