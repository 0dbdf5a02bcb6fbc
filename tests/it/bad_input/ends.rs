//! A command or a configuration that is wrong at both endpoints: the answer quotes the program's
//! own message and does not mention the machine.

use super::seen;
use crate::kit::planted::{PPL_C, SCORE_H, planted, score_c};
use crate::kit::{Oracle, Output, TestEnvironment, line};

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
    No search is possible between the endpoints
    both endpoints fail alike, so the command or the configuration is wrong: ppl crashes (ended with exit code 2: error: unknown option: --thread)
    What ppl printed at 2b92d3cbf9:
      command: [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/build/engine run ppl 'src=[ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/src' 'cache=[ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/cache' 'out=[ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/out'
      | backend: cpu
      | usage: engine [--threads N]
      | error: unknown option: --thread
      log: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/logs/endpoint-2b92d3cbf9-ppl-[ATTEMPT].log
    Next: correct measure.ppl.command or [inputs] in oracle.toml; `bisect-ppl measure 2b92d3cbf9` tries it on one commit
    report: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/report.html (report.md, report.json and reproduce.sh are beside it)
    --- stderr
    hunt: [HUNT]
    good end 2b92d3cbf9 change 0
    bad end  79d5589c9d change 3
    range    3 commits
    good end 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
    good end 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
    bad end  79d5589c9d  ended with exit code 2: error: unknown option: --thread
    bad end  79d5589c9d  ended with exit code 2: error: unknown option: --thread
    bad end  79d5589c9d  ended with exit code 2: error: unknown option: --thread
    bad end  79d5589c9d  ended with exit code 2: error: unknown option: --thread
    good end 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
    good end 2b92d3cbf9  ended with exit code 2: error: unknown option: --thread
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
    No search is possible between the endpoints
    both endpoints fail alike, so the command or the configuration is wrong: it does not build (`[ENGINE] build [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/src [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/build`: exit code 2: all.c:12:3: error: 'y' undeclared)
    What the build printed at a0574a6d5e:
      | building 0
      | cc -O2 -Werror -c all.c
      | all.c:12:3: error: 'y' undeclared
      log: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/logs/build-a0574a6d5e-[ATTEMPT].log
    Next: install what the build does not find, or correct build.commands in oracle.toml; `bisect-ppl measure a0574a6d5e` tries it on one commit
    report: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/report.html (report.md, report.json and reproduce.sh are beside it)
    --- stderr
    hunt: [HUNT]
    good end a0574a6d5e change 0
    bad end  418148b9a1 change 3
    range    3 commits
    ");
}

/// A hunt with a real build, and with one mistake in its `oracle.toml`: the text `was` is replaced
/// by `is`.
fn with_a_mistake(ppl: &str, was: &str, is: &str) -> Output {
    let makefile =
        "ppl: ppl.c score.c score.h\n\t$(CC) -o $(BUILD)/ppl ppl.c score.c -lm\nBUILD ?= .\n";
    let files = [("Makefile", makefile), ("ppl.c", ppl), ("score.h", SCORE_H)];
    let env = planted(&files, "score.c", score_c).env;
    env.run(&["init"]).expect(0);
    let file = env.repo().join("oracle.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(was), "{text}");
    std::fs::write(&file, text.replacen(was, is, 1)).unwrap();
    env.run(&["start", "--good", "v1"]).expect(4)
}

#[test]
fn the_next_step_names_the_key_to_correct() {
    with_a_mistake(PPL_C, "/ppl --model", "/ppl --modle").says(&[
        "/ppl --modle ",
        "  | usage: ",
        "Next: correct measure.ppl.command or [inputs] in oracle.toml; `bisect-ppl measure ",
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_next_step_names_the_key_of_a_program_that_is_not_there_or_slow() {
    with_a_mistake(PPL_C, "/ppl --model", "/bin/ppl --model").says(&[
        "At ",
        ", ppl printed nothing\n  command: ",
        "/ppl: correct measure.ppl.command in oracle.toml; `bisect-ppl measure ",
    ]);
    let slow = PPL_C.replace("double nll", "sleep(5);\n    double nll");
    let slow = format!("#include <unistd.h>\n{slow}");
    with_a_mistake(&slow, "timeout = \"20m\"", "timeout = \"1s\"")
        .says(&["Next: set a longer measure.ppl.timeout in oracle.toml; `bisect-ppl measure "]);
}

#[test]
fn a_program_of_a_measure_that_is_missing() {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    Oracle::new(&env).ppl_command("no-such-engine {src}").write(&env);
    insta::assert_snapshot!(seen(&env, &env.run(&START)), @r"
    exit code 5
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  db6955cd27 change 3
    range    3 commits
    good end 317bf99e7c  program not found: no-such-engine
    note: a run of 317bf99e7c did not count: program not found: no-such-engine
    error: measure `ppl` needs the program `no-such-engine`, which was not found
    hint: if the name is wrong, correct measure.ppl.command and start a new hunt; else install `no-such-engine` or add its folder to PATH; after that, `bisect-ppl resume` goes on where it was
    ");
}
