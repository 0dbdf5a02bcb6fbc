//! A configuration that is missing, unreadable, or wrong.

use std::fs;

use super::{plain, refused};
use crate::kit::{Oracle, TestEnvironment, line};

const START: [&str; 3] = ["start", "--good", "v1"];

#[test]
fn one_that_is_not_there() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: there is no oracle.toml here
    hint: `bisect-ppl init --model F --text F` writes one, and so does `start` with these options; --config FILE names another file
    ");
    insta::assert_snapshot!(refused(&env, &["measure", "HEAD"]), @r"
    exit code 2
    error: there is no oracle.toml here
    hint: `bisect-ppl init --model F --text F` writes one, and so does `start` with these options; --config FILE names another file
    ");
    let args = ["start", "--good", "v1", "--config", "no/such.toml"];
    insta::assert_snapshot!(refused(&env, &args), @r"
    exit code 2
    error: there is no no/such.toml
    hint: `bisect-ppl init --model F --text F` writes one, and so does `start` with these options; --config FILE names another file
    ");
}

#[test]
fn one_that_is_no_text() {
    let env = plain("g b");
    fs::write(env.repo().join("oracle.toml"), b"version = 1 # caf\xe9\n").unwrap();
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: cannot read oracle.toml
    caused by: stream did not contain valid UTF-8
    hint: save it as UTF-8
    ");
    let args = ["start", "--good", "v1", "--config", "."];
    insta::assert_snapshot!(refused(&env, &args), @r"
    exit code 2
    error: cannot read .
    caused by: Is a directory (os error 21)
    hint: name the file in it with --config
    ");
    fs::write(env.repo().join("oracle.toml"), "version = = 1\n").unwrap();
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: oracle.toml has 2 problems
      oracle.toml:1:11: not valid TOML: extra `=`, expected nothing
      oracle.toml:1:13: not valid TOML: unexpected key or value, expected newline, `#`
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    ");
    fs::write(env.repo().join("oracle.toml"), "").unwrap();
    insta::assert_snapshot!(refused(&env, &START), @r#"
    exit code 2
    error: oracle.toml has 3 problems
      oracle.toml:1:1: guard: is missing: at least one [[guard]] is needed; e.g. `[[guard]]` and below it `metric = "ppl"`, `max_increase = 0.05`
      oracle.toml:1:1: measure: is missing: at least one [[measure]] is needed; e.g. `[[measure]]` and below it `name = "ppl"`, `command = "{build}/ppl --text {src}/text.txt"`, `parser = "llama-perplexity"`
      oracle.toml:1:1: version: is missing; e.g. `version = 1`
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    "#);
}

#[test]
fn one_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let env = plain("g b");
    fs::set_permissions(env.repo().join("oracle.toml"), fs::Permissions::from_mode(0o0)).unwrap();
    let output = env.spawn(super::as_somebody(&env, &env.repo(), &START)).wait();
    insta::assert_snapshot!(super::seen(&env, &output), @r"
    exit code 2
    error: cannot read oracle.toml
    caused by: Permission denied (os error 13)
    hint: check its permissions
    ");
}

#[test]
fn ten_mistakes_at_once() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let text = r#"version = 1
colour = "red"

[inputs]
"my model" = "../inputs/model.bin"

[build]
command = ["make"]
mode = "incremntal"
timeout = 30
jobs = 0

[[measure]]
name = "ppl"
command = "{build}/ppl --model {inputs.modle} | tee log"
parser = "perplexity"

[[measure]]
name = "speed"
command = "{biuld}/bench"
parser = "regex"
pattern = "(a"

[[guard]]
metric = "pppl"
max_increase = "much"
"#;
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    insta::assert_snapshot!(refused(&env, &START), @r#"
    exit code 2
    error: oracle.toml has 12 problems
      oracle.toml:2:1: colour: unknown key. Allowed: version, inputs, run, matrix, sweep, failures, worktree, build, prepare, measure, require, guard, level, statistics, environment, patch, overlay, ruler, report, executor, limits, notify, override
      oracle.toml:5:1: inputs.my model: a name is made of letters, digits, `_` and `-`.
      oracle.toml:8:1: build.command: unknown key; did you mean `commands`? Allowed: commands, env, mode, timeout, ignore, paths, jobs, confirm, keep, unread
      oracle.toml:9:8: build.mode: `incremntal` is not allowed; did you mean `incremental`? Allowed: clean, incremental, auto
      oracle.toml:10:11: build.timeout: expected a time with its unit in quotes, such as "90s", found an integer.
      oracle.toml:11:8: build.jobs: 0 is out of range; allowed: 1 to 4294967295
      oracle.toml:15:11: measure.ppl.command: no shell reads this, so `|` has no effect: quote it if it is meant literally, or write sh -c '…'
      oracle.toml:16:10: measure.ppl.parser: `perplexity` is not allowed; did you mean `llama-perplexity`? Allowed: llama-perplexity, llama-bench, llama-kld, llama-eval-callback, logits, text, tensors, lm-eval, parity, junit, regex, json, exit-code
      oracle.toml:20:11: measure.speed.command: unknown placeholder `{biuld}`; did you mean `build`? Allowed: {src} {build} {out} {cache} {jobs} {threads} {chunks} {commit} {short} {parent} {commit_date} {inputs.NAME} {matrix.NAME} {sweep.NAME} {prepare.NAME}; for braces of your own write `{{biuld}}`
      oracle.toml:22:11: measure.speed.pattern: not a regular expression: unclosed group.
      oracle.toml:25:10: guard[1].metric: there is no measure `pppl`; did you mean `ppl`? Measures: ppl, speed
      oracle.toml:26:16: guard[1].max_increase: expected a number, found a string.
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    "#);
    assert!(!env.repo().join(".git/bisect-ppl").exists(), "nothing at all is made");
    // `check` reports the same problems, and goes on with its other checks.
    let output = env.run(&["check"]).expect(1);
    for line in super::seen(&env, &output).lines().filter(|line| line.contains("oracle.toml:")) {
        assert!(line.starts_with("FAIL  config"), "{line}");
    }
    let output = output.says(&["FAIL  config", "ok    git", "ok    machine"]);
    assert!(!output.stdout.contains("looks again"), "{}", output.stdout);
}

#[test]
fn near_misses() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    Oracle::new(&env).build("mod = \"clean\"").write(&env);
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: oracle.toml has 1 problem
      oracle.toml:9:1: build.mod: unknown key; did you mean `mode`? Allowed: commands, env, mode, timeout, ignore, paths, jobs, confirm, keep, unread
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    ");
    Oracle::new(&env).ppl_command("{build}/engine run ppl {thread}").write(&env);
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: oracle.toml has 1 problem
      oracle.toml:12:11: measure.ppl.command: unknown placeholder `{thread}`; did you mean `threads`? Allowed: {src} {build} {out} {cache} {jobs} {threads} {chunks} {commit} {short} {parent} {commit_date} {inputs.NAME} {matrix.NAME} {sweep.NAME} {prepare.NAME}; for braces of your own write `{{thread}}`
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    ");
    Oracle::new(&env).ppl("timeot = \"2m\"").write(&env);
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: oracle.toml has 1 problem
      oracle.toml:16:1: measure.ppl.timeot: unknown key; did you mean `timeout`? Allowed: name, command, kind, parser, pattern, pick, pointer, pointers, category, file, timeout, env, cwd, before, after, exclusive, warmup, failures
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    ");
}

#[test]
fn measures_of_time_that_are_wrong() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let keys = "parser = \"regex\"\npattern = '([0-9.]+)'\npick = \"average\"\nexclusive = 1\nwarmup = 1000";
    Oracle::new(&env).measure("speed", "speed", keys).write(&env);
    insta::assert_snapshot!(refused(&env, &START), @r#"
    exit code 2
    error: oracle.toml has 3 problems
      oracle.toml:27:8: measure.speed.pick: `average` is not allowed. Allowed: first, last, min, max, sum, median, mean
      oracle.toml:28:13: measure.speed.exclusive: expected true, false or "runs", found an integer.
      oracle.toml:29:10: measure.speed.warmup: 1000 is out of range; allowed: 0 to 100
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    "#);
    let keys = "parser = \"regex\"\npattern = 'b=(.*)'\nkind = \"fact\"\npick = \"median\"";
    Oracle::new(&env).measure("launch", "launch", keys).write(&env);
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: oracle.toml has 1 problem
      oracle.toml:28:8: measure.launch.pick: facts are not numbers. Allowed: first, last
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    ");
}

#[test]
fn what_is_not_there_yet() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    Oracle::new(&env).section("[run]\nexclusive = true").write(&env);
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: oracle.toml has 1 problem
      oracle.toml:22:1: run.exclusive: not available yet.
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    ");
}

#[test]
fn one_at_the_top_of_the_checkout_is_found_from_below() {
    let env = plain("g g b b");
    let below = env.repo().join("deep/down");
    fs::create_dir_all(&below).unwrap();
    env.run_in(&below, &["check"]).expect(0).says(&["repo/oracle.toml", "inputs/model.bin"]);
    env.run_in(&below, &["measure", "HEAD"]).expect(0);
    // The nearest oracle.toml is used, and its paths start from its folder.
    Oracle::new(&env).write_to(&below.join("oracle.toml"));
    env.run_in(&below, &["measure", "HEAD"]).expect(2).says(&["model", "deep/down/../inputs"]);
}
