//! `init` in trees without a perplexity program: their own tests are the measure.

use std::fs;

use crate::kit::planted::{commit, put};
use crate::kit::{Hunt, TestEnvironment};

const HEAD: &str = "#include <math.h>\n#include <stdio.h>\n";

/// The source of a program that prints its checks; `step` sets their difference.
fn checks(step: &str) -> String {
    format!(
        "{HEAD}
int main(void)
{{
    int bad = 0;
    for (int k = 1; k <= 3; k++) {{
        double diff = {step} * k;
        int pass = diff < 1e-3;
        printf(\"kernel_%c max_diff=%.3e %s\\n\", 'a' + k, diff, pass ? \"PASS\" : \"FAIL\");
        bad += !pass;
    }}
    return bad != 0;
}}
"
    )
}

const MAKEFILE: &str = "\
BUILD ?= build
$(BUILD)/test_kernels: tests/kernels.c
\tmkdir -p $(BUILD)
\t$(CC) -O1 -o $@ $< -lm
.PHONY: test-kernels test-install test test-all
test-kernels: $(BUILD)/test_kernels
\t./$(BUILD)/test_kernels
test-install:
\tfalse
test: test-kernels
\t@echo all of it
";

/// A tree of four commits with these `steps`, and the third commit: the planted one.
fn tree(files: &[(&str, &str)], at: &str, steps: [&str; 4]) -> (TestEnvironment, String) {
    let env = TestEnvironment::new();
    for (name, text) in files {
        put(&env.repo().join(name), text.as_bytes());
    }
    put(&env.repo().join(".gitignore"), b"oracle.toml\nbuild\n");
    let mut commits = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        put(&env.repo().join(at), format!("/* {number} */\n{}", checks(step)).as_bytes());
        commit(&env, &format!("change {number}"));
        commits.push(env.git(&["rev-parse", "HEAD"]).trim().to_owned());
    }
    env.git(&["tag", "v1", &commits[0]]);
    (env, commits.swap_remove(2))
}

fn written(env: &TestEnvironment) -> String {
    fs::read_to_string(env.repo().join("oracle.toml")).unwrap()
}

#[test]
fn a_suite_that_fails_is_hunted() {
    let (env, culprit) =
        tree(&[("Makefile", MAKEFILE)], "tests/kernels.c", ["1e-6", "1e-6", "5e-4", "5e-4"]);
    let said = env.run(&["init", "--set", "build.target=test-kernels"]).expect(0);
    said.says(&[
        "a suite of tests (no program for perplexity was found): `test-kernels`, Makefile:6",
        "output pattern guessed from tests/kernels.c:11",
    ]);
    let text = written(&env);
    for line in [
        "\"make -C {src} -j{jobs} build/test_kernels\",",
        "command = \"make -C {src} test-kernels\"",
        "parser  = \"parity\"",
        "metric       = \"suite.failed\"",
        "metric       = \"suite.max_diff\"",
        "measure = \"suite\"\nchecks  = \"same-set\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let hunt = Hunt::of(&env, env.run(&["start", "--good", "v1"])).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit, "{}", hunt.output.stderr);
}

#[test]
fn a_kernel_that_is_further_off_is_hunted_though_its_test_passes() {
    let (env, culprit) =
        tree(&[("Makefile", MAKEFILE)], "tests/kernels.c", ["1e-6", "1.1e-6", "9e-5", "9e-5"]);
    let started = env.run(&["start", "--good", "v1", "--set", "build.target=test-kernels"]);
    let hunt = Hunt::of(&env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit, "{}", hunt.output.stderr);
}

#[test]
fn a_commit_whose_suite_ends_early_is_not_taken_for_good() {
    let early = "1e-6; if (k > 1) break; diff = 1e-6";
    let (env, culprit) =
        tree(&[("Makefile", MAKEFILE)], "tests/kernels.c", ["1e-6", early, "5e-4", "5e-4"]);
    let started = env.run(&["start", "--good", "v1", "--set", "build.target=test-kernels"]);
    let hunt = Hunt::of(&env, started).expect(3, "candidates");
    let commits = hunt.report["commits"].as_array().unwrap();
    let skipped: Vec<_> = commits.iter().filter(|one| one["verdict"] == "skip").collect();
    assert_eq!((skipped.len(), &skipped[0]["skip"]), (1, &"other-checks".into()));
    let candidates = hunt.report["candidates"].as_array().unwrap();
    assert!(candidates.contains(&culprit.into()) && candidates.contains(&skipped[0]["commit"]));
}

#[test]
fn the_plainest_suite_is_taken_and_others_are_named() {
    let (env, _) = tree(&[("Makefile", MAKEFILE)], "tests/kernels.c", ["1", "2", "3", "4"]);
    let said = env.run(&["init"]).expect(0);
    said.says(&["`test` was taken; there is also test-kernels"]);
    let text = written(&env);
    assert!(text.contains("command = \"make -C {src} test\""), "{text}");
    assert!(text.contains("parser  = \"exit-code\"           # 0: it passes"), "{text}");
    assert!(!text.contains("test-install"), "{text}");
    env.run(&["init", "--force", "--set", "build.target=test-nothing"])
        .expect(2)
        .says(&["no program or suite has this name; there is test, test-kernels, test_"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_suite_that_is_only_built_by_its_target_is_run_by_its_name() {
    let makefile = "kernel-test: tests/kernels.c\n\t$(CC) -O1 $^ -o $@ -lm\n";
    let (env, culprit) =
        tree(&[("Makefile", makefile)], "tests/kernels.c", ["1e-6", "1e-6", "5e-4", "5e-4"]);
    env.run(&["init"]).expect(0);
    let hunt = Hunt::of(&env, env.run(&["start", "--good", "v1"])).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit, "{}", hunt.output.stderr);
    let text = written(&env);
    assert!(text.contains("\"make -C {src} -j{jobs} kernel-test\","), "{text}");
    assert!(text.contains("command = \"{src}/kernel-test\""), "{text}");
}

#[test]
fn tests_that_cmake_knows_are_a_suite() {
    let top = "cmake_minimum_required(VERSION 3.13)\nproject(e C)\nenable_testing()\nadd_executable(kernels tests/kernels.c)\nadd_test(NAME kernels COMMAND kernels)\n";
    let (env, culprit) =
        tree(&[("CMakeLists.txt", top)], "tests/kernels.c", ["1e-6", "1e-6", "5e-4", "5e-4"]);
    let hunt = ["start", "--good", "v1", "--set", "run.threads=1"];
    let hunt = Hunt::of(&env, env.run(&hunt)).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit, "{}", hunt.output.stderr);
    let text = written(&env);
    assert!(text.contains("command = \"ctest --test-dir {build} --output-on-failure\""), "{text}");
}
