//! What is refused, and how: before a hunt exists, or after the endpoints were measured.

use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

/// Nothing was made: no hunt, no build.
#[track_caller]
fn assert_nothing_made(env: &TestEnvironment) {
    let hunts = env.repo().join(".git/bisect-ppl/hunts");
    let made = std::fs::read_dir(&hunts).is_ok_and(|mut entries| entries.next().is_some());
    assert!(!made, "a hunt was begun");
    assert!(env.starts().is_empty(), "{:?}", env.starts());
}

fn plain(words: &str) -> TestEnvironment {
    let env = TestEnvironment::new();
    line(words).build(&env);
    Oracle::new(&env).write(&env);
    env
}

#[test]
fn endpoints_within_the_tolerance_end_the_hunt_with_both_figures() {
    let env = plain("7.0 7.5 7.5 7.125");
    let before = Snapshot::of(&env);
    let hunt = env.hunt().expect(4, "no-regression");
    hunt.output.says(&["0.125", "0.2"]);
    assert_eq!(env.runs().len(), 4, "only the endpoints ran");
    before.assert_unchanged(&env);
}

#[test]
fn endpoints_the_wrong_way_round_in_measure_are_no_regression() {
    let env = plain("7.5 7.5 7.0 7.0");
    env.hunt().expect(4, "no-regression").output.says(&["-0.5"]);
}

#[test]
fn endpoints_the_wrong_way_round_in_ancestry_are_refused() {
    let env = plain("g g b b");
    env.run(&["start", "--good", "HEAD", "--bad", "v1"]).expect(2).says(&["reversed"]);
    assert_nothing_made(&env);
}

#[test]
fn one_commit_for_both_is_refused() {
    let env = plain("g g b b");
    env.run(&["start", "--good", "main", "--bad", "HEAD"]).expect(2).says(&["same commit"]);
    assert_nothing_made(&env);
}

#[test]
fn an_unknown_revision_is_refused_by_its_name() {
    let env = plain("g g b b");
    env.run(&["start", "--good", "v9.9", "--bad", "HEAD"]).expect(2).says(&["v9.9"]);
    env.run(&["start", "--good", "v1", "--bad", "nowhere"]).expect(2).says(&["nowhere"]);
    env.run(&["start", "--good", "v1", "--skip", "nothing"]).expect(2).says(&["nothing"]);
    assert_nothing_made(&env);
}

#[test]
fn histories_without_a_common_commit_are_refused() {
    let env = plain("g g b b");
    env.git(&["checkout", "--quiet", "--orphan", "other"]);
    env.git(&["commit", "--quiet", "-m", "another beginning"]);
    env.run(&["start", "--good", "v1", "--bad", "other"]).expect(2);
    assert_nothing_made(&env);
}

#[test]
fn all_problems_of_a_configuration_come_at_once() {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    Oracle::new(&env)
        .build("mod = \"clean\"")
        .ppl("colour = 3")
        .only_guard("metric = \"pppl\"\nmax_increase = \"much\"")
        .section("[run]\nthreads = 0")
        .write(&env);
    let output = env.run(&["start", "--good", "v1"]).expect(2);
    let output = output.says(&["oracle.toml", "mod", "mode", "colour", "pppl", "threads"]);
    assert!(!output.stderr.contains("panicked"));
    assert_nothing_made(&env);
    assert!(!env.repo().join(".git/bisect-ppl").exists(), "nothing at all is made");
}

#[test]
fn a_configuration_that_is_no_toml_or_is_not_there_is_refused() {
    let env = plain("g g b b");
    std::fs::write(env.repo().join("oracle.toml"), "version = = 1\n").unwrap();
    env.run(&["start", "--good", "v1"]).expect(2).says(&["oracle.toml"]);
    std::fs::remove_file(env.repo().join("oracle.toml")).unwrap();
    env.run(&["start", "--good", "v1"]).expect(2).says(&["oracle.toml"]);
    env.run(&["start", "--good", "v1", "--config", "no/such.toml"]).expect(2).says(&["such.toml"]);
    assert_nothing_made(&env);
}

#[test]
fn an_input_that_is_not_there_is_refused() {
    let env = plain("g g b b");
    std::fs::remove_file(env.path("inputs/model.bin")).unwrap();
    env.run(&["start", "--good", "v1"]).expect(2).says(&["model.bin"]);
    assert_nothing_made(&env);
}

#[test]
fn a_placeholder_nobody_knows_is_refused() {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    Oracle::new(&env).ppl_command("{build}/engine run ppl {modle}").write(&env);
    env.run(&["start", "--good", "v1"]).expect(2).says(&["modle"]);
    assert_nothing_made(&env);
}

#[test]
fn outside_a_repository_nothing_is_hunted() {
    let env = plain("g g b b");
    let folder = env.path("home");
    let config = env.repo().join("oracle.toml");
    let args = ["start", "--good", "v1", "--config", config.to_str().unwrap()];
    env.run_in(&folder, &args).expect(2).says(&["repository"]);
}

#[test]
fn what_is_typed_wrongly_is_refused() {
    let env = plain("g g b b");
    env.run(&["start"]).expect(2).says(&["--good"]);
    env.run(&["start", "--good", "v1", "--colour"]).expect(2).says(&["--colour"]);
    env.run(&["hunt"]).expect(2);
    env.run(&[]).expect(2);
    env.run(&["resume"]).expect(2).says(&["no hunt"]);
    assert_nothing_made(&env);
}

#[test]
fn what_is_not_there_yet_is_refused_by_name() {
    let env = plain("g g b b");
    let flags: [&[&str]; 6] = [
        &["--search", "posterior"],
        &["--slots", "2"],
        &["--find-fix"],
        &["--deadline", "08:00"],
        &["--detach"],
        &["--search", "auto", "--slots", "3"],
    ];
    for flag in flags {
        let mut args = vec!["start", "--good", "v1"];
        args.extend(flag);
        env.run(&args).expect(2).says(&["not available yet"]);
    }
    let commands: [&[&str]; 12] = [
        &["init"],
        &["verify", "report.json"],
        &["compare", "v1", "HEAD"],
        &["gate", "--base", "v1", "--head", "HEAD"],
        &["track", "v1..HEAD"],
        &["reproduce", "--good", "v1", "--bad", "HEAD"],
        &["localize", "HEAD"],
        &["diff", "logits", "a", "b"],
        &["store", "ls"],
        &["completions", "bash"],
        &["man"],
        &["schema"],
    ];
    for args in commands {
        env.run(args).expect(2).says(&["not available yet", args[0]]);
    }
    assert_nothing_made(&env);
}

#[test]
fn a_parser_that_is_not_there_yet_is_refused_by_name() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    Oracle::new(&env).measure("kld", "ppl", "parser = \"llama-kld\"").write(&env);
    env.run(&["start", "--good", "v1"]).expect(2).says(&["llama-kld", "not available yet"]);
    assert_nothing_made(&env);
}
