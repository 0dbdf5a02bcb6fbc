//! Something outside changes between two hunts, and no key contains it. Runs and confirmations of
//! the first hunt are then not compared with those of the second one.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{NUMBER, begin, commit_notes, hunt_by, step};
use crate::kit::{Hunt, TestEnvironment};

/// Commits 0, 1, … whose file `value` has these texts. `engine` is a shell script in the
/// checkout; `$outside` is the only file of a folder outside, such as a library.
fn history(engine: &str, values: &[&str]) -> TestEnvironment {
    let env = TestEnvironment::new();
    outside(&env, "1", "0");
    let folder = env.path("outside").display().to_string();
    let script = format!("value=$(cat \"$1\"/value) outside=$(cat {folder}/*)\n{engine}\n");
    put(&env.repo().join("engine.sh"), script.as_bytes());
    put(&env.repo().join(".gitignore"), b"oracle.toml\n");
    let text = "version = 1\n[[measure]]\nname = \"e\"\ncommand = \"sh {src}/engine.sh {src}\"\n\
                parser = \"regex\"\npattern = '^e = ([0-9.]+)'\n\
                [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n";
    put(&env.repo().join("oracle.toml"), text.as_bytes());
    for (number, value) in values.iter().enumerate() {
        put(&env.repo().join("value"), value.as_bytes());
        put(&env.repo().join("number"), number.to_string().as_bytes());
        commit(&env, &format!("change {number}"));
        env.git(&["tag", &format!("c{number}")]);
    }
    env
}

/// Replaces the file outside by one of another name.
fn outside(env: &TestEnvironment, name: &str, text: &str) {
    let folder = env.path("outside");
    std::fs::remove_dir_all(&folder).ok();
    put(&folder.join(name), text.as_bytes());
}

fn hunt(env: &TestEnvironment, good: &str, bad: &str) -> Hunt {
    env.start(&["--good", good, "--bad", bad])
}

fn named(hunt: &Hunt) -> &str {
    hunt.report["culprit"]["subject"].as_str().unwrap()
}

const SUM: &str = "echo e = $(awk \"BEGIN { print $value + $outside }\")";

#[test]
fn stored_runs_of_one_end_do_not_hide_a_regression() {
    let env = history(SUM, &["7", "7", "7", "7", "7.51", "7.51", "7.51", "7.51", "7.51"]);
    hunt(&env, "c0", "c2").expect(4, "no-regression");
    outside(&env, "2", "-0.5");
    let second = hunt(&env, "c0", "c8").expect(0, "culprit");
    assert_eq!(named(&second), "change 4");
    second.output.says(&["something outside changed since", "e was 7, and is 6.5 now"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn runs_of_two_earlier_hunts_do_not_hide_a_regression() {
    let env = history(SUM, &["7", "7", "7", "7", "7.51", "7.51", "7.51", "7.51", "7.51"]);
    hunt(&env, "c0", "c2").expect(4, "no-regression");
    outside(&env, "2", "-0.5");
    hunt(&env, "c6", "c8").expect(4, "no-regression");
    let third = hunt(&env, "c0", "c8").expect(0, "culprit");
    assert_eq!(named(&third), "change 4");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_confirmation_that_fresh_runs_contradict_does_not_count() {
    // Commit 5 makes the step with the first library, and commit 12 with the second one.
    let engine = "first=5; [ $outside = 0 ] || first=12\n\
                  [ $value -ge $first ] && echo e = 7.5 || echo e = 7";
    let numbers: Vec<String> = (0..19).map(|number| number.to_string()).collect();
    let values: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let env = history(engine, &values);
    // Two bad ends with the same commits before them.
    for (name, value) in [("side", "20"), ("last", "19")] {
        env.git(&["checkout", "--quiet", "-B", name, "c18"]);
        put(&env.repo().join("value"), value.as_bytes());
        commit(&env, name);
    }
    let first = hunt(&env, "c1", "side").expect(0, "culprit");
    assert_eq!(named(&first), "change 5");
    outside(&env, "2", "1");
    let second = hunt(&env, "c1", "last");
    // Stored runs of the search contradict fresh ones too, so the answer may stay open.
    let culprit = &second.report["culprit"]["subject"];
    assert!(culprit.is_null() || culprit == "change 12", "{culprit}");
    second.output.says(&["does not count, since something outside changed"]);
}

/// A second hunt over commits with the values 0 to 15, after the file outside has changed. The
/// first hunt ends in its search.
fn after_a_search(engine: &str) -> Hunt {
    let numbers: Vec<String> = (0..16).map(|number| number.to_string()).collect();
    let values: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let env = history(engine, &values);
    env.start(&["--good", "c0", "--bad", "c15", "--max-runs", "6"]).expect(3, "candidates");
    outside(&env, "2", "1");
    hunt(&env, "c0", "c15")
}

#[test]
fn fresh_runs_of_a_claimed_commit_contradict_those_of_an_earlier_hunt() {
    // With the second library no commit makes a step.
    let engine = "[ $outside = 0 ] && [ $value -ge 12 ] && echo e = 7.5 || echo e = 7";
    let second = after_a_search(engine).expect(4, "no-regression");
    second.output.says(&["something outside changed since", "e was 7.5, and is 7 now"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_new_build_of_the_bad_end_contradicts_the_runs_of_an_earlier_hunt() {
    // With the second library commit 9 undoes the step of commit 5.
    let engine = "[ $outside = 1 ] && [ $value -ge 9 ] && value=0\n\
                  [ $value -ge 5 ] && echo e = 7.5 || echo e = 7";
    let second = after_a_search(engine).expect(4, "no-regression");
    second.output.says(&["does not show what the earlier one showed", "e was 7.5, and is 7 now"]);
}

#[test]
fn a_crash_that_an_earlier_hunt_saw_once_is_not_forgotten() {
    let env = TestEnvironment::new();
    let mark = env.path("crashed").display().to_string();
    let crash = format!("[ -f x ] && [ ! -f '{mark}' ] && touch '{mark}' && kill -SEGV $$\n");
    begin(&env, &format!("{crash}echo 'e = 7'\n"));
    commit_notes(&env, 2);
    step(&env, "x", "x", "1");
    let first = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0.1"]);
    first.expect(4, "no-regression").output.says(&["e failed in 1 of", "SIGSEGV"]);
    let second = env.hunt().expect(4, "no-regression");
    assert!(!second.output.stdout.contains("were alike"), "{}", second.output.stdout);
    second.output.says(&["e failed in 1 of", "SIGSEGV", "an earlier hunt saw it"]);
}
