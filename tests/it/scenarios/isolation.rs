//! Work in progress in the user's checkout, and what commits do to their own checkout.

use std::fs;
use std::path::Path;

use super::hunt;
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
fn head_is_detached() {
    let detach = |env: &mut TestEnvironment, history: &History| {
        env.git(&["checkout", "--quiet", "--detach", history.commit(1)]);
    };
    hunt(plain()).given(detach).finds("2").costs(14, 6);
}

#[test]
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

#[test]
fn what_a_commit_leaves_in_its_source_does_not_reach_the_next() {
    for setting in [
        "dirty = engine.conf",
        "dirty = version",
        "build_dirty = engine.conf",
        "build_in_src = yes",
    ] {
        let plan = line("g g g g b b b b").with_all(setting);
        hunt(plan).finds("4").costs(15, 7);
    }
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
