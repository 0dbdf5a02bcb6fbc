//! Steps that are confirmed and last: an improvement of a part of the step, in another file, does not
//! undo them. Nor do improvements in the lines of another confirmed step. If the sizes leave open
//! what became of them, their texts at the bad end tell where another commit is sought.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, is_candidate, names_or_leaves_open, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

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

/// A file with one cost between lines that stay.
fn kernel(name: &str, cost: &str) -> String {
    format!("# the kernel {name}\n# in rows of four\ncost {name} {cost}\n# the end of {name}\n")
}

#[test]
fn an_improvement_of_half_of_a_step_in_its_own_line_leaves_all_steps_named() {
    let env = TestEnvironment::localizing();
    for name in ["o", "x"] {
        put(&env.repo().join(format!("{name}.conf")), kernel(name, "0").as_bytes());
    }
    begin(&env, "cat ?.conf | awk '/^cost/ { s += $3 } END { print \"e = \" (7 + s) }'");
    commit_notes(&env, 3);
    for (subject, name, cost) in [("x", "x", "0.4"), ("o", "o", "0.8"), ("m", "o", "0.4")] {
        step(&env, subject, &format!("{name}.conf"), &kernel(name, cost));
        commit_notes(&env, 3);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.1"]);
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x", "o"], "{}", hunt.output.stdout);
}

/// The changes of one commit: the letter of a file, and the text that the commit puts there.
type Texts<'a> = &'a [(&'a str, &'a str)];

/// A hunt with these commits, after one note. Each has a subject, and so many notes after it.
fn hunted(commits: &[(&str, Texts<'_>, usize)]) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::localizing();
    let put_text = |(file, text): &(&str, &str)| {
        put(&env.repo().join(format!("{file}.conf")), format!("{text}\n").as_bytes());
    };
    for file in ["a", "b", "c", "d", "e"] {
        put_text(&(file, "0"));
    }
    begin(&env, SUM);
    commit_notes(&env, 1);
    for (subject, texts, notes) in commits {
        texts.iter().for_each(put_text);
        commit(&env, subject);
        commit_notes(&env, *notes);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.05"]);
    (env, hunt)
}

/// `m` takes back two steps of one size, and makes a step of that size itself.
#[test]
fn a_step_in_the_commit_that_takes_two_others_back_is_told() {
    let back: Texts<'_> = &[("a", "0"), ("b", "0"), ("c", "0.4")];
    let (env, hunt) =
        hunted(&[("a", &[("a", "0.4")], 2), ("b", &[("b", "0.4")], 3), ("m", back, 4)]);
    names_or_leaves_open(&env, &hunt, &["m"]);
}

/// Two improvements in other files take back as much as the steps before them, and a third step
/// comes after them. Each step lasts.
#[test]
fn a_step_behind_improvements_that_undo_no_known_text_is_told() {
    let (env, hunt) = hunted(&[
        ("a", &[("a", "0.4")], 2),
        ("b", &[("b", "0.4")], 2),
        ("m1", &[("c", "-0.4")], 0),
        ("m2", &[("d", "-0.4")], 1),
        ("s", &[("e", "0.4")], 2),
    ]);
    let is_told = subjects(&hunt).contains(&"s".to_owned()) || is_candidate(&env, &hunt, "s");
    assert!(is_told, "{}", hunt.output.stdout);
}
