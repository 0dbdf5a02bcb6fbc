//! The prior of a search in noise, with real compilers: commits that change code which the builds
//! of both ends made differently come first.

use crate::kit::{Hunt, Oracle, TestEnvironment, line};

/// The perplexity is 7 plus what `k.c` adds, with a triangular noise of 0.1 (standard deviation).
const MAIN: &str = r#"
#include <stdio.h>
double k(void), same(void);
int main(void) {
    unsigned char random[2];
    FILE *file = fopen("/dev/urandom", "r");
    if (!file || fread(random, 1, 2, file) != 2) return 1;
    double noise = (random[0] + random[1]) / 510.0 - 0.5;
    double ppl = 7.0 + k() + same() + 0.5 * noise;
    printf("[1]%.6f,\nFinal estimate: PPL = %.6f +/- 0.01000\n", ppl, ppl);
}
"#;

const MAKE: &str = "OBJECTS = $(BUILD)/main.o $(BUILD)/k.o $(BUILD)/same.o\n\
    $(BUILD)/ppl: $(OBJECTS)\n\tcc -o $@ $^\n\
    $(BUILD)/%.o: src/%.c\n\tcc -MMD -c -o $@ $<\n";

#[test]
#[ignore = "long: scripts/test --long"]
fn commits_that_change_other_code_are_said_to_be_likelier() {
    let env = TestEnvironment::new();
    let k = |value: &str| format!("double k(void) {{ return {value}; }}\n");
    let mut plan = line(&["g"; 16].join(" "))
        .file(0, "Makefile", MAKE)
        .file(0, "src/main.c", MAIN)
        .file(0, "src/k.c", &k("0.0"))
        .file(0, "src/same.c", "double same(void) { return 0.0; }\n");
    for commit in (1..16).filter(|commit| ![6, 11].contains(commit)) {
        let text = format!("double same(void) {{ return 0.0; }} // {commit}\n");
        plan = plan.file(commit, "src/same.c", &text);
    }
    let plan = plan.file(6, "src/k.c", &k("0.0001")).file(11, "src/k.c", &k("1.0001"));
    let history = plan.build(&env);
    let oracle = Oracle::new(&env).build_command("make -C {src} BUILD={build}");
    oracle.ppl_command("{build}/ppl").write(&env);
    let words = ["start", "--good", "v1", "--bad", "main", "--search", "posterior"];
    let output = env.run_in(&env.repo(), &words);
    let hunt = Hunt::of(&env, output).expect(0, "culprit").names(&history, 11);
    let journal = hunt.file("journal.jsonl");
    let note = "2 of 15 commits change code that the builds of the two ends compiled differently";
    assert!(journal.contains(note), "{journal}");
}
