//! Improvements and workarounds that land after the good end and are taken back before the bad end.
//! Neither end has them, so the commit that takes one back does not explain the bad end.

use std::fs;

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, is_candidate, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

const GUARD: &str = "metric = \"e\"\nmax_increase = 0.1";
const SUM: &str = "cat ?.conf | awk '{ s += $1 } END { print \"e = \" (7 + s) }'";

/// A hunt from a good end whose files `i.conf`, `x.conf` and `y.conf` hold the text `first`. Each
/// of `steps` is a commit: its subject, the letter of its file, and the text that it puts there.
fn hunted(engine: &str, first: &str, steps: &[(&str, &str, &str)]) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::localizing();
    for file in ["i.conf", "x.conf", "y.conf"] {
        put(&env.repo().join(file), format!("{first}\n").as_bytes());
    }
    begin(&env, engine);
    commit_notes(&env, 2);
    for (subject, file, text) in steps {
        step(&env, subject, &format!("{file}.conf"), &format!("{text}\n"));
        commit_notes(&env, 4);
    }
    let hunt = hunt_by(&env, [NUMBER, GUARD]);
    (env, hunt)
}

#[test]
fn the_step_before_a_dropped_improvement_is_named() {
    let steps = [("x", "x", "0.5"), ("i", "i", "-0.45"), ("ri", "i", "0")];
    let (env, hunt) = hunted(SUM, "0", &steps);
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    let commit = |subject: &str| {
        env.git(&["log", "-1", "--format=%H", &format!("--grep=^{subject}$")]).trim().to_owned()
    };
    let hidden = &hunt.report["culprits"][0]["hidden"];
    assert_eq!([&hidden["by"], &hidden["until"]], [&*commit("i"), &*commit("ri")]);
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    assert!(hunt.file("report.md").contains("only takes back what"));
    hunt.output.says(&["Hidden: by", "took", "all of it is explained"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn steps_before_and_behind_a_dropped_improvement_are_named() {
    let steps = [("x", "x", "0.5"), ("i", "i", "-0.8"), ("y", "y", "0.3"), ("ri", "i", "0")];
    let (_, hunt) = hunted(SUM, "0", &steps);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["x", "y"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_step_behind_a_dropped_improvement_is_named() {
    let steps = [("i", "i", "-0.45"), ("x", "x", "0.5"), ("ri", "i", "0")];
    let (_, hunt) = hunted(SUM, "0", &steps);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["x"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_crash_before_a_dropped_workaround_is_named() {
    let engine = "if grep -q kx x.conf && ! grep -q safe i.conf; then \
                  echo 'illegal memory access in kx' >&2; exit 3; fi; echo e = 7";
    let steps = [("x", "x", "kx"), ("w", "i", "safe"), ("rw", "i", "plain")];
    let (_, hunt) = hunted(engine, "plain", &steps);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["x"]);
}

#[test]
fn a_commit_behind_an_improvement_that_makes_no_step_by_itself_is_a_candidate() {
    // While the path is off, x makes it worse. The level is good before i.
    let engine = "on=1; grep -q off i.conf && on=0; cat y.conf >/dev/null\n\
                  [ $on = 1 ] && echo e = $((7 + $(cat x.conf))) || echo e = 6";
    let steps = [("y", "y", "00"), ("i", "i", "off"), ("x", "x", "1"), ("ri", "i", "0")];
    let (env, hunt) = hunted(engine, "0", &steps);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "x") && is_candidate(&env, &hunt, "ri"));
    assert!(!is_candidate(&env, &hunt, "y"), "{}", hunt.output.stdout);
    hunt.output.says(&["only takes back what"]);
}

#[test]
fn the_commit_that_breaks_a_path_while_it_is_off_is_a_candidate() {
    // i turns the path off without an effect, d breaks it unseen, and ri turns it on again.
    let engine = "on=1; grep -q off i.conf && on=0; cat y.conf >/dev/null\n\
                  echo e = $((7 + on * $(cat x.conf)))";
    let steps = [("y", "y", "00"), ("i", "i", "off"), ("d", "x", "1"), ("ri", "i", "0")];
    let (env, hunt) = hunted(engine, "0", &steps);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "d"), "{}", hunt.output.stdout);
    assert!(!is_candidate(&env, &hunt, "i") && !is_candidate(&env, &hunt, "y"));
    let summary = hunt.report["summary"].to_string();
    assert!(summary.contains("a commit between them broke what"), "{summary}");
}

#[test]
fn an_improvement_that_the_good_end_has_is_missing_at_the_bad_end() {
    let steps = [("r", "i", "0"), ("i", "i", "-0.45"), ("ri", "i", "0")];
    let (_, hunt) = hunted(SUM, "-0.45", &steps);
    let named = subjects(&hunt.expect(0, "culprit"));
    assert_eq!(named.last().map(String::as_str), Some("ri"));
}

/// A file with two numbers, a flag that nothing reads, and comments.
fn lines(first: &str, second: &str, flag: &str, comment: &str) -> String {
    format!(
        "{first}\n# a\n# b\n# c\n{second}\n# d\n# e\n# f\n# log {flag}\n# g\n# h\n# {comment}\n"
    )
}

/// A hunt from a good end whose file `i.conf` has [`lines`]. Each of `steps` is a commit: its
/// subject, and its files. It removes a file without text.
fn hunted_by_lines(steps: &[(&str, &[(&str, String)])]) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::localizing();
    put(&env.repo().join("i.conf"), lines("0", "0", "0", "end").as_bytes());
    put(&env.repo().join("x.conf"), b"0\n");
    begin(&env, SUM);
    commit_notes(&env, 2);
    for (subject, files) in steps {
        for (file, text) in *files {
            let path = env.repo().join(file);
            if text.is_empty() {
                fs::remove_file(path).unwrap();
            } else {
                put(&path, text.as_bytes());
            }
        }
        commit(&env, subject);
        commit_notes(&env, 3);
    }
    let hunt = hunt_by(&env, [NUMBER, GUARD]);
    (env, hunt)
}

/// Adds 0.5 in another file.
fn worse() -> [(&'static str, String); 1] {
    [("x.conf", "0.5\n".to_owned())]
}

#[track_caller]
fn names_the_step((_env, hunt): (TestEnvironment, Hunt)) {
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    assert!(hunt.file("report.md").contains("only takes back what"));
}

#[test]
fn an_improvement_is_taken_back_after_its_file_was_renamed() {
    let improved = lines("-0.45", "0", "0", "end");
    names_the_step(hunted_by_lines(&[
        ("i", &[("i.conf", improved.clone())]),
        ("x", &worse()),
        ("renamed", &[("i.conf", String::new()), ("k.conf", improved)]),
        ("ri", &[("k.conf", lines("0", "0", "0", "end"))]),
    ]));
}

#[test]
fn a_flag_goes_back_while_another_line_of_the_improvement_stays() {
    names_the_step(hunted_by_lines(&[
        ("i", &[("i.conf", lines("-0.45", "0", "1", "end"))]),
        ("x", &worse()),
        ("ri", &[("i.conf", lines("0", "0", "1", "end"))]),
    ]));
}

#[test]
fn one_commit_takes_two_improvements_back() {
    names_the_step(hunted_by_lines(&[
        ("i1", &[("i.conf", lines("-0.25", "0", "0", "end"))]),
        ("i2", &[("i.conf", lines("-0.25", "-0.2", "0", "end"))]),
        ("comment", &[("i.conf", lines("-0.25", "-0.2", "0", "the end"))]),
        ("x", &worse()),
        ("ri", &[("i.conf", lines("0", "0", "0", "the end"))]),
    ]));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_improvement_with_a_line_in_the_changelog_is_taken_back() {
    names_the_step(hunted_by_lines(&[
        ("i", &[("i.conf", lines("-0.45", "0", "0", "end")), ("CHANGES", "faster\n".to_owned())]),
        ("comment", &[("i.conf", lines("-0.45", "0", "0", "the end"))]),
        ("x", &worse()),
        ("ri", &[("i.conf", lines("0", "0", "0", "the end"))]),
    ]));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_commits_take_back_one_line_each() {
    names_the_step(hunted_by_lines(&[
        ("i", &[("i.conf", lines("-0.25", "-0.25", "0", "end"))]),
        ("comment", &[("i.conf", lines("-0.25", "-0.25", "0", "the end"))]),
        ("x", &worse()),
        ("ri1", &[("i.conf", lines("0", "-0.25", "0", "the end"))]),
        ("ri2", &[("i.conf", lines("0", "0", "0", "the end"))]),
    ]));
}
