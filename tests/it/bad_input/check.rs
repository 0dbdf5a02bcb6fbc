//! `check` refuses what `start` refuses, in the same words.

use std::fs;

use serde_json::Value;

use super::{plain, refused, seen};
use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

/// Runs `check` and `start` with the same arguments: both refuse, with the same message and hint.
/// Returns the lines of `check` that are not `ok`.
fn both_refuse(env: &TestEnvironment, args: &[&str]) -> String {
    let with = |command| [&[command], args].concat();
    let start = refused(env, &with("start"));
    let (message, hint) = start
        .strip_prefix("exit code 2\nerror: ")
        .and_then(|rest| rest.trim_end().split_once("\nhint: "))
        .unwrap_or_else(|| panic!("{start}"));
    let check = refused(env, &with("check"));
    let message = message.replace("\ncaused by: ", ": ");
    assert!(check.contains(&format!("{message}; {hint}")), "{start}\n{check}");
    assert!(check.starts_with("exit code 1\n"), "{check}");
    let lines =
        check.lines().skip(2).filter(|line| !line.starts_with("ok ") && !line.starts_with("tip "));
    let lines = lines.filter(|line| !line.starts_with(' ') && *line != "--- stderr");
    // Every configuration of these tests names a folder outside.
    lines.filter(|line| !line.starts_with("warn  path")).collect::<Vec<_>>().join("\n")
}

#[test]
fn endpoints_that_span_no_history() {
    let env = plain("g g b b");
    insta::assert_snapshot!(both_refuse(&env, &["--good", "main"]), @r"
    FAIL  range        good and bad are the same commit, db6955cd27683b28e1b537b7efc61a98289c9c7c; name two different commits for --good and --bad
    1 problem, 1 warning. Correct each line with FAIL, then check again
    ");
    insta::assert_snapshot!(both_refuse(&env, &["--good", "HEAD", "--bad", "v1"]), @r"
    FAIL  range        good (db6955cd27) is a descendant of bad (317bf99e7c): the endpoints are reversed; swap --good and --bad, or hunt the commit that mended something with --find-fix
    1 problem, 1 warning. Correct each line with FAIL, then check again
    ");
    insta::assert_snapshot!(both_refuse(&env, &["--good", "v1", "--bad", "HEAD", "--find-fix"]), @r"
    FAIL  range        bad (db6955cd27) is a descendant of good (317bf99e7c): the endpoints are reversed; with --find-fix the good revision is the newer one: swap them, or leave --find-fix out
    1 problem, 1 warning. Correct each line with FAIL, then check again
    ");
    insta::assert_snapshot!(both_refuse(&env, &["--good", "v9.9"]), @r"
    FAIL  revision     unknown revision `v9.9`; check the spelling; if it is a tag or a branch of the remote: git fetch --tags, then `git rev-parse v9.9`
    1 problem, 1 warning. Correct each line with FAIL, then check again
    ");
    insta::assert_snapshot!(both_refuse(&env, &["--good", "v1", "--", "no/such/path"]), @r"
    FAIL  range        no commit between good and bad touches no/such/path; widen the paths, or leave them out
    1 problem, 1 warning. Correct each line with FAIL, then check again
    ");
    both_refuse(&env, &["--good", "v1", "--skip", "nothing"]);
    both_refuse(&env, &["--good", "v1", "--target-of", "speed=spread"]);
}

#[test]
fn a_link_without_a_target() {
    let env = plain("g g b b");
    let oracle = Oracle::new(&env).section("[worktree]\nlink = [\".venv\"]");
    oracle.write(&env);
    insta::assert_snapshot!(both_refuse(&env, &["--good", "v1"]), @r"
    FAIL  link         `.venv` cannot be linked: [ROOT]/repo/.venv does not exist; make it in your checkout, or take it out of `link` under [worktree] in oracle.toml
    1 problem, 1 warning. Correct each line with FAIL, then check again
    ");
    fs::create_dir(env.repo().join(".venv")).unwrap();
    env.run(&["check", "--good", "v1"]).expect(0).says(&["ok    link         .venv"]);
}

#[test]
fn all_problems_are_told_at_once() {
    let env = plain("g g b b");
    fs::remove_file(env.path("inputs/model.bin")).unwrap();
    let oracle = Oracle::new(&env).section("[worktree]\nlink = [\".venv\"]");
    oracle.build_command("no-such-compiler {src}").write(&env);
    let output = env.run(&["check", "--good", "main", "--json"]).expect(1);
    let whole: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&whole["schema"], &whole["ok"]), (&"bisect-ppl/check/1".into(), &false.into()));
    let failed = whole["checks"].as_array().unwrap().iter().filter(|one| one["state"] == "fail");
    let failed: Vec<&str> = failed.map(|one| one["check"].as_str().unwrap()).collect();
    assert_eq!(failed, ["range", "link", "input", "tool"]);
    assert_eq!(whole["problems"], 4);
}

#[test]
fn a_range_that_can_be_hunted() {
    let env = plain("g g b b");
    let said = env.run(&["check", "--good", "v1"]).expect(0).stdout;
    assert!(said.contains("ok    range        3 commits, about 2 steps\n"), "{said}");
    assert!(said.ends_with("1 warning. Next: bisect-ppl start --good v1\n"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let fix = ["check", "--find-fix", "--bad", "v1", "--", ":(glob)engine.*"];
    let said = env.run(&fix).expect(0).stdout;
    assert!(said.contains("ok    range        1 commit, about 0 steps\n"), "{said}");
    let next = " Next: bisect-ppl start --bad v1 --find-fix -- ':(glob)engine.*'\n";
    assert!(said.ends_with(next), "{said}");
}

#[test]
fn a_commit_is_built_and_measured_on_trial() {
    let env = TestEnvironment::new();
    line("g x g b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let said = |args: &[&str], code| {
        let output = env.run(args).expect(code);
        let said = seen(&env, &output);
        let is_trial = |line: &&str| {
            [" build  ", " run  ", " |", "log: "].iter().any(|part| line.contains(part))
        };
        let lines = said.lines().filter(is_trial);
        let text = lines.collect::<Vec<_>>().join("\n");
        regex::Regex::new(r"in [0-9.]+ s").unwrap().replace_all(&text, "in [T]").into_owned()
    };
    insta::assert_snapshot!(said(&["check", "--good", "v1", "--build"], 0), @r"
    ok    build        317bf99e7c; built and measured in [T]
    ok    run          ppl: ppl 7 in [T]
    ");
    insta::assert_snapshot!(said(&["check", "--bad", "HEAD~2", "--build"], 1), @r"
    FAIL  build        4c340c013b does not build: `[ENGINE] build [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/src [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/build`: exit code 1: error: engine.c:1: broken
                         | building 1
                         | error: engine.c:1: broken
                         log: [ROOT]/repo/.git/bisect-ppl/builds/[KEY]/[ATTEMPT].log
    ");
    before.assert_unchanged(&env);
    // A hunt takes the run from the store: one run of the good end is left.
    assert_eq!(env.runs_of(0), 1);
    env.hunt().expect(0, "culprit");
    assert_eq!(env.runs_of(0), 2);
    // With another problem nothing is built.
    fs::remove_file(env.path("inputs/model.bin")).unwrap();
    let starts = env.starts().len();
    env.run(&["check", "--good", "v1", "--build"]).expect(1);
    assert_eq!(env.starts().len(), starts);
}

#[test]
fn what_is_asked_only_inside_a_commit_is_tried_too() {
    let env = TestEnvironment::new();
    line("g g b")
        .with_all("tensors = l_out-0:1.5 result_output:3")
        .with_all("checks = q:pass:1e-7")
        .build(&env);
    Oracle::new(&env)
        .measure("dump", "dump", "parser = \"tensors\"")
        .measure("empty", "suite", "parser = \"tensors\"")
        .measure("code", "crash-please", "parser = \"parity\"")
        .measure("wide", "suite width={sweep.width}", "parser = \"parity\"")
        .section("[[level]]\nname = \"kernel\"\nmeasures = [\"code\"]")
        .section("[sweep]\nparameters.width = { values = [96, 171] }")
        .write(&env);
    let said = env.run(&["check", "--good", "v1", "--build"]).expect(0).stdout;
    let cause: Vec<&str> = said.lines().filter(|line| line.contains(" cause ")).collect();
    assert!(cause[0].starts_with("ok    cause        dump: 2 tensors in "), "{said}");
    assert!(cause[1].starts_with("warn  cause        empty: "), "{said}");
    assert!(cause[2].starts_with("warn  cause        code: "), "{said}");
    assert!(cause[3].starts_with("ok    cause        wide[width=96]: "), "{said}");
    assert!(said.contains("correct it, or the report will not have its result"), "{said}");
}

#[test]
fn a_metric_that_the_commit_on_trial_does_not_print() {
    let env = TestEnvironment::new();
    let history = line("g g g").with_all("tg = 40").build(&env);
    let oracle = Oracle::new(&env).only_guard("metric = \"speed.tg64\"\nmax_decrease = 1");
    oracle.measure("speed", "bench", "parser = \"llama-bench\"").write(&env);
    let bad = &history.commit(2)[..10];
    env.run(&["check", "--bad", "HEAD", "--build"]).expect(1).says(&[&format!(
        "FAIL  metric       {bad}'s runs did not yield speed.tg64 (they yielded: speed."
    )]);
}

#[test]
fn a_store_of_a_newer_program() {
    let env = plain("g b");
    env.run(&["measure", "HEAD"]).expect(0);
    fs::write(env.repo().join(".git/bisect-ppl/format"), "7\n").unwrap();
    let output = env.run(&["check"]).expect(1);
    output.says(&["FAIL  store", "store format 7, this program knows 1; use the newer bisect-ppl"]);
}
