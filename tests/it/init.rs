//! `init` in real trees: `check` and `start` use the written file without a change.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use bisect_ppl::config::Config;

use crate::kit::planted::{
    MAIN_RS, PPL_C, Planted, SCORE_H, commit, planted, put, score_c, score_rs,
};
use crate::kit::{Hunt, Output, TestEnvironment};

/// Time for builds with a real compiler, while other tests use the same cores.
const PATIENCE: Duration = Duration::from_mins(6);

/// `init`, `check` and `start`, one after the other.
#[track_caller]
fn init_finds_it(tree: Planted, init: &[&str]) -> (TestEnvironment, Output) {
    let Planted { env, culprit } = tree;
    let mut words = vec!["init"];
    words.extend(init);
    let said = env.run(&words).expect(0);
    let home = toolchain();
    let home: Vec<(&str, &str)> = home.iter().map(|(k, v)| (*k, v.as_str())).collect();
    env.run_with(&env.repo(), &["check", "--good", "v1"], &home).expect(0);
    let started = env.run_with(&env.repo(), &["start", "--good", "v1"], &home);
    let hunt = Hunt::of(&env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit, "{}", hunt.output.stderr);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    (env, said)
}

/// Variables that lead `cargo` to rustup's toolchain, which the test's own home hides.
fn toolchain() -> Vec<(&'static str, String)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let place =
        |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| format!("{home}/{usual}"));
    vec![
        ("RUSTUP_HOME", place("RUSTUP_HOME", ".rustup")),
        ("CARGO_HOME", place("CARGO_HOME", ".cargo")),
    ]
}

/// The written oracle.toml.
fn written(env: &TestEnvironment) -> String {
    fs::read_to_string(env.repo().join("oracle.toml")).unwrap()
}

const MAKEFILE: &str = "\
BUILD ?= build
SRC = $(wildcard *.c)

all: $(BUILD)/ppl
$(BUILD)/ppl: $(SRC:%.c=$(BUILD)/%.o)
\t$(CC) -o $@ $^ -lm
$(BUILD)/%.o: %.c score.h
\tmkdir -p $(BUILD)
\t$(CC) -O1 -c -o $@ $<
";

fn make_tree() -> Planted {
    planted(&[("Makefile", MAKEFILE), ("ppl.c", PPL_C), ("score.h", SCORE_H)], "score.c", score_c)
}

#[test]
fn a_make_tree_is_hunted_in() {
    let (env, said) = init_finds_it(make_tree(), &[]);
    insta::assert_snapshot!(written(&env), @r#"
    # How each commit is built and measured, and what counts as worse. Written by
    # `bisect-ppl init`. A comment after a line says where the line comes from. Check the lines
    # whose comments say that they are a guess. Paths start from the folder of this file,
    # {src} is the tree at a commit, {build} a folder outside it.
    # Every key: `bisect-ppl help oracle-toml`, or
    # https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/oracle-toml.md

    version = 1

    [inputs]                        # read by every run; results are reused only for the same content
    model = "models/model.bin"      # a guess: the only file here that looks like a model
    text  = "data/corpus.txt"       # a guess: the only file here that looks like a text to measure on

    [build]                         # make, as Makefile has it
    commands = [                    # no shell runs; {…} is filled in after the split into words
        "make -C {src} BUILD={build} -j{jobs} {build}/ppl",  # `ppl`, Makefile:5
    ]
    mode    = "clean"               # no object file survives from one commit to the next
    timeout = "30m"                 # for each command
    # jobs  = 2                     # {jobs}; default: the cores of this machine

    [[measure]]                     # what is run, and how its output is read
    name    = "ppl"
    command = "{build}/ppl --model {inputs.model} -f {inputs.text}"
    #         --model ppl.c:11
    #         -f ppl.c:12
    parser  = "llama-perplexity"    # its final line is printed in ppl.c:20
    timeout = "20m"                 # of one run

    [run]
    # threads = 2                   # {threads}; default: the cores of this machine

    [[guard]]                       # a commit is bad when it breaks this
    metric       = "ppl"
    max_increase = 0.05             # a guess: above what the good end measures, in its own unit

    [environment]
    # Results are reused and compared only if the output of these is the same.
    probe = ["cc --version"]
    "#);
    said.says(&[
        "warning: model: models/model.bin (a guess",
        "wrote oracle.toml",
        "hint: read it, then",
    ]);
}

#[test]
fn a_make_tree_that_builds_in_place_is_hunted_in() {
    let makefile = "CC = cc\n.PHONY: perplexity\nperplexity: ppl.c score.c\n\t$(CC) -O1 -o eval/perplexity ppl.c score.c -lm\n";
    let files = [
        ("engine/Makefile", makefile),
        ("engine/ppl.c", PPL_C),
        ("engine/score.h", SCORE_H),
        ("engine/eval/.keep", ""),
    ];
    let tree = planted(&files, "engine/score.c", score_c);
    let (env, _) = init_finds_it(tree, &["--set", "guard.ppl.max_increase=0.1"]);
    let text = written(&env);
    assert!(text.contains("make -C {src}/engine -j{jobs} perplexity"), "{text}");
    assert!(text.contains("{src}/engine/eval/perplexity --model"), "{text}");
    assert!(text.contains("max_increase = 0.1  # --set"), "{text}");
}

#[test]
fn a_cmake_tree_is_hunted_in() {
    let there = std::process::Command::new("cmake").arg("--version").output();
    assert!(there.is_ok(), "this test needs cmake; install it, e.g. apt-get install cmake");
    let top = "cmake_minimum_required(VERSION 3.13)\nproject(engine C)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\noption(ENGINE_TOOLS \"build the tools\" OFF)\nadd_subdirectory(src)\nif (ENGINE_TOOLS)\n  add_subdirectory(tools/ppl)\nendif()\n";
    let files = [
        ("CMakeLists.txt", top),
        (
            "src/CMakeLists.txt",
            "add_library(engine score.c)\ntarget_include_directories(engine PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\ntarget_link_libraries(engine m)\n",
        ),
        (
            "tools/ppl/CMakeLists.txt",
            "set(TARGET engine-perplexity)\nadd_executable(${TARGET} ppl.c)\ntarget_link_libraries(${TARGET} PRIVATE engine)\n",
        ),
        ("tools/ppl/ppl.c", PPL_C),
        ("src/score.h", SCORE_H),
    ];
    let tree = planted(&files, "src/score.c", score_c);
    let (env, _) = init_finds_it(tree, &["--set", "build.cmake=-DCMAKE_C_FLAGS=-g"]);
    let text = written(&env);
    let configure =
        "cmake -B {build} -S {src} -DCMAKE_BUILD_TYPE=Release -DENGINE_TOOLS=ON -DCMAKE_C_FLAGS=-g";
    assert!(text.contains(configure), "{text}");
    assert!(text.contains("{build}/bin/engine-perplexity --model {inputs.model} -f"), "{text}");
}

#[test]
fn a_cargo_tree_is_hunted_in() {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"engine\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[[bin]]\nname = \"ppl\"\npath = \"src/main.rs\"\n",
        ),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"engine\"\nversion = \"0.1.0\"\n"),
        ("src/main.rs", MAIN_RS),
    ];
    let (env, said) = init_finds_it(planted(&files, "src/score.rs", score_rs), &[]);
    let text = written(&env);
    assert!(
        text.contains("cargo build --release --locked --target-dir {build} -j{jobs} --bin ppl"),
        "{text}"
    );
    assert!(text.contains("pattern = 'perplexity +of +the +text: +("), "{text}");
    said.says(&["output pattern guessed from src/main.rs:21"]);
}

#[test]
fn the_bundled_engine_s_own_tree_is_hunted_in() {
    let env = TestEnvironment::new();
    let engine = env.repo();
    fs::remove_dir_all(&engine).unwrap();
    bisect_ppl::demo::lay_out(&engine).unwrap();
    fs::remove_file(engine.join("oracle.toml")).unwrap();
    env.run_in(&engine, &["init"]).expect(0).says(&["linked in from your checkout: .venv"]);
    env.run_in(&engine, &["check", "--good", "v1"]).expect(0);
    let text = fs::read_to_string(engine.join("oracle.toml")).unwrap();
    let found = env.spawn_product(&["start", "--good", "v1"]).wait_within(PATIENCE);
    let first = found.expect(0).stdout;
    let planted = "First bad commit: 0d18d84999acab6a509a6e7f1044fda56499b2b7";
    assert!(first.starts_with(planted), "{first}\n{text}");
    assert_eq!(env.git_in(&engine, &["status", "--porcelain"]), "");
    // The commented-out measure is valid too.
    let (before, speed) = text.split_once("# A hunt for speed").unwrap();
    let (_, speed) = speed.split_once("# [[measure]]").unwrap();
    let (speed, _) = speed.split_once("[environment]").unwrap();
    let lines = speed.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let speed = lines.collect::<Vec<_>>().join("\n");
    let both = format!("{before}\n[[measure]]{speed}").replace("    # \"make", "    \"make");
    let config =
        Config::parse(&both, &engine, "both").unwrap_or_else(|error| panic!("{error}\n{both}"));
    assert_eq!(config.build.commands.len(), 2, "{both}");
    let metrics: Vec<_> = config.guards.iter().map(|guard| guard.metric.to_string()).collect();
    assert_eq!(metrics, ["ppl", "speed.decode"]);
}

#[test]
fn start_writes_what_is_not_there_and_hunts_with_it() {
    let Planted { env, culprit } = make_tree();
    let recipe = ["--model", "models/model.bin", "--set", "guard.ppl.max_increase=0.1"];
    let start = |good: &'static str| [&["start", "--good", good], &recipe[..]].concat();
    // A wrong argument for the hunt: no hunt and no file.
    env.run(&start("nowhere")).expect(2).says(&["nowhere"]);
    assert!(!env.repo().join("oracle.toml").exists());

    let started = env.run(&start("v1")).says(&[
        "build: make, Makefile",
        "warning: text: data/corpus.txt (a guess",
        "wrote oracle.toml",
    ]);
    assert!(started.stderr.starts_with("hunt: "), "{}", started.stderr);
    let hunt = Hunt::of(&env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit);
    let init = [&["init", "-o", "-"], &recipe[..]].concat();
    let said = env.run(&init).expect(0);
    assert_eq!(written(&env), said.stdout);
    assert!(said.stderr.starts_with("reading this tree, and how older commits were built\n"));

    env.run(&start("v1")).expect(2).says(&[
        "error: oracle.toml is there already, and is left as it is",
        "hint: to hunt with this file, leave out --model and --text",
    ]);
    env.run(&["start", "--good", "v1"]).expect(0);
}

#[test]
fn start_hunts_where_nothing_can_be_written() {
    let Planted { env, culprit } = make_tree();
    let named = ["start", "--good", "v1", "--config", "/proc/o.toml", "--set", "build.jobs=1"];
    let started =
        env.run(&named).says(&["warning: cannot write /proc/o.toml: ", "uses its own copy"]);
    let hunt = Hunt::of(&env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit);
}

#[test]
fn settings_are_offered_as_a_matrix() {
    let options = "else if (!strcmp(argv[i], \"--threads\") || !strcmp(argv[i], \"-ctk\") /* cache type */) ;\n        else if (!strcmp(argv[i], \"-fa\") /* flash attention: \"on\" or \"off\" */) ;\n        else return";
    let ppl = PPL_C.replace("else return", options);
    let files = [("Makefile", MAKEFILE), ("ppl.c", &ppl), ("score.h", SCORE_H)];
    let env = planted(&files, "score.c", score_c).env;
    env.run(&["init"]).expect(0);
    let text = written(&env);
    let (_, block) = text.split_once("# [matrix]").unwrap_or_else(|| panic!("{text}"));
    let (block, rest) = block.split_once("\n[environment]").unwrap();
    let lines = block.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let block = lines.collect::<Vec<_>>().join("\n");
    let (before, _) = text.split_once("# The same program with other settings").unwrap();
    let whole = format!("{before}[matrix]{block}\n\n[environment]{rest}");
    let config = Config::parse(&whole, &env.repo(), "oracle.toml")
        .unwrap_or_else(|error| panic!("{error}\n{whole}"));
    let command = "--threads {threads} -ctk {matrix.ctk} -fa {matrix.fa}\"";
    assert!(text.contains(command), "{text}");
    assert_eq!(config.measures.len(), 2 + 8, "{whole}");
    fs::write(env.repo().join("oracle.toml"), whole).unwrap();
    let names: Vec<&str> = config.measures.iter().map(|m| m.name.as_str()).collect();
    env.run(&["measure", "HEAD"]).expect(0).says(&names);
}

#[test]
fn a_program_with_threads_alone_has_a_matrix_of_two_lines() {
    let ppl = PPL_C
        .replace("else return", "else if (!strcmp(argv[i], \"--threads\")) ;\n        else return");
    let files = [("Makefile", MAKEFILE), ("ppl.c", &ppl), ("score.h", SCORE_H)];
    let env = planted(&files, "score.c", score_c).env;
    env.run(&["init"]).expect(0);
    let text = written(&env);
    let ready = text.replace("# [matrix]", "[matrix]").replace("# threads = [1", "threads = [1");
    Config::parse(&ready, &env.repo(), "oracle.toml").unwrap_or_else(|e| panic!("{e}\n{ready}"));
    assert!(ready.contains("\n[matrix]\nthreads = [1, 2]"), "{text}");
}

// ---- what it does not write ----

#[test]
fn a_file_that_is_there_is_left_alone() {
    let env = make_tree().env;
    fs::write(env.repo().join("oracle.toml"), "mine").unwrap();
    env.run(&["init"]).expect(2).says(&["is there already", "hint: write elsewhere", "--force"]);
    assert_eq!(written(&env), "mine");
    let shown = env.run(&["init", "-o", "-"]).expect(0);
    assert_eq!(written(&env), "mine");
    env.run(&["init", "--force"]).expect(0);
    assert_eq!(written(&env), shown.stdout);
    env.run(&["init", "-o", "other/none.toml"]).expect(5).says(&["cannot write other/none.toml"]);
}

#[test]
fn what_the_user_names_wins() {
    let env = make_tree().env;
    fs::write(env.path("inputs/other.bin"), "x").unwrap();
    env.run(&["init", "--model", "../inputs/other.bin", "--text", "data/corpus.txt"]).expect(0);
    let text = written(&env);
    assert!(text.contains("model = \"../inputs/other.bin\"   # given with --model"), "{text}");
    assert!(text.contains("text  = \"data/corpus.txt\"       # given with --text"), "{text}");
    let gone = env.run(&["init", "--force", "--model", "gone.bin"]).expect(2);
    gone.says(&["--model gone.bin: No such file", "hint: correct the path"]);
    assert_eq!(written(&env), text, "nothing was written");
}

#[test]
fn settings_are_checked_as_the_file_is() {
    let env = make_tree().env;
    let refused = |set: &str, words: &[&str]| {
        env.run(&["init", "--set", set]).expect(2).says(words);
        assert!(!env.repo().join("oracle.toml").exists());
    };
    refused("run.thread=8", &["run.thread", "did you mean `threads`?", "nothing was written"]);
    refused("run.threads=many", &["run.threads", "expected a whole number"]);
    refused("threads", &["--set threads: write KEY=VALUE"]);
    refused("build.cmake=-DX=ON", &["this tree is built with make: write build.make"]);
    refused("guard.speed.tg.max=1", &["guard", "speed"]);
    let words = [
        "init",
        "--set",
        "run.threads=8",
        "--set",
        "build.jobs=4",
        "--set",
        "build.make=CFLAGS=-O0",
        "--set",
        "guard.ppl.max_increase_percent=2",
        "--set",
        "measure.ppl.timeout=1h",
    ];
    env.run(&words).expect(0);
    let config = Config::load(&env.repo().join("oracle.toml")).unwrap();
    assert_eq!((config.run.threads, config.build.jobs), (Some(8), Some(4)));
    assert_eq!(config.guards.len(), 1);
    assert_eq!(config.measures[0].timeout, Duration::from_hours(1));
    assert!(config.build.commands[0].text.ends_with("{build}/ppl CFLAGS=-O0"));
}

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

#[test]
fn what_may_be_the_model_or_the_text_is_named() {
    let env = make_tree().env;
    fs::write(env.repo().join("models/model.bin"), vec![b'x'; 5000]).unwrap();
    env.run(&["init"]).expect(2).says(&[
        "error: no model was found in this checkout\n  not taken: models/model.bin (4.9 KiB; init takes no smaller file than 64.0 KiB)",
        "hint: name one with --model FILE, such as --model models/model.bin",
    ]);
    fs::rename(env.repo().join("data/corpus.txt"), env.repo().join("data/val.txt")).unwrap();
    env.run_in(&env.repo().join("data"), &["init", "--model", "../models/model.bin"])
        .expect(2)
        .says(&[
            "error: no text was found in this checkout\n  not taken: val.txt (4.9 KiB; the name does not say that it is a text to measure on)",
            "hint: name one with --text FILE, such as --text val.txt",
        ]);
    env.run(&["init", "--model", "models"]).expect(2).says(&[
        "error: --model models is a folder; init needs the model's file",
        "hint: name the file: --model models/model.bin",
    ]);
    assert!(!env.repo().join("oracle.toml").exists());
}

#[test]
fn without_a_model_nothing_is_invented() {
    let env = make_tree().env;
    fs::remove_dir_all(env.repo().join("models")).unwrap();
    env.run(&["init"]).expect(2).says(&["no model was found", "hint: name one with --model FILE"]);
    assert!(!env.repo().join("oracle.toml").exists());
}

// ---- where it is run ----

#[test]
fn it_may_stand_below_beside_or_nowhere() {
    let env = make_tree().env;
    env.run_in(&env.repo().join("data"), &["init"]).expect(0);
    let text = fs::read_to_string(env.repo().join("data/oracle.toml")).unwrap();
    assert!(text.contains("text  = \"corpus.txt\""), "{text}");
    assert!(text.contains("make -C {src} BUILD="), "{text}");

    env.git(&["worktree", "add", "--quiet", "../linked"]);
    let said = env.run_in(&env.path("linked"), &["init"]).expect(2);
    said.says(&["no model was found"]);
    let model = env.repo().join("models/model.bin");
    let corpus = env.repo().join("data/corpus.txt");
    let words = ["init", "--model", model.to_str().unwrap(), "--text", corpus.to_str().unwrap()];
    env.run_in(&env.path("linked"), &words).expect(0);

    env.git(&["clone", "--quiet", "--bare", ".", "../bare"]);
    env.run_in(&env.path("bare"), &["init"]).expect(2).says(&["is a bare repository", "hint: "]);
    env.run_in(&env.path("tmp"), &["init"]).expect(2).says(&["not in a git repository"]);
}

#[test]
fn what_git_does_not_track_is_not_built() {
    let env = TestEnvironment::new();
    env.run(&["init"]).expect(2).says(&["no build file was found"]);
    put(&env.repo().join("Makefile"), MAKEFILE.as_bytes());
    env.run(&["init"])
        .expect(2)
        .says(&["Makefile lies here, but git does not track it", "git add Makefile"]);
}

#[test]
fn odd_trees_are_read_all_the_same() {
    use std::os::unix::ffi::OsStrExt;
    let Planted { env, .. } = make_tree();
    let odd = env.repo().join(std::ffi::OsStr::from_bytes(b"odd-\xff.c"));
    put(&odd, b"int x;\n");
    std::os::unix::fs::symlink("loop", env.repo().join("loop")).unwrap();
    std::os::unix::fs::symlink(".", env.repo().join("again")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", env.repo().join("zero.mk")).unwrap();
    put(&env.repo().join("two\nlines/Makefile"), b"\xff\xfe\nall: $(all\n");
    put(&env.repo().join("GNUmakefile"), format!("include zero.mk loop\n{MAKEFILE}").as_bytes());
    commit(&env, "odd things");
    env.run(&["init"]).expect(0);
    env.run(&["check"]).expect(0);
}

#[test]
fn a_hunt_without_a_configuration_is_offered_one() {
    let Planted { env, .. } = make_tree();
    for words in [&["start", "--good", "v1"][..], &["measure", "HEAD"]] {
        let output = env.run(words).expect(2);
        output.says(&[
            "error: there is no oracle.toml here",
            "hint: `bisect-ppl init --model F --text F` writes one for `ppl`, built with make (Makefile:5)",
        ]);
    }
    env.run(&["check"]).expect(1).says(&["there is no oracle.toml here", "writes one for `ppl`"]);
    env.run(&["start", "--good", "v1", "--config", "x/y.toml"])
        .expect(2)
        .says(&["there is no x/y.toml"]);
}

#[test]
fn a_hundred_thousand_files_take_a_moment() {
    let Planted { env, .. } = make_tree();
    let mut index = String::new();
    let blob = env.git(&["rev-parse", "HEAD:score.h"]);
    for number in 0..100_000 {
        let folder = number % 500;
        writeln!(index, "100644 {}\tlib/{folder}/{number}.c", blob.trim()).unwrap();
    }
    env.git_with_input(&["update-index", "--index-info"], index.as_bytes());
    let begun = std::time::Instant::now();
    env.run(&["init"]).expect(0);
    // This takes seconds in a debug build beside other tests. Reading each file takes far longer.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
