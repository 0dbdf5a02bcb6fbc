//! Hunts in which a commit adds a file that makes the step, and a later commit renames, edits or
//! removes the file.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, begin, commit_notes, hunt_by, is_candidate, names_or_leaves_open, step, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// Adds the last words of all lines in `src` and `lib`.
const SUM: &str = "cat $(find src lib -type f 2>/dev/null) \\\n\
                   | awk '{ s += $NF } END { printf \"e = %.3f\\n\", s }'";
const KEYS: [&str; 2] = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];

/// Thirty lines; the tenth one adds 1, and the others add nothing. The third one ends with `third`.
fn new_file(third: &str) -> String {
    let end = |number| match number {
        3 => third,
        10 => "1.0",
        _ => "0",
    };
    let lines: Vec<String> =
        (1..=30).map(|number| format!("line number {number} {}\n", end(number))).collect();
    lines.concat()
}

/// The file without the line that adds 1.
fn mended_file() -> String {
    new_file("0").replace("line number 10 1.0\n", "")
}

/// `x` adds `src/new`, and `later` makes later commits.
fn hunt_with(later: impl FnOnce(&TestEnvironment)) -> (TestEnvironment, Hunt) {
    hunt_of(SUM, &new_file("0"), later)
}

/// The same with another engine, and with this text in `src/new`.
fn hunt_of(
    engine: &str,
    text: &str,
    later: impl FnOnce(&TestEnvironment),
) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::localizing();
    put(&env.repo().join("src/base"), b"7\n");
    begin(&env, engine);
    commit_notes(&env, 3);
    step(&env, "x", "src/new", text);
    commit_notes(&env, 2);
    later(&env);
    commit_notes(&env, 4);
    let hunt = hunt_by(&env, KEYS);
    (env, hunt)
}

#[test]
fn a_new_file_comes_out_of_the_bad_end_under_its_later_name() {
    for [old, new] in [["src/new", "src/other"], ["src", "lib"]] {
        let (_, hunt) = hunt_with(|env| {
            env.git(&["mv", old, new]);
            commit(env, "renamed");
        });
        let hunt = hunt.expect(0, "culprit");
        assert_eq!(subjects(&hunt), ["x"]);
        assert_eq!(hunt.report["cause"]["revert"], "heals", "{}", hunt.output.stdout);
    }
}

#[test]
fn a_new_file_that_a_commit_renames_and_edits_does_not_come_out() {
    let (_, hunt) = hunt_with(|env| {
        env.git(&["mv", "src/new", "src/other"]);
        step(env, "renamed", "src/other", &new_file("0.00"));
    });
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    assert!(hunt.report["cause"]["revert"]["conflict"].is_string(), "{}", hunt.output.stdout);
    assert!(hunt.report["culprits"][0]["confidence"].as_f64().unwrap() <= 0.98);
}

#[test]
fn a_new_file_that_a_commit_removes_does_not_explain_the_bad_end() {
    let (env, hunt) = hunt_with(|env| {
        env.git(&["rm", "--quiet", "src/new"]);
        step(env, "r", "src/another", "unlike 1.0\n");
    });
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "r"), "{}", hunt.output.stdout);
}

/// Another commit, `y`, makes the step of `x` too, and then `r` takes that of `x` back: it puts
/// this text into a file instead of `src/new`.
fn hunt_with_mend(file: &str, text: &str) -> (TestEnvironment, Hunt) {
    hunt_with(|env| {
        step(env, "y", "src/another", "unlike 1.0\n");
        env.git(&["rm", "--quiet", "src/new"]);
        step(env, "r", file, text);
    })
}

#[test]
fn a_new_file_that_was_mended_later_does_not_explain_the_bad_end() {
    let unused = format!("not used any more\n{}", new_file("0"));
    let mended = mended_file();
    for (file, text) in [("src/new", &mended), ("src/other", &mended), ("attic/new", &unused)] {
        let (env, hunt) = hunt_with_mend(file, text);
        let hunt = hunt.expect(3, "candidates");
        assert!(is_candidate(&env, &hunt, "y"), "{file}: {}", hunt.output.stdout);
    }
}

#[test]
fn a_new_file_whose_crash_was_mended_later_does_not_explain_the_bad_end() {
    let engine = format!("if grep -rq crash src; then echo boom >&2; exit 3; fi\n{SUM}");
    let text = new_file("0").replace(" 1.0\n", " crash\n");
    for file in ["src/new", "src/other"] {
        let (env, hunt) = hunt_of(&engine, &text, |env| {
            step(env, "y", "src/another", "a crash\n");
            env.git(&["rm", "--quiet", "src/new"]);
            step(env, "r", file, &mended_file());
        });
        let hunt = hunt.expect(3, "candidates");
        assert!(is_candidate(&env, &hunt, "y"), "{file}: {}", hunt.output.stdout);
    }
}

#[test]
fn a_new_file_whose_lines_are_in_another_file_does_not_explain_the_bad_end() {
    let (env, hunt) = hunt_with(|env| {
        step(env, "doc", "attic/doc", "words\n");
        step(env, "y", "src/another", "unlike 1.0\n");
        env.git(&["rm", "--quiet", "src/new"]);
        step(env, "r", "attic/doc", &format!("words\n{}", new_file("0")));
    });
    names_or_leaves_open(&env, &hunt, &["y"]);
}
