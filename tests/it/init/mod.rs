//! `init` in real trees: `check` and `start` use the written file without a change.

mod inputs;
mod places;
mod programs;
mod settings;
mod start;
mod systems;

use std::fs;

use crate::kit::planted::{PPL_C, Planted, SCORE_H, planted, score_c};
use crate::kit::{Hunt, Output, TestEnvironment};

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
