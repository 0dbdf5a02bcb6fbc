//! The report shows, without being asked, what else differs between the first bad commit and its
//! parent.

use serde_json::{Value, json};

use super::hunt;
use crate::kit::planted::{PPL_C, SCORE_H, commit, planted, put, score_c};
use crate::kit::{Hunt, TestEnvironment, line};

#[test]
fn a_launch_configuration_that_the_change_names_is_told() {
    let kernel = |threads: u32| {
        format!("#include \"attn.cuh\"\n#define THREADS {threads}\nvoid launch() {{\n}}\n")
    };
    let plan = line("g g g b b")
        .file(0, "kernels/attn.cu", &kernel(384))
        .file(0, "model.py", "EPS = 1e-5\n")
        .file(2, "model.py", "EPS = 1e-6\n")
        .file(3, "kernels/attn.cu", &kernel(128))
        .file(4, "kernels/attn.cu", &kernel(256));
    let told = hunt(plan).finds("3").costs(14, 6);
    let differences = &told.hunt.report["culprit"]["differences"];
    let threads = json!({
        "in": "constant", "name": "THREADS", "place": "kernels/attn.cu",
        "before": "384", "now": "128",
    });
    assert_eq!(differences["found"], json!([threads]), "{differences:#}");
    assert!(differences["compared"].as_array().unwrap().contains(&json!("constant")));
    let said = "Constant: THREADS: 384 → 128 in kernels/attn.cu";
    assert!(told.hunt.output.stdout.contains(said), "{}", told.hunt.output.stdout);
    let page = told.hunt.file("report.md");
    assert!(page.contains("- Constant: THREADS: 384 → 128 in kernels/attn.cu"), "{page}");
    // A table would say the same again.
    assert!(!page.contains("What else differs"), "{page}");
    assert!(page.contains("-#define THREADS 384\n+#define THREADS 128\n"), "{page}");
    let html = told.hunt.file("report.html");
    assert!(html.contains("THREADS: 384 → 128 in kernels/attn.cu"));
    let issue = told.env().run(&["report", "--format", "issue"]).expect(0).stdout;
    assert!(issue.contains("- Constant: THREADS: 384 → 128 in kernels/attn.cu"), "{issue}");
}

#[test]
fn packages_that_were_resolved_and_probes_that_say_something_else_are_told() {
    let lock = |version: &str| {
        format!("version = 4\n\n[[package]]\nname = \"half\"\nversion = \"{version}\"\n")
    };
    let plan = line("g g g b b").file(0, "Cargo.lock", &lock("2.4.0")).file(
        3,
        "Cargo.lock",
        &lock("2.4.1"),
    );
    let row = hunt(plan).oracle(|oracle| {
        // The probe never gives the same output twice.
        let count = format!("{}/asked", oracle.world());
        let probe = format!("sh -c 'echo >> {count}; wc -l < {count}'");
        oracle.section(&format!("[environment]\nprobe = [\"{probe}\"]"))
    });
    let told = row.finds("3").costs(14, 6);
    let found = told.hunt.report["culprit"]["differences"]["found"].as_array().unwrap();
    let half = json!({
        "in": "package", "name": "half", "place": "Cargo.lock", "before": "2.4.0", "now": "2.4.1",
    });
    assert_eq!(found[0], half, "{found:#?}");
    assert_eq!((&found[1]["in"], found.len()), (&json!("probe"), 2), "{found:#?}");
    let [before, now] = ["before", "now"].map(|side| found[1][side].as_str().unwrap());
    assert!(before.parse::<u32>().unwrap() < now.parse().unwrap(), "{found:#?}");
    let same = told.hunt.file("report.html");
    let same = same.split("The same for both: ").nth(1).unwrap().split("</p>").next().unwrap();
    assert!(!same.contains("probes") && same.contains("named constants"), "{same}");
}

/// A CMake project whose fourth commit switches an option on. The option changes definitions and
/// compiler flags.
fn cmake_tree(more: &str) -> TestEnvironment {
    let there = std::process::Command::new("cmake").arg("--version").output();
    assert!(there.is_ok(), "this test needs cmake; install it, e.g. apt-get install cmake");
    let top = |fast: &str| {
        format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(engine C)\n{more}\
             option(ENGINE_FAST \"less exact\" {fast})\n\
             add_executable(ppl ppl.c score.c)\n\
             if(ENGINE_FAST)\n  \
               target_compile_definitions(ppl PRIVATE SMOOTHING=40.0)\n  \
               target_compile_options(ppl PRIVATE -O1)\nelse()\n  \
               target_compile_definitions(ppl PRIVATE SMOOTHING=0.5)\n  \
               target_compile_options(ppl PRIVATE -O2)\nendif()\n\
             target_link_libraries(ppl m)\n"
        )
    };
    // The planted commits come before the first commit made here, so they change nothing.
    let files = [("ppl.c", PPL_C), ("score.h", SCORE_H), ("CMakeLists.txt", &top("OFF"))];
    let env = planted(&files, "unused.c", score_c).env;
    let engine = score_c("SMOOTHING");
    for (number, fast) in ["OFF", "OFF", "OFF", "ON", "ON"].iter().enumerate() {
        put(&env.repo().join("score.c"), format!("{engine}// {number}\n").as_bytes());
        put(&env.repo().join("CMakeLists.txt"), top(fast).as_bytes());
        commit(&env, &format!("engine {number}"));
    }
    write_oracle(&env, "['cmake -S {src} -B {build}', 'cmake --build {build}']");
    env
}

fn write_oracle(env: &TestEnvironment, commands: &str) {
    let oracle = "version = 1\n\
        [inputs]\nmodel = \"models/model.bin\"\ncorpus = \"data/corpus.txt\"\n\
        [build]\ncommands = COMMANDS\n\
        [[measure]]\nname = \"ppl\"\nparser = \"llama-perplexity\"\n\
        command = '{build}/ppl -m {inputs.model} -f {inputs.corpus}'\n\
        [[guard]]\nmetric = \"ppl\"\nmax_increase_percent = 1.0\n";
    put(&env.repo().join("oracle.toml"), oracle.replace("COMMANDS", commands).as_bytes());
}

/// Hunts in such a project, and returns the differences found.
fn found_in(env: &TestEnvironment, good: &str, culprit: &str) -> (Vec<Value>, Hunt) {
    let words = ["start", "--good", good, "--bad", "HEAD"];
    let hunt = Hunt::of(env, env.run(&words)).expect(0, "culprit");
    assert_eq!(hunt.culprit(), env.git(&["rev-parse", culprit]).trim());
    let found = hunt.report["culprit"]["differences"]["found"].as_array().unwrap().clone();
    (found, hunt)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_option_of_cmakes_and_the_flags_that_it_changes_are_told() {
    let env = cmake_tree("set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n");
    let (found, hunt) = found_in(&env, "HEAD~4", "HEAD~1");
    let flag = |before: &str, now: &str| {
        json!({ "in": "flag", "before": before, "now": now,
                "spread": { "count": 2, "of": 2, "unit": "file" } })
    };
    let constant = json!({ "in": "constant", "name": "ENGINE_FAST", "place": "CMakeLists.txt",
                           "before": "OFF", "now": "ON" });
    let cache = json!({ "in": "cmake-cache", "name": "ENGINE_FAST", "before": "OFF", "now": "ON" });
    let smoothing = flag("-DSMOOTHING=0.5", "-DSMOOTHING=40.0");
    assert_eq!(found, [smoothing, flag("-O2", "-O1"), constant, cache], "{found:#?}");
    let said = &hunt.output.stdout;
    assert!(said.contains("Compiler flag: -O2 → -O1 in 2 of 2 files"), "{said}");
    let page = hunt.file("report.md");
    assert!(page.contains("| CMake cache | ENGINE_FAST | OFF | ON |"), "{page}");
    // Six builds, but only two configurations.
    let kept = std::fs::read_dir(env.git_folder().join("bisect-ppl/setups")).unwrap().count();
    assert_eq!(kept, 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn without_a_database_the_flags_are_told_by_target() {
    let (found, _) = found_in(&cmake_tree(""), "HEAD~4", "HEAD~1");
    let smaller = json!({ "in": "flag", "before": "-O2", "now": "-O1",
                          "spread": { "count": 1, "of": 1, "unit": "target" } });
    assert!(found.contains(&smaller), "{found:#?}");
}

#[test]
fn of_a_plain_makefile_the_commands_are_told_that_make_prints() {
    let makefile = |flags: &str| {
        format!(
            "CFLAGS = {flags}\nall: ppl.o score.o\n\tcc -o $(BUILD)/ppl ppl.o score.o -lm\n\
             %.o: %.c\n\tcc $(CFLAGS) -c $<\n"
        )
    };
    let files = [("ppl.c", PPL_C), ("score.h", SCORE_H), ("Makefile", &makefile("-DS=0.5"))];
    let env = planted(&files, "unused.c", score_c).env;
    for (number, flags) in ["-DS=0.5", "-g -DS=0.5", "-g -DS=40.0"].iter().enumerate() {
        put(&env.repo().join("score.c"), format!("{}// {number}\n", score_c("S")).as_bytes());
        put(&env.repo().join("Makefile"), makefile(flags).as_bytes());
        commit(&env, &format!("engine {number}"));
    }
    write_oracle(&env, "['make BUILD={build}']");
    let (found, hunt) = found_in(&env, "HEAD~2", "HEAD");
    let flag = json!({ "in": "flag", "before": "-DS=0.5", "now": "-DS=40.0",
                       "spread": { "count": 2, "of": 2, "unit": "file" } });
    let variable = json!({ "in": "constant", "name": "CFLAGS", "place": "Makefile",
                           "before": "-g -DS=0.5", "now": "-g -DS=40.0" });
    assert_eq!(found, [flag, variable], "{found:#?}");
    assert!(hunt.output.stdout.contains("Compiler flag: -DS=0.5 → -DS=40.0"));
}
