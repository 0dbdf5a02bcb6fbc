//! Work in progress in the user's checkout, and what commits do to their own checkout.

use std::fs;
use std::path::Path;

use super::{Row, hunt};
use crate::kit::{History, Plan, TestEnvironment, line};

fn plain() -> Plan {
    line("g g b b")
}

#[test]
fn a_dirty_checkout_is_not_measured() {
    let dirty = |env: &mut TestEnvironment, _: &History| {
        let file = |name: &str| env.repo().join(name);
        fs::write(file("version"), "id = stashed\n").unwrap();
        env.git(&["stash"]);
        fs::write(file("staged.c"), "int staged;\n").unwrap();
        env.git(&["add", "staged.c"]);
        fs::write(file("engine.conf"), "ppl = 99\n").unwrap();
        fs::write(file("untracked.txt"), "mine\n").unwrap();
        fs::remove_file(file("version")).unwrap();
    };
    hunt(plain()).given(dirty).finds("2").costs(14, 6);
}

#[test]
fn a_merge_of_the_users_own_with_a_conflict_stays() {
    let conflict = |env: &mut TestEnvironment, history: &History| {
        env.git(&["checkout", "--quiet", "-b", "theirs", history.commit(1)]);
        fs::write(env.repo().join("engine.conf"), "ppl = 3\n").unwrap();
        env.git(&["commit", "--quiet", "-a", "-m", "theirs"]);
        let merged = env.tool(&env.repo(), "git", &["merge", "main"]);
        assert_eq!(merged.code(), Some(1), "a conflict: {merged:?}");
    };
    hunt(plain()).given(conflict).finds("2").costs(14, 6);
}

#[test]
fn a_bisect_of_the_users_own_goes_on() {
    let begin = |env: &mut TestEnvironment, _: &History| {
        env.git(&["bisect", "start", "HEAD", "v1"]);
    };
    let told = hunt(line("g g g b b b")).given(begin).finds("3").costs(15, 7);
    let env = told.env();
    env.git(&["bisect", "good"]);
    assert!(env.git(&["bisect", "log"]).contains("git bisect good"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn head_is_detached() {
    let detach = |env: &mut TestEnvironment, history: &History| {
        env.git(&["checkout", "--quiet", "--detach", history.commit(1)]);
    };
    hunt(plain()).given(detach).finds("2").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn another_branch_is_checked_out() {
    let switch = |env: &mut TestEnvironment, history: &History| {
        env.git(&["checkout", "--quiet", "-b", "topic", history.commit(0)]);
        env.git(&["commit", "--quiet", "--allow-empty", "-m", "on the topic"]);
    };
    hunt(plain()).given(switch).finds("2").costs(14, 6);
}

#[test]
fn the_branch_is_not_born_yet() {
    let orphan = |env: &mut TestEnvironment, _: &History| {
        env.git(&["checkout", "--quiet", "--orphan", "fresh"]);
    };
    hunt(plain()).given(orphan).finds("2").costs(14, 6);
}

/// A hook that writes its name to `mark`, and fails.
fn hook(folder: &Path, name: &str, mark: &Path) {
    use std::os::unix::fs::PermissionsExt;

    fs::create_dir_all(folder).unwrap();
    let file = folder.join(name);
    let text = format!("#!/bin/sh\necho {name} >> '{}'\nexit 1\n", mark.display());
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Hunts with these hooks, and fails if one of them runs.
fn with_hooks(names: &[&str]) {
    let hooks = |env: &mut TestEnvironment, _: &History| {
        let folder = env.repo().join(".git/hooks");
        for name in names {
            hook(&folder, name, &env.path("tmp/ran"));
        }
    };
    let told = hunt(plain()).given(hooks).finds("2").costs(14, 6);
    let ran = fs::read_to_string(told.env().path("tmp/ran")).unwrap_or_default();
    assert_eq!(ran, "");
}

const HOOKS: [&str; 6] = [
    "post-checkout",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
];

#[test]
fn the_users_hooks_do_not_run() {
    with_hooks(&HOOKS);
}

#[test]
fn the_users_hook_on_references_does_not_run() {
    with_hooks(&["reference-transaction"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_users_hooks_elsewhere_do_not_run() {
    let hooks = |env: &mut TestEnvironment, _: &History| {
        let folder = env.path("home/hooks");
        for name in HOOKS.iter().chain(&["reference-transaction"]) {
            hook(&folder, name, &env.path("tmp/ran"));
        }
        env.git(&["config", "core.hooksPath", folder.to_str().unwrap()]);
        fs::write(env.path("tmp/ran"), "").unwrap();
    };
    let told = hunt(plain()).given(hooks).finds("2").costs(14, 6);
    assert_eq!(fs::read_to_string(told.env().path("tmp/ran")).unwrap(), "");
}

/// Every commit leaves something in its source by this setting.
fn leaves_something(setting: &str) {
    let plan = line("g g g g b b b b").with_all(setting);
    hunt(plan).finds("4").costs(15, 7);
}

#[test]
fn what_a_commit_leaves_in_its_source_does_not_reach_the_next() {
    leaves_something("dirty = engine.conf");
    leaves_something("build_in_src = yes");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_a_build_leaves_in_files_of_its_source_does_not_reach_the_next() {
    leaves_something("dirty = version");
    leaves_something("build_dirty = engine.conf");
}

#[test]
fn a_build_that_removes_dot_git_meets_no_other_repository() {
    // The outer repository holds the whole environment. Git finds it from a worktree without
    // `.git`.
    let above = |env: &mut TestEnvironment, _: &History| {
        let top = env.path("");
        env.git_in(&top, &["init", "--quiet"]);
        env.git_in(&top, &["add", "inputs/model.bin"]);
        env.git_in(&top, &["commit", "--quiet", "-m", "weights"]);
        fs::write(env.path("inputs/model.bin"), "weights, changed since\n").unwrap();
    };
    let fake = TestEnvironment::fake();
    let command = format!("sh -c \"{fake} build {{src}} {{build}} && rm -rf .git\"");
    let row = hunt(line("g g g g b b b b")).given(above).oracle(|o| o.build_command(&command));
    let told = row.finds("4").costs(15, 7);
    let input = fs::read_to_string(told.env().path("inputs/model.bin")).unwrap();
    assert_eq!(input, "weights, changed since\n");
}

#[test]
fn a_process_with_a_session_of_its_own_does_not_outlive_its_run() {
    hunt(line("g g b").with_all("orphan = yes")).finds("2").costs(11, 5);
}

#[test]
fn what_an_engine_compiles_at_run_time_is_not_run_at_another_commit() {
    let jit = "jit = XDG_CACHE_HOME TRITON_CACHE_DIR CUDA_CACHE_PATH";
    hunt(line("g g g b b b").with_all(jit)).finds("3").costs(15, 7);
}

#[test]
fn what_a_build_tells_git_not_to_look_at_does_not_reach_the_next() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let fake = TestEnvironment::fake();
        let command = format!(
            "sh -c \"git update-index {flag} engine.conf version && {fake} build {{src}} {{build}} \
             && echo ppl = 9 >> engine.conf\""
        );
        let row = hunt(line("g g g g b b b b")).oracle(|o| o.build_command(&command));
        row.finds("4").costs(15, 7);
    }
}

/// An engine whose perplexity depends on the number of the slot that it is built in, by 1.
fn of_its_path(base: u32) -> String {
    format!(
        "echo run 0 ppl $$ >>\"$FAKE_WORLD/starts.log\"\n\
         n=${{1#*/slots/}}; n=${{n%%/*}}; n=${{n%.*}}\n\
         echo \"Final estimate: PPL = $(({base} + n)).0 +/- 0.1\"\n"
    )
}

/// A hunt in this history, where commits have their own `run.sh`.
fn with_own_path(plan: Plan) -> Row {
    hunt(plan).oracle(|oracle| oracle.ppl_command("sh {src}/run.sh {build}"))
}

#[test]
fn an_engine_that_depends_on_its_path_blames_nobody() {
    let same = line("g g g g g g").program(0, "run.sh", &of_its_path(7));
    with_own_path(same).shows_no_regression().costs(10, 4);
}

#[test]
fn an_engine_that_depends_on_its_path_shows_what_changed() {
    let worse = line("g g g g g g").program(0, "run.sh", &of_its_path(7)).program(
        4,
        "run.sh",
        &of_its_path(9),
    );
    with_own_path(worse).finds("4").costs(15, 7);
}

/// An engine that keeps its tables in the home folder, and computes them only if they are missing.
fn of_the_home(ppl: u32) -> String {
    format!(
        "echo run 0 ppl $$ >>\"$FAKE_WORLD/starts.log\"\n\
         [ -e \"$HOME/.tables\" ] || echo {ppl} >\"$HOME/.tables\"\n\
         echo \"Final estimate: PPL = $(cat \"$HOME/.tables\").0 +/- 0.1\"\n"
    )
}

#[test]
#[ignore = "long: scripts/test --long"]
fn tables_in_the_home_folder_hide_no_regression() {
    let worse = line("g g g g g g").program(0, "run.sh", &of_the_home(7)).program(
        4,
        "run.sh",
        &of_the_home(9),
    );
    with_own_path(worse)
        .saying(&["every build and run gets an empty one"])
        .finds("4")
        .costs(25, 11);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn tables_of_another_day_in_the_home_folder_hide_no_regression() {
    let worse = line("g g g g g g").program(0, "run.sh", &of_the_home(7)).program(
        4,
        "run.sh",
        &of_the_home(9),
    );
    let left = |env: &mut TestEnvironment, _: &History| {
        fs::write(env.path("home/.tables"), "9\n").unwrap();
    };
    with_own_path(worse).given(left).finds("4").costs(25, 11);
}

/// A build that installs beside its folders, and keeps what is there already.
const INSTALL: &str = "set -e\n\
    mkdir -p \"$1/../install\"\n\
    [ -e \"$1/../install/tables\" ] || cp \"$2/tables\" \"$1/../install/tables\"\n";

/// An engine that reads what its build installed beside the build folder.
const READ_INSTALLED: &str = "echo run 0 ppl $$ >>\"$FAKE_WORLD/starts.log\"\n\
    echo \"Final estimate: PPL = $(cat \"$1/../install/tables\").0 +/- 0.1\"\n";

#[test]
fn what_a_build_installs_beside_its_folder_is_not_there_for_the_next() {
    let worse = line("g g g g g g g g")
        .program(0, "run.sh", READ_INSTALLED)
        .program(0, "build.sh", INSTALL)
        .file(0, "tables", "7\n")
        .file(5, "tables", "9\n");
    let fake = TestEnvironment::fake();
    let both = format!(
        "sh -c \"sh {{src}}/build.sh {{build}} {{src}} && {fake} build {{src}} {{build}}\""
    );
    with_own_path(worse).oracle(|oracle| oracle.build_command(&both)).finds("5").costs(18, 10);
}
