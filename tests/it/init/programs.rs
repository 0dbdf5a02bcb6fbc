//! Which program is measured, and what is said if its name or options tell too little.

use super::written;
use crate::kit::TestEnvironment;
use crate::kit::planted::{commit, put};

#[test]
fn a_program_that_tells_nothing_can_be_named() {
    let env = TestEnvironment::new();
    put(&env.repo().join("Makefile"), b"run: run.c\n\tcc -o run run.c\n");
    put(&env.repo().join("run.c"), b"int main(void) { return 0; }\n");
    commit(&env, "an engine");
    let said = env.run(&["init"]).expect(2);
    said.says(&[
        "the sources and names of the program of Makefile show no perplexity and no speed: run",
        "'measure.NAME.command={src}/run …'",
        "bisect-ppl help any-output",
    ]);
    assert!(!env.repo().join("oracle.toml").exists());
    put(&env.repo().join("m.gguf"), &vec![0; 70_000]);
    let command = "measure.score.command={src}/run {inputs.model}";
    env.run(&["init", "--set", command])
        .expect(2)
        .says(&["measure.score.parser: is missing", "guard: is missing"]);
    env.run(&[
        "init",
        "--set",
        command,
        "--set",
        "measure.score.parser=exit-code",
        "--set",
        "guard.score.max=0",
    ])
    .expect(0);
    env.run(&["check"]).expect(0);
    env.run(&["measure", "HEAD"]).expect(0).says(&["score 0"]);
}

#[test]
fn where_only_speed_is_measured_speed_it_is() {
    let env = TestEnvironment::new();
    put(&env.repo().join("Makefile"), b"all: bench\n");
    let source = r#"
int main(int argc, char **argv) {
    if (argc != 2) return puts("usage: bench MODEL"), 2;
    printf("decode: %.1f tok/s\n", 12.5);
}
"#;
    put(&env.repo().join("bench.c"), format!("#include <stdio.h>\n{source}").as_bytes());
    put(&env.repo().join("m.gguf"), &vec![0; 70_000]);
    commit(&env, "a bench");
    let said = env.run(&["init"]).expect(0);
    said.says(&["speed (no program for perplexity was found): `bench`, Makefile:1"]);
    let text = written(&env);
    for line in ["command = \"{src}/bench {inputs.model}\"", "metric       = \"speed.decode\""] {
        assert!(text.contains(line), "{text}");
    }
    env.run(&["measure", "HEAD"]).expect(0).says(&["speed.decode 12.5"]);
}

/// A program whose name says nothing, as in many small engines.
const RUN_C: &str = r#"
#include <stdio.h>
int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "Usage:   run <checkpoint> [options]\n");
        fprintf(stderr, "  -t <float>  temperature\n");
        return 1;
    }
    puts("Once upon a time");
    fprintf(stderr, "achieved tok/s: %f\n", 12.5);
    return 0;
}
"#;

#[test]
fn a_program_that_only_its_output_tells_is_measured() {
    let env = TestEnvironment::new();
    put(&env.repo().join("Makefile"), b"run: run.c\n\t$(CC) -o run run.c\n");
    put(&env.repo().join("run.c"), RUN_C.as_bytes());
    commit(&env, "an engine");
    put(&env.repo().join("tiny.bin"), &vec![0; 70_000]);
    let said = env.run(&["init", "--model", "tiny.bin", "--text", "run.c"]).expect(0).says(&[
        "speed (no program for perplexity was found): `run`, Makefile:1",
        "`run` takes a model and prints a speed, but its name does not say that it measures",
        "--text has no effect until a command names {inputs.text}: none does",
    ]);
    assert!(!said.stderr.contains("--model has no effect"), "{}", said.stderr);
    let text = written(&env);
    for line in ["command = \"{src}/run {inputs.model}\"", "metric       = \"speed.achieved\""] {
        assert!(text.contains(line), "{text}");
    }
    env.run(&["measure", "HEAD"]).expect(0).says(&["speed.achieved 12.5"]);
}

#[test]
fn a_program_is_offered_beside_a_suite_that_fails_here() {
    let env = TestEnvironment::new();
    let makefile = "run: run.c\n\t$(CC) -o run run.c\ntest:\n\tno-such-program-here\n";
    put(&env.repo().join("Makefile"), makefile.as_bytes());
    put(&env.repo().join("run.c"), RUN_C.as_bytes());
    put(&env.repo().join(".gitignore"), b"oracle.toml\ntiny.bin\n");
    commit(&env, "an engine");
    env.git(&["tag", "v1"]);
    put(&env.repo().join("run.c"), RUN_C.replace("Once", "One").as_bytes());
    commit(&env, "a change");
    put(&env.repo().join("tiny.bin"), &vec![0; 70_000]);
    env.run(&["init", "--model", "tiny.bin"]).expect(0).says(&[
        "a suite of tests (no program for perplexity was found): `test`, Makefile:3",
        "speed, as a comment: `run`, Makefile:1; `--set build.target=run` measures it instead",
        "--model has no effect until a command names {inputs.model}: none does",
    ]);
    // The suite's own output says why it fails.
    env.run(&["measure", "HEAD"]).expect(0).says(&["suite 2", "no-such-program-here"]);
    let started = env.run(&["start", "--good", "v1"]).expect(4).says(&[
        "suite is out of its bounds at the good end already (2)",
        "Next: name a --good at which suite is within its bounds, or correct the command of suite",
    ]);
    assert!(!started.stdout.contains("start --arg"), "{}", started.stdout);
    let target = ["--set", "build.target=run", "--model", "tiny.bin"];
    env.run(&[&["init", "--force"], &target[..]].concat()).expect(0);
    assert!(written(&env).contains("command = \"{src}/run {inputs.model}\""), "{}", written(&env));
}

#[test]
fn options_that_are_not_known_are_not_guessed() {
    let env = TestEnvironment::new();
    put(&env.repo().join("Makefile"), b"ppl: ppl.c\n\t$(CC) -o $@ $<\n");
    let source = "int main(int argc, char **argv) { return argv[1][0] == 'x'; }\n";
    put(&env.repo().join("ppl.c"), source.as_bytes());
    commit(&env, "a secret");
    let said = env.run(&["init"]).expect(2);
    said.says(&[
        "how `ppl` takes its model is not known",
        "--set 'measure.ppl.command={src}/ppl …'",
    ]);
    assert!(!env.repo().join("oracle.toml").exists());
}
