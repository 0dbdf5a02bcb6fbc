//! Commits that change nothing that the builds of both ends read are left out, with real compilers.

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, graph, line};

/// An engine in C: its perplexity is 7 plus what its files add. It opens `kernels/k.c` when it
/// runs, under a name that no text has as a whole.
const MAIN: &str = r#"
#include <stdio.h>
#include "level.h"
#include "table.h"
#include "made.h"
int part(void);
int main(void) {
    char path[64], text[64] = "0";
    snprintf(path, sizeof path, "%s/%s.%s", "kernels", "k", "c");
    FILE *file = fopen(path, "r");
    if (file && !fgets(text, sizeof text, file)) return 1;
    int add = 0;
    sscanf(text, "// %d", &add);
    double ppl = 7.0 + LEVEL + TABLE + part() + add;
    printf("[1]%.4f,\nFinal estimate: PPL = %.4f +/- 0.01000\n", ppl, ppl);
}
"#;

/// Every object has a record. `table.h` is made from `table.txt`, and `made.h` among the sources.
const MAKE: &str = "CFLAGS = -MMD -I$(BUILD)\n\
    $(BUILD)/ppl: $(BUILD)/main.o $(BUILD)/part.o\n\tcc -o $@ $^\n\
    $(BUILD)/main.o: $(BUILD)/table.h\n\
    $(BUILD)/%.o: src/%.c\n\tcc $(CFLAGS) -c -o $@ $<\n\
    $(BUILD)/table.h: table.txt\n\ttouch src/made.h; echo \"#define TABLE $$(cat table.txt)\" > $@\n";

const CMAKE: &str = "cmake_minimum_required(VERSION 3.10)\nproject(engine C)\n\
    file(STRINGS table.txt TABLE)\nfile(WRITE ${CMAKE_BINARY_DIR}/table.h \"#define TABLE ${TABLE}\")\n\
    file(WRITE src/made.h \"\")\n\
    add_executable(ppl src/main.c src/part.c)\n\
    target_include_directories(ppl PRIVATE ${CMAKE_BINARY_DIR})\n";

/// The engine at the first commit of a plan.
fn engine(plan: Plan) -> Plan {
    let files = [
        ("Makefile", MAKE),
        ("CMakeLists.txt", CMAKE),
        ("src/main.c", MAIN),
        ("src/level.h", "#define LEVEL 0\n"),
        ("src/part.c", "int part(void) { return 0; }\n"),
        ("src/unused.c", "int unused = 0;\n"),
        ("kernels/k.c", "// 0\n"),
        ("table.txt", "0\n"),
    ];
    files.into_iter().fold(plan, |plan, (path, text)| plan.file(0, path, text))
}

/// Eight commits: 2 changes `src/part.c` without effect, 4 makes the engine worse in this file.
/// The others change only files that no build reads.
fn eight(path: &str, text: &str) -> Plan {
    engine(line("g g g g g g g g"))
        .file(2, "src/part.c", "int part(void) { return 0 * 1; }\n")
        .file(3, "src/unused.c", "int unused = 3;\n")
        .file(4, path, text)
        .file(5, "docs/help.md", "5\n")
}

fn oracle(env: &TestEnvironment, command: &str) -> Oracle {
    Oracle::new(env).build_command(command).ppl_command("{build}/ppl")
}

fn with_make(env: &TestEnvironment) -> Oracle {
    oracle(env, "make -C {src} BUILD={build}")
}

/// Hunts with this plan; returns the hunt and the labels of the commits that were built.
fn hunt(plan: Plan, change: impl FnOnce(Oracle) -> Oracle) -> (Hunt, History, Vec<String>) {
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    change(with_make(&env)).write(&env);
    let hunt = env.hunt();
    let built = built(&hunt, &history);
    (hunt, history, built)
}

fn built(hunt: &Hunt, history: &History) -> Vec<String> {
    let commits = hunt.report["commits"].as_array().unwrap().iter();
    let built = commits.filter(|one| !one["builds"].as_array().unwrap().is_empty());
    built.map(|one| history.label(one["commit"].as_str().unwrap()).to_owned()).collect()
}

/// This command builds the engine, with a record of what it reads.
fn searches_two(command: &str) {
    let env = TestEnvironment::new();
    let history = eight("src/level.h", "#define LEVEL 1\n").build(&env);
    let commands = format!("{command}', 'cmake --build {{build}}");
    let command = if command.starts_with("cmake") { &commands } else { command };
    oracle(&env, command).write(&env);
    let hunt = env.hunt().names(&history, 4);
    let unread = &hunt.report["unread"];
    assert_eq!((&unread["left_out"], &unread["commits"]), (&5.into(), &7.into()), "{unread}");
    assert_eq!(hunt.report["searches"][0]["commits"], 2);
    let words = "5 of 7 commits change nothing that the builds of both ends read";
    assert!(hunt.output.stderr.contains(words), "{}", hunt.output.stderr);
    for file in ["report.md", "report.html"] {
        assert!(hunt.file(file).contains(words), "{file}");
    }
    let log = env.run(&["log"]).expect(0).stdout;
    assert!(log.contains(":(top,literal,exclude)src/unused.c"), "{log}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn only_commits_that_change_what_was_read_are_searched() {
    searches_two("cmake -S {src} -B {build} -G Ninja");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn only_commits_that_change_what_make_read_are_searched() {
    searches_two("make -C {src} BUILD={build}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_key_turns_it_off() {
    let level = "#define LEVEL 1\n";
    let (hunt, history, _) =
        hunt(eight("src/level.h", level), |oracle| oracle.build("unread = \"build\""));
    let hunt = hunt.names(&history, 4);
    assert!(hunt.report.get("unread").is_none());
    assert_eq!(hunt.report["searches"][0]["commits"], 7);
}

#[test]
fn a_file_that_a_recipe_makes_a_header_of_counts_as_read() {
    let (hunt, history, _) = hunt(eight("table.txt", "1\n"), |oracle| oracle);
    assert_eq!(hunt.names(&history, 4).report["searches"][0]["commits"], 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_header_that_is_new_counts_as_read() {
    let main = format!("#include \"new.h\"\n{MAIN}").replace("7.0", "7.0 + NEW");
    let plan = engine(line("g g g g g g"))
        .file(1, "src/new.h", "#define NEW 0\n")
        .file(2, "src/main.c", &main)
        .file(3, "src/unused.c", "int unused = 3;\n")
        .file(4, "src/new.h", "#define NEW 1\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle);
    assert_eq!(hunt.names(&history, 4).report["searches"][0]["commits"], 3);
}

#[test]
fn a_file_that_only_runs_read_is_found_although_it_was_left_out() {
    let (hunt, history, _) = hunt(eight("kernels/k.c", "// 1\n"), |oracle| oracle);
    let hunt = hunt.names(&history, 4);
    assert_eq!(hunt.report["unread"]["left_out"], 6);
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("left out at first") && notes.contains("kernels/k.c"), "{notes}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_that_was_left_out_between_untestable_ones_is_found() {
    let plan = eight("kernels/k.c", "// 1\n")
        .file(5, "src/part.c", "int part(void) { return }\n")
        .file(6, "src/part.c", "int part(void) { return 0; }\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle);
    hunt.names(&history, 4);
}

#[test]
fn a_change_that_undoes_itself_for_nobody_to_see_leaves_every_commit_in() {
    // Between the ends only a file differs that the runs read and the builds do not: the filter
    // would leave no commit to search.
    let plan = engine(line("g g g g")).file(2, "kernels/k.c", "// 1\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle);
    let hunt = hunt.names(&history, 2);
    let why = hunt.report["unread"]["why_not"].as_str().unwrap();
    assert!(why.contains("although the endpoints differ"), "{why}");
}

#[test]
fn a_build_without_records_leaves_every_commit_in() {
    let make = MAKE.replace("-MMD ", "");
    let plan = eight("src/level.h", "#define LEVEL 1\n").file(0, "Makefile", &make);
    let (hunt, history, _) = hunt(plan, |oracle| oracle);
    let hunt = hunt.names(&history, 4);
    assert_eq!(hunt.report["searches"][0]["commits"], 7);
    let why = hunt.report["unread"]["why_not"].as_str().unwrap();
    assert!(why.contains("main.o has no dependency record"), "{why}");
    let said = format!("unread   no commit is left out: {why}");
    assert!(hunt.output.stderr.contains(&said), "{}", hunt.output.stderr);
}

#[test]
fn runs_that_get_the_tree_leave_every_commit_in() {
    let plan = engine(line("g g g g"))
        .file(1, "docs/a.md", "1\n")
        .file(2, "src/level.h", "#define LEVEL 1\n")
        .file(3, "docs/b.md", "3\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle.ppl_command("{build}/ppl {src}"));
    let hunt = hunt.names(&history, 2);
    let why = hunt.report["unread"]["why_not"].as_str().unwrap();
    assert!(why.contains("any file of the tree"), "{why}");
}

/// In noise, the hunt looks at later commits to see whether the step lasts. It builds none that it
/// leaves out, since their programs are those of the commits before them.
#[test]
#[ignore = "long: scripts/test --long"]
fn left_out_commits_are_not_built_after_a_confirmation_in_noise() {
    let noise = r#"static double noise(void) {
    FILE *file = fopen("/dev/urandom", "rb");
    double x = file ? fgetc(file) / 25600.0 : 0;
    if (file) fclose(file);
    return x;
}
int main(void)"#;
    let main = MAIN.replace("int main(void)", noise).replace("7.0 +", "7.0 + noise() +");
    let part = |text: &str| format!("int part(void) {{ return {text}; }}\n");
    let mut plan = engine(line("g g g g g g g g g g"))
        .file(0, "src/main.c", &main)
        .file(1, "src/part.c", &part("0 * 1"))
        .file(2, "src/level.h", "#define LEVEL 1\n")
        .file(5, "src/part.c", &part("0 * 5"))
        .file(9, "src/part.c", &part("0 * 9"));
    for label in [3, 4, 6, 7, 8] {
        plan = plan.file(label, "docs/help.md", &format!("{label}\n"));
    }
    let (hunt, history, built) = hunt(plan, |oracle| oracle);
    let hunt = hunt.names(&history, 2);
    assert_eq!(hunt.report["unread"]["left_out"], 5, "{}", hunt.report["unread"]);
    let read = ["0", "1", "2", "5", "9"];
    assert!(built.iter().all(|label| read.contains(&label.as_str())), "{built:?}");
    let said = "checking whether the step of ";
    assert!(hunt.output.stderr.contains(said), "{}", hunt.output.stderr);
}

/// A file that no build reads is edited and put back after the found commit. That undid nothing, so
/// only a commit that builds read is measured to see whether the step lasts.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_left_out_commit_that_was_reverted_is_not_built_after_a_confirmation() {
    let plan = engine(line("g g g g g g g g g"))
        .file(1, "docs/a.md", "1\n")
        .file(2, "src/level.h", "#define LEVEL 1\n")
        .file(3, "src/part.c", "int part(void) { return 0 * 3; }\n")
        .file(4, "docs/help.md", "4\n")
        .file(5, "docs/help.md", "5\n")
        .file(6, "docs/help.md", "4\n")
        .file(7, "docs/a.md", "7\n")
        .file(8, "src/part.c", "int part(void) { return 0 * 8; }\n");
    let (hunt, history, built) = hunt(plan, |oracle| oracle);
    let hunt = hunt.names(&history, 2);
    assert_eq!(hunt.report["unread"]["left_out"], 5, "{}", hunt.report["unread"]);
    // 1 is the parent of 2.
    let expected = ["0", "1", "2", "3", "8"];
    assert!(built.iter().all(|label| expected.contains(&label.as_str())), "{built:?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn incremental_builds_leave_every_commit_in() {
    let plan = engine(line("g g g g")).file(1, "src/unused.c", "int unused = 1;\n");
    let plan = plan.file(2, "src/level.h", "#define LEVEL 1\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle.build("mode = \"incremental\""));
    let hunt = hunt.names(&history, 2);
    let why = hunt.report["unread"]["why_not"].as_str().unwrap();
    assert!(why.contains("incremental"), "{why}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn ends_that_are_built_clean_tell_what_they_read() {
    let plan = eight("src/part.c", "int part(void) { return 1; }\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle.build("mode = \"auto\""));
    let hunt = hunt.names(&history, 4);
    assert_eq!(hunt.report["unread"]["left_out"], 5, "{}", hunt.report["unread"]);
}

#[test]
fn a_hunt_that_goes_on_leaves_out_the_same_commits() {
    let env = TestEnvironment::new();
    let history = eight("src/level.h", "#define LEVEL 1\n").build(&env);
    with_make(&env).write(&env);
    env.run(&["start", "--good", "v1", "--max-runs", "5"]).expect(3);
    let hunt = env.run(&["resume", "--max-runs", "50"]);
    let hunt = Hunt::of(&env, hunt).names(&history, 4);
    assert_eq!(hunt.report["unread"]["left_out"], 5);
    let searched = hunt.report["searches"].as_array().unwrap();
    assert!(searched.iter().all(|search| search["commits"] == 2), "{searched:?}");
    // The confirmation builds the parent of 4, although the search left it out. 5 edits the line of
    // `version` that 4 wrote, so it may take the change of 4 back.
    let expected = ["0", "2", "3", "4", "5", "7"];
    assert!(built(&hunt, &history).iter().all(|label| expected.contains(&label.as_str())));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_fix_is_found_too() {
    let plan =
        eight("src/level.h", "#define LEVEL 0\n").file(0, "src/level.h", "#define LEVEL 1\n");
    let env = TestEnvironment::new();
    let history = plan.build(&env);
    with_make(&env).write(&env);
    let hunt = env.start(&["--find-fix", "--good", "main", "--bad", "v1"]);
    let hunt = hunt.names(&history, 4);
    assert_eq!(hunt.report["searches"][0]["commits"], 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn commits_of_merged_branches_are_left_out_or_searched_alike() {
    let graph =
        graph(&["0: g", "a < 0: g", "b < 0: g", "c < b: g", "m < a c: g", "d < m: g", "e < d: g"]);
    let plan = engine(graph)
        .file("a", "docs/a.md", "a\n")
        .file("b", "src/unused.c", "int unused = 1;\n")
        .file("c", "src/level.h", "#define LEVEL 1\n")
        .file("m", "src/level.h", "#define LEVEL 1\n")
        .file("m", "src/unused.c", "int unused = 1;\n")
        .file("d", "src/part.c", "int part(void) { return 0 * 2; }\n");
    let (hunt, history, _) = hunt(plan, |oracle| oracle);
    assert!(hunt.names(&history, "c").report["unread"]["left_out"].as_u64().unwrap() >= 3);
}

/// Histories in which each commit changes some file, and one of them makes the engine worse: with
/// and without the filter, the answer is the same.
#[test]
#[ignore = "long: scripts/test --long"]
fn with_and_without_the_filter_the_same_commit_is_named() {
    let files =
        ["src/part.c", "src/unused.c", "docs/help.md", "src/level.h", "kernels/k.c", "table.txt"];
    let harmless = |path: &str, label: usize| match path {
        "src/part.c" => format!("int part(void) {{ return 0 * {label}; }}\n"),
        "src/level.h" => format!("#define LEVEL 0 /* {label} */\n"),
        "kernels/k.c" => format!("// 0 {label}\n"),
        "table.txt" => format!("0*{label}\n"),
        _ => format!("// {label}\n"),
    };
    let worse =
        [("src/level.h", "#define LEVEL 1\n"), ("kernels/k.c", "// 1\n"), ("table.txt", "1\n")];
    let mut left_out = 0;
    for seed in 0..3_usize {
        let culprit = 1 + seed % 7;
        let (path, text) = worse[seed % 3];
        let mut plan = engine(line("g g g g g g g g g"));
        for label in 1..9 {
            let other = files[(seed * 5 + label * (seed + 2)) % files.len()];
            if other != path {
                plan = plan.file(label, other, &harmless(other, label));
            }
        }
        let plan = plan.file(culprit, path, text);
        let (with, history, _) = hunt(plan.clone(), |oracle| oracle);
        left_out +=
            with.names(&history, culprit).report["unread"]["left_out"].as_u64().unwrap_or(0);
        let (without, history, _) = hunt(plan, |oracle| oracle.build("unread = \"build\""));
        without.names(&history, culprit);
    }
    assert!(left_out > 3, "{left_out}");
}
