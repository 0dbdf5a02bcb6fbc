//! `build.mode = "auto"`: the search builds on top of other builds, the ends and the confirmation
//! build clean.

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, line};

/// Source files beside `main.c`.
const PARTS: usize = 6;

/// The sum of all parts and of a header is the perplexity.
const MAIN: &str = r#"
#include <stdio.h>
#include "level.h"
double p0(void), p1(void), p2(void), p3(void), p4(void), p5(void);
int main(void) {
    double ppl = 7.0 + LEVEL + p0() + p1() + p2() + p3() + p4() + p5();
    printf("[1]%.4f,\nFinal estimate: PPL = %.4f +/- 0.01000\n", ppl, ppl);
}
"#;

/// A makefile that knows nothing of headers, and writes down what it compiles.
fn makefile(compiled: &str) -> String {
    format!(
        "OBJECTS = $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/*.c))\n\
         $(BUILD)/ppl: $(OBJECTS)\n\tcc -o $@ $^\n\
         $(BUILD)/%.o: src/%.c\n\tcc -MMD -c -o $@ $< && echo $< >> {compiled}\n"
    )
}

fn part(number: usize, value: &str) -> String {
    format!("double p{number}(void) {{ return {value}; }}\n")
}

/// Eight commits; each changes one part without effect.
fn plan(env: &TestEnvironment) -> Plan {
    let compiled = env.path("compiled");
    let mut plan = line(&["g"; 8].join(" "))
        .file(0, "Makefile", &makefile(compiled.to_str().unwrap()))
        .file(0, "src/main.c", MAIN)
        .file(0, "src/level.h", "#define LEVEL 0\n");
    for number in 0..PARTS {
        plan = plan.file(0, format!("src/p{number}.c"), &part(number, "0.0"));
    }
    for commit in 1..8 {
        let number = 3 + commit % 3;
        let value = format!("{commit} * 0.0");
        plan = plan.file(commit, format!("src/p{number}.c"), &part(number, &value));
    }
    plan
}

/// Hunts in this mode; returns the hunt and how many files were compiled.
fn hunt(env: &TestEnvironment, mode: &str) -> (Hunt, usize) {
    let keys = format!("mode = \"{mode}\"\nunread = \"build\"");
    let oracle = Oracle::new(env).build_command("make -C {src} BUILD={build}");
    oracle.build(&keys).ppl_command("{build}/ppl").write(env);
    let hunt = env.hunt();
    let compiled = std::fs::read_to_string(env.path("compiled")).unwrap();
    (hunt, compiled.lines().count())
}

fn in_mode(mode: &str, change: impl Fn(Plan) -> Plan) -> (TestEnvironment, Hunt, History, usize) {
    let env = TestEnvironment::new();
    let history = change(plan(&env)).build(&env);
    let (hunt, compiled) = hunt(&env, mode);
    (env, hunt, history, compiled)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn fewer_files_are_compiled_for_the_same_answer() {
    let worse = |plan: Plan| plan.file(5, "src/p1.c", &part(1, "1.0"));
    let [clean, auto] = ["clean", "auto"].map(|mode| {
        let (_env, hunt, history, compiled) = in_mode(mode, worse);
        hunt.names(&history, 5);
        compiled
    });
    // The ends, the commit and its parent are built clean in both modes.
    let least = 4 * (PARTS + 1);
    assert!((least..clean).contains(&auto), "{auto} files compiled, {clean} by clean builds");
}

/// The commit changes a header that the makefile does not know, so builds on top of others keep
/// their old objects. Clean builds of the claimed commit and its parent are made once at most, and
/// not again for the next search.
fn is_right_with_a_stale_object(worse: usize) {
    let change = |plan: Plan| plan.file(worse, "src/level.h", "#define LEVEL 1\n");
    let (_env, hunt, history, _) = in_mode("auto", change);
    let hunt = hunt.names(&history, worse);
    let words = "incremental and clean builds give different verdicts";
    assert!(hunt.file("report.md").contains(words), "{}", hunt.file("report.md"));
    let journal = hunt.file("journal.jsonl");
    let events: Vec<serde_json::Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has_words = |text: &str| text.contains(words);
    let note = events.iter().position(|one| one["text"].as_str().is_some_and(has_words));
    let (before, after) = events.split_at(note.unwrap());
    let mut clean = builds(before);
    clean.retain(|[_, phase]| phase == "confirm");
    clean.sort();
    assert!(!clean.is_empty() && clean.windows(2).all(|two| two[0] != two[1]), "{clean:?}");
    let end = after.iter().position(|one| one["event"] == "search-end").unwrap();
    for [commit, _] in builds(&after[..end]) {
        assert!(clean.iter().all(|[built, _]| *built != commit), "{commit} was built again");
    }
}

#[test]
fn a_stale_object_does_not_change_the_answer() {
    is_right_with_a_stale_object(5);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn stale_objects_of_other_commits_do_not_change_the_answer() {
    is_right_with_a_stale_object(2);
    is_right_with_a_stale_object(6);
}

/// The commit and the phase of each build that these events of a journal tell of.
fn builds(events: &[serde_json::Value]) -> Vec<[String; 2]> {
    let built = events.iter().filter(|one| one["event"] == "build" && one["reused"] == false);
    built.map(|one| ["commit", "phase"].map(|key| one[key].as_str().unwrap().to_owned())).collect()
}
