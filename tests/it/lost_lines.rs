//! Hunts in which the bad end no longer has the lines of the first commit that shows the result:
//! other lines make the same step there, and a revert conflicts with them.

use crate::kit::planted::put;
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt, hunt_by, is_candidate, names_or_leaves_open, notes, step,
    subjects,
};
use crate::kit::{Hunt, TestEnvironment};

const GUARD: &str = "metric = \"e\"\nmax_increase = 0.1";

/// Prints 7 and the sum of the numbers in `k`, and `more`.
fn sum(more: &str) -> String {
    format!("echo e = $(awk '{{ s += $1 }} END {{ print 7 + s + {more} }}' k)")
}

/// A repository in which `a` sets a line of `k` on the main branch; commits of a side branch put
/// these texts into `k`, the last of them is `b`, and the merge takes the branch's lines.
fn merge_of_another_step(env: &TestEnvironment, engine: &str, on_branch: &[&str]) {
    put(&env.repo().join("k"), b"0\n0\n0\n0\n0\n");
    begin(env, engine);
    commit_notes(env, 3);
    env.git(&["branch", "side"]);
    step(env, "a", "k", "0\n0\n1.0\n0\n0\n");
    commit_notes(env, 8);
    env.git(&["checkout", "--quiet", "side"]);
    for (number, text) in on_branch.iter().enumerate() {
        let is_last = number + 1 == on_branch.len();
        step(env, if is_last { "b" } else { "format" }, "k", text);
        step(env, "note", &format!("side{number}"), "1");
    }
    env.git(&["checkout", "--quiet", "main"]);
    let merge = ["merge", "--quiet", "--no-ff", "--strategy-option", "theirs", "-m", "merge"];
    env.git(&[&merge[..], &["side"]].concat());
    commit_notes(env, 5);
}

/// The commits of the branch put these texts into `k`, and the merge takes them.
fn takes_the_lines_of_the_branch(on_branch: &[&str]) {
    let env = TestEnvironment::localizing();
    merge_of_another_step(&env, &sum("0"), on_branch);
    let hunt = hunt_by(&env, [NUMBER, GUARD]);
    names_or_leaves_open(&env, &hunt, &["b"]);
}

#[test]
fn a_merge_may_take_the_lines_of_a_branch_that_makes_the_same_step() {
    takes_the_lines_of_the_branch(&["0\n0\n0.00\n0\n0\n", "0\n0\n0.00\n1.00\n0\n"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_merge_may_take_the_lines_of_one_commit_of_a_branch() {
    takes_the_lines_of_the_branch(&["0\n0\n0.00\n1.00\n0\n"]);
    takes_the_lines_of_the_branch(&["0\n0\n0\n1.00\n0\n"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_merge_may_take_the_lines_of_a_branch_that_makes_the_same_step() {
    let env = TestEnvironment::localizing();
    let engine = sum("'\"$(od -An -N1 -tu1 /dev/urandom)\"' / 2550");
    merge_of_another_step(&env, &engine, &["0\n0\n0.00\n0\n0\n", "0\n0\n0.00\n1.00\n0\n"]);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.4"]);
    let is_open = hunt.output.code() == Some(3) && is_candidate(&env, &hunt, "b");
    // Chance may leave the branch undecided.
    let is_doubted = hunt.report["culprits"][0]["confidence"].as_f64().is_some_and(|x| x <= 0.98);
    assert!(is_open || is_doubted || subjects(&hunt) == ["b"], "{}", hunt.output.stdout);
}

/// A hunt in which `k+a` sets a line of `k`, and two commits edit that line and the next one while
/// every run crashes. The second one is `k+b`.
fn edited_while_nothing_runs(env: &TestEnvironment, edits: [&str; 2]) -> Hunt {
    let commits = [
        [("k", "0\n0\n0\n0\n0\n")].to_vec(),
        notes(3).collect(),
        [("k+a", "0\n0\n1.0\n0\n0\n")].to_vec(),
        notes(2).collect(),
        [("crash", "1"), ("k", edits[0]), ("notes", "0")].to_vec(),
        [("k+b", edits[1]), ("crash", "")].to_vec(),
        notes(2).collect(),
    ]
    .concat();
    let engine = format!("[ -f crash ] && exit 3\n{}", sum("0"));
    hunt(env, &engine, [NUMBER, GUARD], &commits)
}

#[test]
fn commits_that_replace_the_lines_while_nothing_runs_may_undo_the_change() {
    let env = TestEnvironment::localizing();
    let hunt = edited_while_nothing_runs(&env, ["0\n0\n0.0\n0\n0\n", "0\n0\n0.0\n1\n0\n"]);
    names_or_leaves_open(&env, &hunt, &["k+b"]);
    hunt.output.says(&["2 later commits that edited these lines cannot be judged"]);
}

#[test]
fn commits_that_only_indent_the_lines_while_nothing_runs_undo_nothing() {
    let env = TestEnvironment::localizing();
    let edits = ["0\n0\n  1.0\n0\n0\n", "0\n0\n    1.0\n0\n0\n"];
    let hunt = edited_while_nothing_runs(&env, edits).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["k+a"]);
    assert!(hunt.report["culprits"][0]["confidence"].as_f64().unwrap() > 0.98);
}

/// `x` on a branch sets a line of `k`. The main line has the whole branch at once with `s`, and `f`
/// takes only the line of `x` back. Later the branch is merged, so that the line is there again.
#[test]
fn a_squash_whose_step_was_taken_back_is_not_named_beside_the_branch_that_is_merged() {
    let lines = |third: &str, last: &str| {
        format!(
            "0 first of all lines\n0 second line\n{third}\n0 fourth line\n0 fifth line\n{last}\n"
        )
    };
    let (old, step_of_x) = ("0 third line of the table", "1.0 third line with another kernel");
    let (plain, renamed) = ("0 last line of the table", "0 last line with another name");
    let env = TestEnvironment::localizing();
    put(&env.repo().join("k"), lines(old, plain).as_bytes());
    begin(&env, &sum("0"));
    commit_notes(&env, 2);
    env.git(&["branch", "side"]);
    env.git(&["checkout", "--quiet", "side"]);
    step(&env, "x", "k", &lines(step_of_x, plain));
    step(&env, "rename", "k", &lines(step_of_x, renamed));
    env.git(&["checkout", "--quiet", "main"]);
    step(&env, "note", "a", "1");
    step(&env, "s", "k", &lines(step_of_x, renamed));
    for number in 0..9 {
        step(&env, "note", "b", &number.to_string());
    }
    step(&env, "f", "k", &lines(old, renamed));
    env.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    for number in 0..3 {
        step(&env, "note", "c", &number.to_string());
    }
    let hunt = hunt_by(&env, [NUMBER, GUARD]).expect(0, "culprit");
    assert!(subjects(&hunt) == ["x"] || subjects(&hunt) == ["s", "x"], "{}", hunt.output.stdout);
    assert_eq!(hunt.report["culprit"]["subject"], "x", "{}", hunt.output.stdout);
}
