//! The user's repository, and one commit and the next, are kept apart.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

#[test]
fn the_users_hooks_do_not_run() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    let mark = env.path("tmp/hook-ran");
    // Not among them: `reference-transaction`, which `git bisect` (2.47) runs whatever
    // core.hooksPath says, since it never reads that setting.
    for name in ["post-checkout", "post-index-change", "post-merge", "pre-auto-gc"] {
        let hook = env.repo().join(".git/hooks").join(name);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\necho {name} >> '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
}

#[test]
fn a_dirty_checkout_stays_as_it_is_and_is_not_measured() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let file = |name: &str| env.repo().join(name);
    fs::write(file("version"), "id = stashed\n").unwrap();
    env.git(&["stash"]);
    fs::write(file("staged.c"), "int staged;\n").unwrap();
    env.git(&["add", "staged.c"]);
    fs::write(file("engine.conf"), "ppl = 99\n").unwrap();
    fs::write(file("untracked.txt"), "mine\n").unwrap();
    fs::remove_file(file("version")).unwrap();
    let before = Snapshot::of(&env);
    env.hunt().names(&history, 2);
    before.assert_unchanged(&env);
}

#[test]
fn a_bisect_of_the_users_own_goes_on_untouched() {
    let env = TestEnvironment::new();
    let history = line("g g g b b b").build(&env);
    Oracle::new(&env).write(&env);
    env.git(&["bisect", "start", "HEAD", "v1"]);
    let before = Snapshot::of(&env);
    let head = env.git(&["rev-parse", "HEAD"]);
    let hunt = env.start(&["--good", "v1", "--bad", "main"]);
    hunt.names(&history, 3);
    before.assert_unchanged(&env);
    assert_eq!(env.git(&["rev-parse", "HEAD"]), head);
    env.git(&["bisect", "good"]);
}

#[test]
fn a_hunt_starts_from_a_subfolder_too() {
    let env = TestEnvironment::new();
    let history = line("g g b b").file(0, "kernels/mul.c", "int mul;\n").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    let folder = env.repo().join("kernels");
    let args = ["start", "--good", "v1", "--config", "../oracle.toml"];
    let output = env.run_in(&folder, &args).expect(0);
    assert!(output.stdout.contains(history.commit(2)), "{}", output.stdout);
    env.run_in(&folder, &["report"]).expect(0);
    before.assert_unchanged(&env);
}

#[test]
fn a_configuration_elsewhere_has_its_own_relative_paths() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    let folder = env.path("home/settings");
    fs::create_dir(&folder).unwrap();
    fs::create_dir(env.path("home/inputs")).unwrap();
    fs::write(env.path("home/inputs/model.bin"), "weights of their own\n").unwrap();
    Oracle::new(&env).write_to(&folder.join("mine.toml"));
    let config = folder.join("mine.toml");
    let hunt = env.start(&["--good", "v1", "--config", config.to_str().unwrap()]);
    let hunt = hunt.names(&history, 2);
    let path = hunt.report["inputs"]["model"]["path"].as_str().unwrap();
    assert!(path.contains("home"), "{path}");
}

#[test]
fn a_hunt_starts_from_a_linked_worktree_too() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    let other = env.path("other");
    env.git(&["worktree", "add", "--quiet", "--detach", other.to_str().unwrap(), "v1"]);
    Oracle::new(&env).write_to(&other.join("oracle.toml"));
    let list = env.git(&["worktree", "list", "--porcelain"]);
    let output = env.run_in(&other, &["start", "--good", "v1", "--bad", "main"]).expect(0);
    assert!(output.stdout.contains(history.commit(2)), "{}", output.stdout);
    assert_eq!(env.git(&["worktree", "list", "--porcelain"]), list);
    env.run(&["status"]).expect(0);
}

#[test]
fn variables_that_git_exports_confuse_nobody() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let git = env.repo().join(".git");
    // As a hook or an alias of git would set them.
    let set = [("GIT_DIR", git.to_str().unwrap()), ("GIT_PREFIX", "kernels/")];
    let output = env.run_with(&env.repo(), &["start", "--good", "v1"], &set).expect(0);
    assert!(output.stdout.contains(history.commit(2)), "{}", output.stdout);
}

#[test]
fn what_a_commit_leaves_in_its_source_does_not_reach_the_next() {
    for setting in [
        "dirty = engine.conf",
        "dirty = version",
        "build_dirty = engine.conf",
        "build_in_src = yes",
    ] {
        let env = TestEnvironment::new();
        let history = line("g g g g b b b b").with_all(setting).build(&env);
        Oracle::new(&env).write(&env);
        let before = Snapshot::of(&env);
        env.hunt().names(&history, 4);
        before.assert_unchanged(&env);
    }
}

#[test]
fn settings_of_the_repository_do_not_get_in_the_way() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    for (key, value) in [
        ("core.autocrlf", "true"),
        ("advice.detachedHead", "true"),
        ("log.showSignature", "true"),
        ("color.ui", "always"),
        ("status.showUntrackedFiles", "no"),
        ("core.fsmonitor", "true"),
        ("bisect.noCheckout", "true"),
        ("diff.noprefix", "true"),
        ("core.quotePath", "false"),
    ] {
        env.git(&["config", key, value]);
    }
    Oracle::new(&env).write(&env);
    env.hunt().names(&history, 2);
}

#[test]
fn paths_with_blanks_and_umlauts_are_only_paths() {
    let env = TestEnvironment::new();
    let history = line("g g b b").file(2, "kernels/schöne \"Grüße\" 1.c", "int x;\n").build(&env);
    let other = env.path("mit Leer zeichen ü");
    env.git(&["clone", "--quiet", ".", other.to_str().unwrap()]);
    Oracle::new(&env).write_to(&other.join("oracle.toml"));
    let output = env.run_in(&other, &["start", "--good", "v1"]).expect(0);
    assert!(output.stdout.contains(history.commit(2)), "{}", output.stdout);
}
