//! Trees of each build system, and the bundled engine.

use std::fs;
use std::time::Duration;

use bisect_ppl::config::Config;

use super::{init_finds_it, make_tree, written};
use crate::kit::TestEnvironment;
use crate::kit::planted::{MAIN_RS, PPL_C, SCORE_H, planted, score_c, score_rs};

/// Time for builds with a real compiler, while other tests use the same cores.
const PATIENCE: Duration = Duration::from_mins(6);

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
#[ignore = "long: scripts/test --long"]
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
#[ignore = "long: scripts/test --long"]
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

/// The bundled engine's tree, with an oracle.toml by `init`.
fn bundled() -> (TestEnvironment, String) {
    let env = TestEnvironment::new();
    let engine = env.repo();
    fs::remove_dir_all(&engine).unwrap();
    bisect_ppl::demo::lay_out(&engine).unwrap();
    fs::remove_file(engine.join("oracle.toml")).unwrap();
    env.run_in(&engine, &["init"]).expect(0).says(&["linked in from your checkout: .venv"]);
    let text = fs::read_to_string(engine.join("oracle.toml")).unwrap();
    (env, text)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_bundled_engine_s_own_tree_is_hunted_in() {
    let (env, text) = bundled();
    let found = env.spawn_product(&["start", "--good", "v1"]).wait_within(PATIENCE);
    let first = found.expect(0).stdout;
    let planted = "First bad commit: 0d18d84999acab6a509a6e7f1044fda56499b2b7";
    assert!(first.starts_with(planted), "{first}\n{text}");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_bundled_engine_s_own_tree_is_built_and_measured() {
    let (env, text) = bundled();
    let engine = env.repo();
    env.run(&["check", "--good", "v1"]).expect(0);
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
