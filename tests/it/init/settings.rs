//! Settings of a program that become a matrix, and settings that the user gives.

use std::fs;
use std::time::Duration;

use bisect_ppl::config::Config;

use super::{MAKEFILE, make_tree, written};
use crate::kit::planted::{PPL_C, SCORE_H, planted, score_c};

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
