//! Hunts in which the first commit that shows the result does not explain what the bad end shows: a
//! later commit took its step back, and another one made it again; or each commit shifts the metric
//! by itself.

use crate::kit::planted::put;
use crate::kit::shell_engine::{
    FACT, NUMBER, PARITY, begin, commit_notes, hunt_by, is_candidate, names_or_leaves_open, step,
    subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// `m` takes the step of `x` back, and `y` makes it again: this engine prints 1 or 0 as `$bad`.
fn made_again(measure: &str, guard: &str, engine: &str) {
    let env = TestEnvironment::new();
    let bad = "bad=0; [ -f x ] && bad=1; [ -f m ] && bad=0; [ -f y ] && bad=1";
    begin(&env, &format!("{bad}\n{engine}"));
    commit_notes(&env, 3);
    step(&env, "x", "x", "1");
    commit_notes(&env, 8);
    step(&env, "m", "m", "1");
    commit_notes(&env, 4);
    step(&env, "y", "y", "1");
    commit_notes(&env, 2);
    assert_eq!(subjects(&hunt_by(&env, [measure, guard]).expect(0, "culprit")), ["y"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn plain_values_that_are_made_again_have_another_cause() {
    let engine = "[ $bad = 1 ] && echo e = avx || echo e = sse";
    made_again(FACT, "metric = \"e\"\nunchanged = true", engine);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_and_checks_that_are_made_again_have_another_cause() {
    made_again(NUMBER, "metric = \"e\"\nmax_increase = 0", "echo e = $((5 + bad))");
    let engine = "[ $bad = 1 ] && echo rope FAIL || echo rope PASS; echo norm PASS";
    made_again(PARITY, "metric = \"e.failed\"\nmax_increase = 0", engine);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_step_that_the_next_commit_takes_back_is_no_answer() {
    let engine = "v=100; [ -f x ] && v=$((v + 5)); [ -f m ] && v=$((v - 5))\n\
                  [ -f y ] && v=$((v + 5)); n=$(od -An -N1 -tu1 /dev/urandom)\n\
                  echo e = $v.$(printf %03d $n)";
    let env = TestEnvironment::new();
    begin(&env, engine);
    commit_notes(&env, 7);
    for file in ["x", "m", "y"] {
        step(&env, file, file, "1");
    }
    commit_notes(&env, 7);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 2"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["y"]);
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("most of it is gone at the next commit"), "{notes}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_main_line_before_a_second_merge_of_the_same_files_is_measured() {
    // The number of a fork must be that of the engine; the fork adapts to the first merge.
    let env = TestEnvironment::new();
    put(&env.repo().join("api"), b"0\n");
    let differs = "[ -f ours ] && [ $(cat ours) != $(cat api) ]";
    begin(&env, &format!("v=5; {differs} && v=6; echo e = $v"));
    env.git(&["branch", "engine"]);
    let merge = |number: &str| {
        env.git(&["checkout", "--quiet", "engine"]);
        step(&env, "api", "api", number);
        env.git(&["checkout", "--quiet", "main"]);
        let subject = format!("merge {number}");
        env.git(&["merge", "--quiet", "--no-ff", "-m", &subject, "engine"]);
    };
    step(&env, "fork", "ours", "0\n");
    merge("1");
    commit_notes(&env, 9);
    step(&env, "adapted", "ours", "1");
    merge("2");
    commit_notes(&env, 2);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]);
    names_or_leaves_open(&env, &hunt, &["merge 2"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_merge_that_takes_the_other_sides_file_does_not_rewrite_a_change() {
    let kernel = |code: &str, end: &str| format!("# a kernel\n{code}\n# its end: {end}\n");
    let env = TestEnvironment::new();
    let engine = "v=5.5014; grep -q slow k && v=5.6218; [ -f z ] && v=5.6331; echo e = $v";
    put(&env.repo().join("k"), kernel("fast path", "here").as_bytes());
    begin(&env, engine);
    commit_notes(&env, 3);
    env.git(&["branch", "side"]);
    step(&env, "x", "k", &kernel("slow path\nslow again", "here"));
    commit_notes(&env, 5);
    env.git(&["checkout", "--quiet", "side"]);
    step(&env, "side", "k", &kernel("fast path", "there"));
    env.git(&["checkout", "--quiet", "main"]);
    env.git(&["merge", "--quiet", "--no-commit", "--no-ff", "--strategy", "ours", "side"]);
    env.git(&["checkout", "side", "--", "k"]);
    step(&env, "merge", "z", "1");
    commit_notes(&env, 6);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.05"]);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "merge"), "{}", hunt.report["candidates"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_change_on_two_branches_does_not_make_runs_differ() {
    // The step of `j` comes after the merge, so the branch never has the bad end's level.
    let env = TestEnvironment::localizing();
    begin(&env, "v=70; [ -f c ] && v=$((v + 8)); [ -f j ] && v=$((v + 5)); echo e = $v");
    let steps = |files: &[&str]| {
        for file in files {
            step(&env, file, file, &format!("{file}\n"));
        }
    };
    steps(&["r1", "r2"]);
    env.git(&["branch", "side"]);
    steps(&["a1", "a2", "c", "a3"]);
    env.git(&["checkout", "--quiet", "side"]);
    steps(&["s1", "s2", "c", "s3", "s4"]);
    env.git(&["checkout", "--quiet", "main"]);
    env.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    steps(&["d1", "d2", "j", "d3"]);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]).expect(0, "culprit");
    let mut named = subjects(&hunt);
    named.sort();
    assert_eq!(named, ["c", "c", "j"]);
    let notes = hunt.report["notes"].to_string();
    assert!(!notes.contains("do not repeat"), "{notes}");
}

#[test]
fn in_noise_levels_that_each_commit_shifts_by_itself_name_no_commit() {
    // The step is at c13. c19 is the last commit, and much worse than c18: its shift is the largest.
    let times = [
        101_200, 101_000, 98_800, 97_200, 101_200, 98_100, 101_400, 101_100, 97_100, 101_200,
        100_200, 101_200, 95_400, 106_500, 106_000, 104_500, 104_000, 104_700, 101_000, 109_200,
    ];
    let env = TestEnvironment::new();
    put(&env.repo().join("val"), format!("{}\n", times[0]).as_bytes());
    begin(&env, "n=$(od -An -N1 -tu1 /dev/urandom)\necho e = $(($(cat val) + n))");
    for (number, level) in times.iter().enumerate().skip(1) {
        step(&env, &format!("c{number}"), "val", &format!("{level}\n"));
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 2500"]);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "c13"), "{}", hunt.report["candidates"]);
    let summary = hunt.report["summary"].as_str().unwrap();
    assert!(summary.contains("commits shift e by themselves, up and down"), "{summary}");
}

/// An engine that prints `v`, which `base` sets, with noise of 1.2.
fn noisy_steps(base: &str) -> String {
    format!(
        "{base}\nr() {{ od -An -N4 -tu4 /dev/urandom; }}\n\
         awk -v e=$v -v u=\"$(r)\" -v v=\"$(r)\" 'BEGIN {{\n\
         u = (u + 1) / 4294967297; v = v / 4294967296\n\
         printf \"e = %.4f\\n\", e + 1.2 * sqrt(-2 * log(u)) * cos(6.2831853 * v) }}'"
    )
}

/// A commit that also changes a file that every other commit changes too.
fn versioned_step(env: &TestEnvironment, file: &str) {
    let before = env.git(&["rev-list", "--count", "HEAD"]);
    put(&env.repo().join("VERSION"), before.as_bytes());
    step(env, file, file, &format!("after {before}"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_file_that_all_commits_change_does_not_hide_that_the_step_was_made_again() {
    // `m` takes the step of `x` back in another file, and `y` makes it again two commits later.
    let engine = noisy_steps("v=10; [ -f x ] && [ ! -f m ] && v=14; [ -f y ] && v=14");
    let env = TestEnvironment::localizing();
    begin(&env, &engine);
    let line = [&["n"; 4][..], &["x"], &["n"; 9], &["m", "n", "y"], &["n"; 7]].concat();
    for file in line {
        versioned_step(&env, file);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]);
    let is_right = hunt.output.code() == Some(3) || subjects(&hunt) == ["y"];
    assert!(is_right, "{}", hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_file_that_all_commits_change_leaves_nothing_open() {
    let env = TestEnvironment::localizing();
    begin(&env, &noisy_steps("v=10; [ -f x ] && v=14"));
    for file in [&["n"; 6][..], &["x"], &["n"; 9]].concat() {
        versioned_step(&env, file);
    }
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]);
    // Chance may leave the search open, but the bad end clearly needs the commit.
    if hunt.output.code() != Some(3) {
        let hunt = hunt.expect(0, "culprit");
        assert_eq!(subjects(&hunt), ["x"]);
        let notes = hunt.report["notes"].to_string();
        assert!(!notes.contains("still needs"), "{notes}");
    }
}

/// Sets `v` to 10 and the values in `k`; the file `off` makes that of `a` count for nothing.
const LINES: &str = "a=0; c=0; . ./k; [ -f off ] && a=0; v=$(awk \"BEGIN { print 10 + $a + $c }\")";

/// Commits of this engine: `a` adds the line of `a` to `k`, and `c` this line beside it. If
/// `switches_off`, `c` also adds the file `off`.
fn replaced_beside_its_lines(env: &TestEnvironment, engine: &str, line: &str, switches_off: bool) {
    put(&env.repo().join("k"), b"# head\n# tail\n");
    begin(env, engine);
    commit_notes(env, 3);
    step(env, "a", "k", "# head\na=4\n# tail\n");
    commit_notes(env, 10);
    if switches_off {
        put(&env.repo().join("off"), b"1\n");
    }
    step(env, "c", "k", &format!("# head\na=4\n{line}\n# tail\n"));
    commit_notes(env, 6);
}

/// `c` adds this line beside that of `a`, and switches that of `a` off.
fn switched_off_beside(line: &str) {
    let env = TestEnvironment::localizing();
    replaced_beside_its_lines(&env, &format!("{LINES}; echo e = $v"), line, true);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "a") && is_candidate(&env, &hunt, "c"), "{line}");
    let summary = hunt.report["summary"].as_str().unwrap();
    assert!(summary.contains("has no effect at the bad end"), "{summary}");
}

#[test]
fn a_commit_that_adds_lines_beside_a_change_and_switches_it_off_is_a_candidate() {
    switched_off_beside("c=4.2");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_that_switches_a_change_off_and_makes_a_smaller_step_is_a_candidate() {
    switched_off_beside("c=2.5");
}

/// A hunt as in [`replaced_beside_its_lines`], with a second step at `w`. If `switches_off`, the
/// commit right before `c` adds the file `off`.
fn replaced_beside_another_step(env: &TestEnvironment, line: &str, switches_off: bool) -> Hunt {
    put(&env.repo().join("k"), b"# head\n# tail\n");
    let second = "[ -f w ] && v=$(echo $v 8 | awk '{ print $1 + $2 }')";
    begin(env, &format!("{LINES}; {second}; echo e = $v"));
    commit_notes(env, 3);
    step(env, "a", "k", "# head\na=4\n# tail\n");
    commit_notes(env, 9);
    if switches_off {
        step(env, "off", "off", "1\n");
    }
    step(env, "c", "k", &format!("# head\na=4\n{line}\n# tail\n"));
    commit_notes(env, 1);
    step(env, "w", "w", "1\n");
    commit_notes(env, 3);
    hunt_by(env, [NUMBER, "metric = \"e\"\nmax_increase = 1"])
}

#[test]
#[ignore = "long: scripts/test --long"]
fn one_of_several_changes_is_switched_off_before_lines_beside_it_make_the_same_step() {
    let env = TestEnvironment::localizing();
    let hunt = replaced_beside_another_step(&env, "c=4", true);
    names_or_leaves_open(&env, &hunt, &["c", "w"]);
    let is_right = subjects(&hunt) == ["c", "w"];
    assert!(is_right || is_candidate(&env, &hunt, "c"), "{}", hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn small_steps_beside_the_lines_of_one_of_several_changes_leave_it_certain() {
    let env = TestEnvironment::localizing();
    let hunt = replaced_beside_another_step(&env, "c=0.2", false).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["a", "w"]);
    assert!(hunt.report["joint_revert"].to_string().contains("conflict"));
    assert!(hunt.report["culprits"][0]["confidence"].as_f64().unwrap() > 0.98);
}

#[test]
fn small_steps_beside_the_lines_of_a_change_leave_it_certain() {
    let env = TestEnvironment::localizing();
    replaced_beside_its_lines(&env, &format!("{LINES}; echo e = $v"), "c=0.2", false);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["a"]);
    assert!(hunt.report["culprits"][0]["confidence"].as_f64().unwrap() > 0.98);
}

/// The lines of a change are replaced. The value of the bad end is always the same, and `again`
/// makes it too.
fn replaced_with_the_same_digits() -> TestEnvironment {
    let env = TestEnvironment::localizing();
    let engine = format!("{LINES}; [ -f again ] && v=14; echo e = $v.5");
    replaced_beside_its_lines(&env, &engine, "# c", false);
    env
}

/// The confidence in the first commit that a hunt names.
fn confidence(hunt: &Hunt) -> f64 {
    hunt.report["culprits"][0]["confidence"].as_f64().unwrap_or_default()
}

#[test]
fn the_same_digits_do_not_make_a_change_certain_that_does_not_come_out() {
    let env = replaced_with_the_same_digits();
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["a"]);
    assert!(hunt.report["cause"]["revert"]["conflict"].is_string());
    assert!(confidence(&hunt) <= 0.98, "{}", hunt.output.stdout);
    hunt.output.says(&["no test shows that the bad end needs it. "]);
}

/// Two later commits, which the search may not measure, take the step back and make it again.
#[test]
#[ignore = "long: scripts/test --long"]
fn the_same_digits_do_not_make_a_change_certain_that_was_taken_back_and_made_again() {
    let env = replaced_with_the_same_digits();
    step(&env, "off", "off", "1\n");
    step(&env, "again", "again", "1\n");
    commit_notes(&env, 6);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]);
    let is_doubted =
        hunt.output.code() == Some(3) || subjects(&hunt) == ["again"] || confidence(&hunt) <= 0.98;
    assert!(is_doubted, "{}", hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_a_commit_that_adds_lines_beside_a_change_and_switches_it_off_leaves_doubt() {
    let env = TestEnvironment::localizing();
    replaced_beside_its_lines(&env, &noisy_steps(LINES), "c=4.2", true);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]);
    // Chance may leave the tests of the bad end undecided.
    let is_doubted = hunt.output.code() == Some(3)
        || subjects(&hunt) == ["c"]
        || hunt.report["culprits"][0]["confidence"].as_f64().unwrap() <= 0.98;
    assert!(is_doubted, "{}", hunt.output.stdout);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_commits_that_crash_are_no_answer_if_their_step_was_taken_back() {
    // `x` makes a step among commits that crash, and is taken back later, while the other files of
    // these commits stay. `y` makes the step again.
    let engine = "[ -f broken ] && [ ! -f repaired ] && exit 7\n\
                  v=10; [ \"$(cat x 2> /dev/null)\" = slow ] && v=18; [ -f y ] && v=18";
    let env = TestEnvironment::new();
    begin(&env, &noisy_steps(engine));
    commit_notes(&env, 2);
    step(&env, "broken", "broken", "1");
    step(&env, "x", "x", "slow");
    commit_notes(&env, 1);
    step(&env, "repaired", "repaired", "1");
    commit_notes(&env, 1);
    step(&env, "back", "x", "fast");
    commit_notes(&env, 1);
    step(&env, "y", "y", "1");
    commit_notes(&env, 1);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 3"]);
    names_or_leaves_open(&env, &hunt, &["y"]);
}
