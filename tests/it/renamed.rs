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

/// A commit renames the new file in this way.
fn comes_out_after([old, new]: [&str; 2]) {
    let (_, hunt) = hunt_with(|env| {
        env.git(&["mv", old, new]);
        commit(env, "renamed");
    });
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    assert_eq!(hunt.report["cause"]["revert"], "heals", "{}", hunt.output.stdout);
}

#[test]
fn a_new_file_comes_out_of_the_bad_end_under_its_later_name() {
    comes_out_after(["src", "lib"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_new_file_that_was_renamed_alone_comes_out_of_the_bad_end() {
    comes_out_after(["src/new", "src/other"]);
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
#[ignore = "long: scripts/test --long"]
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

/// `r` takes the step of the new file back: this text is in this file then.
fn mended_later(file: &str, text: &str) {
    let (_env, hunt) = hunt_with_mend(file, text);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["y"], "{file}");
}

#[test]
fn a_new_file_that_was_mended_later_does_not_explain_the_bad_end() {
    mended_later("src/other", &mended_file());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_new_file_that_was_mended_under_its_name_or_put_away_does_not_explain_the_bad_end() {
    mended_later("src/new", &mended_file());
    mended_later("attic/new", &format!("not used any more\n{}", new_file("0")));
}

/// The new file makes a step, another commit makes the same step elsewhere, and the file is renamed.
fn renamed_beside_another() -> TestEnvironment {
    let env = TestEnvironment::localizing();
    put(&env.repo().join("src/base"), b"7\n");
    begin(&env, SUM);
    commit_notes(&env, 2);
    step(&env, "x", "src/new", &new_file("0"));
    step(&env, "y", "src/another", "unlike 1.0\n");
    env.git(&["mv", "src/new", "src/other"]);
    commit(&env, "renamed");
    commit_notes(&env, 1);
    env
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_new_file_that_was_renamed_and_mended_does_not_explain_the_bad_end() {
    let env = renamed_beside_another();
    step(&env, "r", "src/other", &mended_file());
    commit_notes(&env, 3);
    assert_eq!(subjects(&hunt_by(&env, KEYS).expect(0, "culprit")), ["y"]);
}

#[test]
fn a_counter_in_the_file_of_one_step_does_not_tell_which_step_it_takes_back() {
    let env = renamed_beside_another();
    step(&env, "r", "src/other", &format!("{}counter -1.0\n", new_file("0")));
    commit_notes(&env, 3);
    let hunt = hunt_by(&env, KEYS).expect(3, "candidates");
    for one in ["x", "y"] {
        assert!(is_candidate(&env, &hunt, one), "{}", hunt.output.stdout);
    }
}

/// Moves a file to a folder that may be new, and commits that.
fn move_file(env: &TestEnvironment, [from, to]: [&str; 2], subject: &str) {
    std::fs::create_dir_all(env.repo().join(to).parent().unwrap()).unwrap();
    env.git(&["mv", from, to]);
    commit(env, subject);
}

fn moved_aside_and_back(third: &str, undone: &[&str]) {
    let env = TestEnvironment::localizing();
    put(&env.repo().join("src/base"), b"7\n");
    begin(&env, SUM);
    commit_notes(&env, 2);
    step(&env, "p", "src/first", "unlike 1.0\n");
    commit_notes(&env, 1);
    step(&env, "x", "src/new", &new_file("0"));
    env.git(&["mv", "src/new", "src/other"]);
    step(&env, "renamed", "src/other", &new_file(third));
    commit_notes(&env, 4);
    move_file(&env, ["src/other", "attic/new"], "aside");
    commit_notes(&env, 4);
    move_file(&env, ["attic/new", "src/back"], "y");
    step(&env, "w", "src/more", "another 0.6\n");
    commit_notes(&env, 6);
    let hunt = hunt_by(&env, KEYS).expect(0, "culprit");
    // The first commit counts at most as undone, beside the one that put its file back.
    let culprits = hunt.report["culprits"].as_array().unwrap();
    let named = |is_undone: bool| -> Vec<&str> {
        let all = culprits.iter().filter(|one| one["undone_by"].is_string() == is_undone);
        let mut subjects: Vec<&str> = all.map(|one| one["subject"].as_str().unwrap()).collect();
        subjects.sort_unstable();
        subjects
    };
    assert_eq!(named(false), ["p", "w", "y"], "{third}: {}", hunt.output.stdout);
    assert_eq!(named(true), undone, "{third}: {}", hunt.output.stdout);
}

#[test]
fn a_file_that_was_moved_aside_and_back_makes_its_step_again() {
    moved_aside_and_back("0", &["x"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_edited_file_that_was_moved_aside_and_back_makes_its_step_again() {
    moved_aside_and_back("0.00", &[]);
}

#[test]
#[ignore = "long: scripts/test --long"]
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
#[ignore = "long: scripts/test --long"]
fn a_new_file_whose_lines_are_in_another_file_does_not_explain_the_bad_end() {
    let (env, hunt) = hunt_with(|env| {
        step(env, "doc", "attic/doc", "words\n");
        step(env, "y", "src/another", "unlike 1.0\n");
        env.git(&["rm", "--quiet", "src/new"]);
        step(env, "r", "attic/doc", &format!("words\n{}", new_file("0")));
    });
    names_or_leaves_open(&env, &hunt, &["y"]);
}
