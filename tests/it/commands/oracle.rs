//! `oracle` in a user's own bisect.

use std::fs;

use crate::kit::{History, Oracle, Output, TestEnvironment, line};

/// A user's clone for a bisect without the driver.
fn by_hand(words: &str) -> (TestEnvironment, History, std::path::PathBuf) {
    let env = TestEnvironment::new();
    let history = line(words).build(&env);
    let clone = env.path("clone");
    env.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    Oracle::new(&env).write_to(&clone.join("oracle.toml"));
    (env, history, clone)
}

fn oracle_at(env: &TestEnvironment, clone: &std::path::Path, commit: &str) -> Output {
    env.git_in(clone, &["checkout", "--quiet", commit]);
    env.tool(clone, "bisect-ppl", &["oracle"])
}

#[test]
fn git_bisect_run_can_call_the_oracle_itself() {
    let (env, history, clone) = by_hand("g g x g b b b");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    env.tool(&clone, "git", &["bisect", "run", "bisect-ppl", "oracle"]).expect(0);
    let bad = env.git_in(&clone, &["rev-parse", "refs/bisect/bad"]);
    assert_eq!(bad.trim(), history.commit(4));
    env.assert_no_survivors();
}

#[test]
fn git_bisect_run_stops_if_the_bad_commit_breaks_no_guard() {
    let (env, history, clone) = by_hand("g g g g g g");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    let output = env.tool(&clone, "git", &["bisect", "run", "bisect-ppl", "oracle"]);
    assert_ne!(output.code(), Some(0), "{}", output.stdout);
    let name = &history.commit(5)[..10];
    output.says(&[
        &format!("the bad commit {name} breaks no guard (ppl 7 against a baseline of 7)"),
        "hint: choose another bad commit, or a smaller tolerance",
    ]);
    assert_eq!(env.git_in(&clone, &["rev-parse", "refs/bisect/bad"]).trim(), history.commit(5));
    env.assert_no_survivors();
}

#[test]
fn git_bisect_run_stops_if_the_bad_commit_cannot_be_measured() {
    let (env, history, clone) = by_hand("g g g g x");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    let output = oracle_at(&env, &clone, history.commit(2));
    stops_git(&output);
    output.says(&[
        &format!("the bad commit {} cannot be measured", &history.commit(4)[..10]),
        "if you look for this failure, let [failures] count it as bad",
    ]);
}

#[test]
fn the_ends_of_ones_own_bisect_are_told_once_and_stay() {
    let (env, history, clone) = by_hand("g g g g b b b b");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    let output = env.tool(&clone, "git", &["bisect", "run", "bisect-ppl", "oracle"]).expect(0);
    let [good, bad] = [0, 7].map(|label| history.commit(label)[..10].to_owned());
    let told = format!("baseline {good}; bad {bad}: ppl 7.5");
    assert_eq!(output.stderr.matches(&told).count(), 1, "{}", output.stderr);
    // A bad value must repeat. Later steps take the ends from the store.
    assert_eq!([env.runs_of(0), env.runs_of(7)], [1, 2]);
}

#[test]
fn the_oracle_speaks_gits_language() {
    let (env, history, clone) = by_hand("g g x i b b b");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    oracle_at(&env, &clone, history.commit(1)).expect(0);
    oracle_at(&env, &clone, history.commit(2)).expect(125);
    oracle_at(&env, &clone, history.commit(3)).expect(125);
    oracle_at(&env, &clone, history.commit(5)).expect(1);
}

#[track_caller]
fn stops_git(output: &Output) {
    let code = output.code().expect("an exit code");
    assert!((128..=255).contains(&code), "{code}: {}", output.stderr);
}

#[test]
fn the_oracle_stops_git_where_it_cannot_judge() {
    let (env, history, clone) = by_hand("g g g b b");
    // No bisect, so no baseline.
    stops_git(&env.tool(&clone, "bisect-ppl", &["oracle"]));
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    fs::rename(clone.join("oracle.toml"), clone.join("mine.toml")).unwrap();
    stops_git(&oracle_at(&env, &clone, history.commit(1)));
    fs::write(clone.join("oracle.toml"), "version = 7\n").unwrap();
    stops_git(&oracle_at(&env, &clone, history.commit(1)));
    Oracle::new(&env).write_to(&clone.join("oracle.toml"));
    env.world("broken", true);
    stops_git(&oracle_at(&env, &clone, history.commit(1)));
    env.world("broken", false);
    oracle_at(&env, &clone, history.commit(1)).expect(0);
}

#[test]
fn the_oracles_usage_errors_and_help_are_no_verdicts() {
    let (env, _history, clone) = by_hand("g b");
    for args in [
        &["oracle", "--help"][..],
        &["oracle", "-h"],
        &["oracle", "--colour"],
        &["oracle", "too", "many"],
        &["oracle", "--hunt"],
        &["oracle", "--version"],
    ] {
        assert_eq!(env.tool(&clone, "bisect-ppl", args).code(), Some(129), "{args:?}");
    }
    stops_git(&env.tool(&clone, "bisect-ppl", &["oracle", "--hunt", "19990101-000000"]));
    env.tool(&clone, "bisect-ppl", &["--help"]).expect(0);
    env.tool(&clone, "bisect-ppl", &["--version"]).expect(0);
}
