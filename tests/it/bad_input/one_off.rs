//! `start --set` and `start --arg` that change an oracle.toml wrongly: messages name the option.

use super::{plain, refused};
use crate::kit::Oracle;

fn start<'w>(words: &[&'w str]) -> Vec<&'w str> {
    [&["start", "--good", "v1"], words].concat()
}

#[test]
fn keys_and_values_that_do_not_fit() {
    let env = plain("g b");
    let words = [
        "--set=run.threads=many",
        "--set=guard.ppl.max_rise=0.1",
        "--set=measure.pll.timeout=1h",
        "--set=guard.speed.max=1",
    ];
    insta::assert_snapshot!(refused(&env, &start(&words)), @r"
    exit code 2
    error: oracle.toml with --set has 4 problems
      --set guard.ppl.max_rise=0.1: guard[1].max_rise: unknown key. Allowed: metric, preset, max_increase, max_increase_percent, max_decrease, max_decrease_percent, max, min, unchanged
      --set guard.speed.max=1: guard[2].metric: there is no measure `speed`. Measures: ppl
      --set measure.pll.timeout=1h: measure.pll: there is no measure `pll`; did you mean `ppl`? Measures: ppl
      --set run.threads=many: run.threads: expected a whole number, found a string.
    hint: `bisect-ppl help oracle-toml` lists the keys; the file itself has no problem
    ");
    let words = [
        "--set=threads",
        "--set=a b=1",
        "--set=guard.ppl=1",
        "--set=build.cmake=-DGGML_CUDA=ON",
        "--set=override.when=1",
    ];
    insta::assert_snapshot!(refused(&env, &start(&words)), @r"
    exit code 2
    error: oracle.toml with --set has 5 problems
      --set 'a b=1': the key is not one of TOML's
      --set build.cmake='-DGGML_CUDA=ON': is not a key of oracle.toml: `init` builds a command from it. Set build.commands
      --set guard.ppl=1: name the guard and its key: guard.NAME.KEY
      --set override.when=1: cannot be set by an option: write it into the file
      --set threads: write KEY=VALUE
    hint: `bisect-ppl help oracle-toml` lists the keys; the file itself has no problem
    ");
}

#[test]
fn words_that_no_command_takes() {
    let env = plain("g b");
    let words = ["--arg=-c 4096", "--arg=pll=-c 4096", "--arg=ppl= ", "--arg=ppl='-c"];
    insta::assert_snapshot!(refused(&env, &start(&words)), @r#"
    exit code 2
    error: oracle.toml with --arg has 4 problems
      --arg '-c 4096': write MEASURE='WORDS'
      --arg pll='-c 4096': there is no measure `pll`; did you mean `ppl`? Measures: ppl
      --arg ppl="'-c": a quote is never closed
      --arg ppl=' ': has no words to append
    hint: `bisect-ppl help oracle-toml` lists the keys; the file itself has no problem
    "#);
    insta::assert_snapshot!(refused(&env, &start(&["--arg=ppl=-c {thread}"])), @r"
    exit code 2
    error: oracle.toml with --arg has 1 problem
      --arg ppl='-c {thread}': measure.ppl.command: unknown placeholder `{thread}`; did you mean `threads`? Allowed: {src} {build} {out} {cache} {jobs} {threads} {chunks} {commit} {short} {parent} {commit_date} {inputs.NAME} {matrix.NAME} {sweep.NAME} {prepare.NAME}; for braces of your own write `{{thread}}`
    hint: `bisect-ppl help oracle-toml` lists the keys; the file itself has no problem
    ");
    insta::assert_snapshot!(refused(&env, &start(&["--arg=ppl=| head"])), @r"
    exit code 2
    error: oracle.toml with --arg has 1 problem
      --arg ppl='| head': measure.ppl.command: no shell reads this, so `|` has no effect: quote it if it is meant literally, or write sh -c '…'
    hint: `bisect-ppl help oracle-toml` lists the keys; the file itself has no problem
    ");
}

#[test]
fn a_wrong_file_is_told_of_and_not_the_option() {
    let env = plain("g b");
    Oracle::new(&env).timeout("soon").write(&env);
    let words = ["--set=guard.ppl.max_increase=0.1", "--arg=ppl=-c 1"];
    insta::assert_snapshot!(refused(&env, &start(&words)), @r#"
    exit code 2
    error: oracle.toml has 1 problem
      oracle.toml:14:11: measure.ppl.timeout: `soon` is not a time; write it as "90s", "30m" or "1h 30m".
    hint: `bisect-ppl help oracle-toml` explains each key (https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md); `bisect-ppl check` looks again
    "#);
}

#[test]
fn a_model_or_a_text_is_for_a_file_that_is_not_there() {
    let env = plain("g b");
    insta::assert_snapshot!(refused(&env, &start(&["--model", "m.bin"])), @r"
    exit code 2
    error: oracle.toml is there already, and is left as it is
    hint: to hunt with this file, leave out --model and --text, which only serve to write a new one; --set inputs.NAME=FILE changes an input for this hunt; --config FILE writes another file
    ");
}
