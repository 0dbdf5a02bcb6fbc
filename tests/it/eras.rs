//! `init` in trees whose older commits had other builds and names: one written file measures all
//! commits.

use std::fs;
use std::time::Duration;

use bisect_ppl::config::Config;

use crate::kit::planted::{PPL_C, SCORE_H, commit, letters, put, score_c};
use crate::kit::{Hunt, TestEnvironment};

/// Time for builds with a real compiler, while other tests use the same cores.
const PATIENCE: Duration = Duration::from_mins(6);

/// A repository in which changes are committed one after the other.
struct Trees {
    env: TestEnvironment,
}

impl Trees {
    fn new() -> Self {
        let env = TestEnvironment::new();
        put(&env.repo().join(".gitignore"), b"*.bin\ncorpus.txt\noracle.toml\n");
        put(&env.repo().join("models/model.bin"), &letters(100_000));
        put(&env.repo().join("data/corpus.txt"), &letters(5_000));
        Self { env }
    }

    /// Writes and commits these files.
    fn commit(&self, subject: &str, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            put(&self.env.repo().join(name), text.as_bytes());
        }
        commit(&self.env, subject);
        self.env.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn written(&self) -> String {
        fs::read_to_string(self.env.repo().join("oracle.toml")).unwrap()
    }

    /// Fails unless the written file measures this commit.
    #[track_caller]
    fn measures(&self, commit: &str) {
        let output = self.env.run(&["measure", commit]).expect(0);
        assert!(output.stdout.contains("\n  ppl "), "{}\n{}", output.stdout, output.stderr);
    }
}

const MAKEFILE: &str = "BUILD ?= build\nall: $(BUILD)/ppl\n$(BUILD)/ppl: ppl.c score.c\n\tmkdir -p $(BUILD)\n\t$(CC) -O1 -I. -o $@ $^ -lm\n";

/// The top CMakeLists.txt of a tree with this option and these folders.
fn top(option: &str, folders: &str) -> String {
    format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(engine C)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${{CMAKE_BINARY_DIR}}/bin)\noption({option} \"tune\" OFF)\n{folders}"
    )
}

const LIBRARY: &str = "add_library(engine score.c)\ntarget_include_directories(engine PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\ntarget_link_libraries(engine m)\n";

fn program(name: &str) -> String {
    format!(
        "set(TARGET {name})\nadd_executable(${{TARGET}} ppl.c)\ntarget_link_libraries(${{TARGET}} PRIVATE engine)\n"
    )
}

/// A program that was built by make at first. Now CMake builds it in another folder, with another
/// name and other options, and one package is missing. The regression came before the renames.
fn moved_and_renamed() -> (Trees, Vec<String>) {
    let trees = Trees::new();
    let mut commits = vec![
        trees.commit(
            "the engine",
            &[
                ("Makefile", MAKEFILE),
                ("ppl.c", PPL_C),
                ("score.h", SCORE_H),
                ("score.c", &score_c("0.5")),
            ],
        ),
        trees.commit("a little", &[("score.c", &score_c("0.5000001"))]),
    ];
    trees.env.git(&["rm", "--quiet", "--cached", "Makefile", "ppl.c", "score.h", "score.c"]);
    for file in ["Makefile", "ppl.c", "score.h", "score.c"] {
        fs::remove_file(trees.env.repo().join(file)).unwrap();
    }
    let folders = "add_subdirectory(src)\nadd_subdirectory(examples/ppl)\n";
    commits.push(trees.commit(
        "CMake",
        &[
            ("CMakeLists.txt", &top("OLD_TUNED", folders)),
            ("src/CMakeLists.txt", LIBRARY),
            ("src/score.h", SCORE_H),
            ("src/score.c", &score_c("0.5000002")),
            ("examples/ppl/CMakeLists.txt", &program("ppl")),
            ("examples/ppl/ppl.c", PPL_C),
        ],
    ));
    commits.push(trees.commit("worse", &[("src/score.c", &score_c("40.0"))]));
    commits.push(trees.commit(
        "other names",
        &[
            ("CMakeLists.txt", &top("NEW_TUNED", folders)),
            ("examples/ppl/CMakeLists.txt", &program("engine-perplexity")),
        ],
    ));
    trees.env.git(&["mv", "examples", "tools"]);
    let folders = "option(NEW_NET \"fetch models\" ON)\nif (NEW_NET)\n  find_package(CURL)\n  if (TRUE)\n    message(FATAL_ERROR \"no network\")\n  endif()\nendif()\nadd_subdirectory(src)\nadd_subdirectory(tools/ppl)\n";
    commits.push(trees.commit("elsewhere", &[("CMakeLists.txt", &top("NEW_TUNED", folders))]));
    commits.push(trees.commit("more", &[("src/score.c", &score_c("40.0001"))]));
    (trees, commits)
}

#[test]
fn what_an_older_commit_reads_is_not_ignored() {
    let trees = Trees::new();
    let both = "add_subdirectory(tools/ppl)\nadd_subdirectory(tools/chat)\n";
    let top = |folders: &str| top("TUNED", folders);
    trees.commit(
        "the chat has the engine",
        &[
            ("CMakeLists.txt", &top(both)),
            ("tools/ppl/CMakeLists.txt", &program("ppl")),
            ("tools/ppl/ppl.c", PPL_C),
            ("tools/chat/CMakeLists.txt", &format!("{LIBRARY}add_executable(chat chat.c)\n")),
            ("tools/chat/chat.c", "int main(void) { return 0; }\n"),
            ("tools/chat/score.h", SCORE_H),
            ("tools/chat/score.c", &score_c("0.5")),
            ("tools/serve/CMakeLists.txt", "add_executable(serve serve.c)\n"),
            ("tools/serve/serve.c", "int main(void) { return 0; }\n"),
        ],
    );
    trees.env.git(&["mv", "tools/chat/score.c", "tools/chat/score.h", "."]);
    let all = format!("{LIBRARY}{both}add_subdirectory(tools/serve)\n");
    let chat = ("tools/chat/CMakeLists.txt", "add_executable(chat chat.c)\n");
    trees.commit("the engine is a library", &[("CMakeLists.txt", &top(&all)), chat]);
    trees.env.run(&["init"]).expect(0);
    let text = trees.written();
    assert!(text.contains("    \"tools/serve/**\",\n]"), "{text}");
}

#[test]
fn one_file_is_written_for_a_history_of_moves_and_renames() {
    let (trees, commits) = moved_and_renamed();
    let env = &trees.env;
    env.run(&["init", "--set", "build.cmake=-DNEW_TUNED=ON"])
        .expect(0)
        .says(&["history: 7 commits along first parents: they are built and measured in 3 ways"]);
    let text = trees.written();
    // Two overrides, the newest first: by the program's old name, then by a missing CMake file.
    let short = |at: usize| commits[at][..10].to_owned();
    let (_, past) = text.split_once("# How older commits differ").unwrap();
    let (names, make) = past.split_once("\n\n[[override]]").unwrap();
    for line in [
        &format!("read at {}", short(3))[..],
        "when = { contains = [\"examples/ppl/CMakeLists.txt\", \"set(TARGET ppl)\"] }",
        "-DOLD_TUNED=ON -DNEW_NET=OFF\",",
        "--target ppl\",  # `ppl`, examples/ppl/CMakeLists.txt:2",
        "measure.ppl.command = \"{build}/bin/ppl --model",
    ] {
        assert!(names.contains(line), "{line}\n{text}");
    }
    for line in [
        &format!("read at {}", short(1))[..],
        // The condition does not name examples/ppl/CMakeLists.txt: HEAD lacks that file too.
        "when = { missing = \"CMakeLists.txt\" }",
        "    \"make -C {src} BUILD={build} -j{jobs} {build}/ppl\",",
        "measure.ppl.command = \"{build}/ppl --model",
    ] {
        assert!(make.contains(line), "{line}\n{text}");
    }
    assert!(text.contains("-DCMAKE_BUILD_TYPE=Release -DNEW_TUNED=ON -DNEW_NET=OFF\","), "{text}");
    assert!(
        text.contains(
            "# NEW_NET is off: it asks for CURL (CMakeLists.txt:7), which no figure depends on"
        ),
        "{text}"
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn one_file_measures_a_history_of_moves_and_renames() {
    let (trees, commits) = moved_and_renamed();
    let env = &trees.env;
    env.run(&["init", "--set", "build.cmake=-DNEW_TUNED=ON"]).expect(0);
    let started = env.spawn_product(&["start", "--good", &commits[0]]).wait_within(PATIENCE);
    let hunt = Hunt::of(env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), commits[3], "{}", hunt.output.stderr);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_checkout_of_old_is_written_a_file_for_all_that_came_later() {
    let (trees, commits) = moved_and_renamed();
    let env = &trees.env;
    env.git(&["checkout", "--quiet", &commits[3]]);
    let said = env.run(&["init"]).expect(0);
    said.says(&["read from main, ", "which is newer than your checkout"]);
    let text = trees.written();
    assert!(text.contains("`engine-perplexity`, tools/ppl/CMakeLists.txt:2"), "{text}");
    for commit in [&commits[1], &commits[3], &commits[6]] {
        trees.measures(commit);
    }
}

#[test]
fn what_no_tree_shows_is_told_by_ancestry() {
    let trees = Trees::new();
    let files = |name: &str| format!("{name}: ppl.c score.c\n\t$(CC) -O1 -o $@ $^ -lm\n");
    let all = [("ppl.c", PPL_C), ("score.h", SCORE_H)];
    let first = trees.commit("one", &all);
    put(&trees.env.repo().join("score.c"), score_c("0.5").as_bytes());
    let old = trees.commit("ppl", &[("Makefile", &files("ppl"))]);
    // The newer file has every word of the older one, so no `contains` tells them apart.
    let new = trees.commit("my-ppl", &[("Makefile", &files("my-ppl"))]);
    let said = trees.env.run(&["init"]).expect(0);
    let far = format!("commits older than {} (", &old[..10]);
    said.says(&["3 commits along first parents: they are built", &far, "have no such program"]);
    let text = trees.written();
    assert!(text.contains(&format!("when = {{ lacks_ancestor = \"{new}\" }}")), "{text}");
    assert!(text.contains("measure.ppl.command = \"{src}/ppl --model"), "{text}");
    trees.measures(&old);
    trees.measures(&new);
    assert!(!text.contains(&first), "nothing could be read there");
}

#[test]
fn what_is_set_for_all_commits_is_not_overridden() {
    let (trees, commits) = moved_and_renamed();
    let command = "measure.ppl.command={build}/program --model {inputs.model} -f {inputs.text}";
    let build = "build.commands=[\"sh -c 'cc -O1 -I{src}/src -I{src} -o {build}/program $(find {src} -name score.c -o -name ppl.c) -lm'\"]";
    trees.env.run(&["init", "--set", command, "--set", build]).expect(0);
    let text = trees.written();
    assert!(!text.contains("[[override]]"), "{text}");
    trees.measures(&commits[0]);
    trees.measures(&commits[6]);
}

#[test]
fn a_partial_clone_is_read_as_far_as_it_goes() {
    let (trees, _) = moved_and_renamed();
    let env = &trees.env;
    env.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", env.repo().display());
    env.git(&["clone", "--quiet", "--filter=blob:none", &from, "../partial"]);
    // Now the clone cannot fetch missing objects.
    fs::rename(env.repo().join(".git"), env.path("gone")).unwrap();
    let partial = env.path("partial");
    let (model, text) = (env.repo().join("models/model.bin"), env.repo().join("data/corpus.txt"));
    let words = ["init", "--model", model.to_str().unwrap(), "--text", text.to_str().unwrap()];
    let said = env.run_in(&partial, &words).expect(0);
    said.says(&["have no such program, or are not in this clone"]);
    Config::load(&partial.join("oracle.toml")).unwrap();
}

#[test]
fn submodules_that_nothing_builds_are_left_alone() {
    let trees = Trees::new();
    let env = &trees.env;
    let top = top(
        "ENGINE_KOMPUTE",
        "if (ENGINE_KOMPUTE)\n  add_subdirectory(lib/kompute)\nendif()\nadd_subdirectory(src)\nadd_subdirectory(tools)\n",
    );
    let files = [
        ("CMakeLists.txt", &top[..]),
        ("src/CMakeLists.txt", LIBRARY),
        ("src/score.h", SCORE_H),
        ("src/score.c", &score_c("0.5")),
        ("tools/CMakeLists.txt", &program("ppl")),
        ("tools/ppl.c", PPL_C),
        (
            ".gitmodules",
            "[submodule \"k\"]\n\tpath = lib/kompute\n\turl = https://127.0.0.1:1/none\n",
        ),
    ];
    let first = trees.commit("the engine", &files);
    let entry = format!("160000,{first},lib/kompute");
    env.git(&["update-index", "--add", "--cacheinfo", &entry]);
    env.git(&["commit", "--quiet", "-m", "a submodule"]);
    env.run(&["init"]).expect(0);
    let text = trees.written();
    let line = "submodules = false              # lib/kompute is built only with ENGINE_KOMPUTE";
    assert!(text.contains(line), "{text}");
    trees.measures("HEAD");
    // With the option on, the build needs the submodule.
    env.run(&["init", "--force", "--set", "build.cmake=-DENGINE_KOMPUTE=ON"]).expect(0);
    assert!(!trees.written().contains("submodules ="), "{}", trees.written());
}

#[test]
fn submodules_that_the_checkout_lacks_are_left_out_and_said() {
    let trees = Trees::new();
    let env = &trees.env;
    let first = trees.commit(
        "the engine",
        &[
            ("Makefile", MAKEFILE),
            ("ppl.c", PPL_C),
            ("score.h", SCORE_H),
            ("score.c", &score_c("0.5")),
            (
                ".gitmodules",
                "[submodule \"r\"]\n\tpath = reference\n\turl = https://127.0.0.1:1/none\n",
            ),
        ],
    );
    let entry = format!("160000,{first},reference");
    env.git(&["update-index", "--add", "--cacheinfo", &entry]);
    env.git(&["commit", "--quiet", "-m", "a submodule"]);
    env.run(&["init"]).expect(0).says(&["reference is left out", "git submodule update --init"]);
    let line = "submodules = false              # reference is not in your checkout";
    assert!(trees.written().contains(line), "{}", trees.written());
    trees.measures("HEAD");
    // A checkout that has the submodule may need it.
    put(&env.repo().join("reference/.git"), b"gitdir: elsewhere\n");
    env.run(&["init", "--force"]).expect(0);
    assert!(!trees.written().contains("submodules ="), "{}", trees.written());
}

#[test]
fn what_is_offered_is_as_good_as_what_is_measured() {
    let trees = Trees::new();
    let ppl = |batch: &str| {
        let known = r#"else if (!strcmp(argv[i], "-f"))"#;
        let options = format!(
            r#"else if (!strcmp(argv[i], "--ctx-size") || !strcmp(argv[i], "{batch}")) continue;
        {known}"#
        );
        PPL_C.replace(known, &options)
    };
    let old = trees.commit(
        "the engine",
        &[
            ("Makefile", MAKEFILE),
            ("ppl.c", &ppl("--batch-size")),
            ("score.h", SCORE_H),
            ("score.c", &score_c("0.5")),
        ],
    );
    trees.commit("smaller batches", &[("ppl.c", &ppl("--ubatch-size"))]);
    let env = &trees.env;
    env.run(&["init"]).expect(0);
    let text = trees.written();
    let (before, cells) = text.split_once("# The same program on other code paths").unwrap();
    let (_, cells) = cells.split_once("costs time at every commit.\n").unwrap();
    let (cells, _) = cells.split_once("\n[environment]").unwrap();
    let lines = cells.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let all = format!("{before}\n{}\n", lines.collect::<Vec<_>>().join("\n"));
    fs::write(env.repo().join("oracle.toml"), &all).unwrap();
    for commit in ["HEAD", &old] {
        let output = env.run(&["measure", commit]).expect(0);
        for name in ["  ppl ", "  decode ", "  long ", "  prefill "] {
            assert!(output.stdout.lines().any(|line| line.starts_with(name)), "{name}\n{all}");
        }
    }
}
