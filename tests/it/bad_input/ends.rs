//! A command or a configuration that is wrong at both endpoints: the program's own words, and no
//! talk of the machine.

use super::seen;
use crate::kit::{Oracle, TestEnvironment, line};

const START: [&str; 5] = ["start", "--good", "v1", "--bad", "HEAD"];

/// An engine that does not know an option, and says so.
fn unknown_option() -> TestEnvironment {
    let env = TestEnvironment::new();
    line("g g b b")
        .with_all("fate = exit:2")
        .with_all("say_err = usage: engine [--threads N]\\nerror: unknown option: --thread")
        .build(&env);
    Oracle::new(&env).write(&env);
    env
}

#[test]
fn a_wrong_argument() {
    let env = unknown_option();
    insta::assert_snapshot!(seen(&env, &env.run(&START)), @r"
    exit code 4
    --- stdout
    An endpoint cannot be measured
    both endpoints fail alike, so the command or the configuration is wrong: ppl crashes (ended with exit code 2: error: unknown option: --thread)
    What ppl printed at 2b92d3cbf9:
      | backend: cpu
      | usage: engine [--threads N]
      | error: unknown option: --thread
      log: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/logs/endpoint-2b92d3cbf9-ppl-[ATTEMPT].log
    Next: correct oracle.toml; `bisect-ppl measure 2b92d3cbf9` tries it on one commit
    report: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/report.html (report.md, report.json and reproduce.sh are beside it)
    --- stderr
    hunt: [HUNT]
    good 2b92d3cbf9 change 0  bad 79d5589c9d change 3  3 commits between
    endpoint 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
    endpoint 79d5589c9d  ended with exit code 2: error: unknown option: --thread
    endpoint 79d5589c9d  ended with exit code 2: error: unknown option: --thread
    endpoint 79d5589c9d  ended with exit code 2: error: unknown option: --thread
    endpoint 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
    endpoint 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
    ");
    let report = env.run(&["report", "--format", "md"]).expect(0);
    report.says(&["What ppl printed at", "error: unknown option: --thread"]);
    let issue = env.run(&["report", "--format", "issue"]).expect(0);
    issue.says(&["What ppl printed at", "error: unknown option: --thread"]);
    let html = env.run(&["report", "--format", "html"]).expect(0);
    html.says(&["<pre><code>backend: cpu", "the whole log"]);
}

#[test]
fn measure_shows_what_the_engine_printed() {
    let env = unknown_option();
    let output = env.run(&["measure", "HEAD"]).expect(1);
    output.says(&[
        "cannot be measured: ended with exit code 2: error: unknown option: --thread",
        "  | usage: engine [--threads N]\n  | error: unknown option: --thread\n  log: ",
    ]);
}

#[test]
fn a_build_command_that_fails_at_both() {
    let env = TestEnvironment::new();
    line("g g b b")
        .with_all("build_exit = 2")
        .with_all("build_log = cc -O2 -Werror -c all.c\\nall.c:12:3: error: 'y' undeclared")
        .build(&env);
    Oracle::new(&env).write(&env);
    insta::assert_snapshot!(seen(&env, &env.run(&START)), @r"
    exit code 4
    --- stdout
    An endpoint cannot be measured
    both endpoints fail alike, so the command or the configuration is wrong: it does not build (`[ENGINE] build [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/src [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/build`: exit code 2: all.c:12:3: error: 'y' undeclared)
    What the build printed at a0574a6d5e:
      | building 0
      | cc -O2 -Werror -c all.c
      | all.c:12:3: error: 'y' undeclared
      log: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/logs/build-a0574a6d5e-[ATTEMPT].log
    Next: correct oracle.toml; `bisect-ppl measure a0574a6d5e` tries it on one commit
    report: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/report.html (report.md, report.json and reproduce.sh are beside it)
    --- stderr
    hunt: [HUNT]
    good a0574a6d5e change 0  bad 418148b9a1 change 3  3 commits between
    ");
}

#[test]
fn a_program_of_a_measure_that_is_missing() {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    Oracle::new(&env).ppl_command("no-such-engine {src}").write(&env);
    insta::assert_snapshot!(seen(&env, &env.run(&START)), @r"
    exit code 5
    hunt: [HUNT]
    good 317bf99e7c change 0  bad db6955cd27 change 3  3 commits between
    endpoint 317bf99e7c  program not found: no-such-engine
    note: a run of 317bf99e7c did not count: program not found: no-such-engine
    error: measure `ppl` needs the program `no-such-engine`, which was not found
    hint: install `no-such-engine` or add its folder to PATH, then `bisect-ppl resume`; if the name is wrong, correct measure.ppl.command and start a new hunt
    ");
}
