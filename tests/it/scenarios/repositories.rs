//! Kinds of repositories.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Row, hunt};
use crate::kit::{History, Plan, TestEnvironment, graph, line};

/// A hunt in a clone that is made with these options.
fn in_clone(plan: Plan, words: &'static [&str]) -> Row {
    hunt(plan).given(|env, _| {
        let origin = format!("file://{}", env.repo().display());
        let clone = env.path("clone");
        let last = [&*origin, clone.to_str().unwrap()];
        env.git(&["config", "uploadpack.allowFilter", "true"]);
        env.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        env.git(&[&["clone", "--quiet"], words, &last].concat());
        env.stand_in(&clone);
    })
}

// ---- no checkout, several checkouts, a partial checkout ----

#[test]
fn a_bare_repository() {
    let row = in_clone(line("g g b b"), &["--bare"]);
    let config = row.env.path("home/oracle.toml");
    let row = row.config_at(config);
    row.finds("2").costs(14, 6);
}

#[test]
fn a_subfolder_of_a_checkout() {
    let plan = line("g g b b").file(0, "kernels/mul.c", "int mul;\n");
    hunt(plan).in_folder("kernels").finds("2").costs(14, 6);
}

#[test]
fn a_configuration_elsewhere_has_its_own_relative_paths() {
    let row = hunt(line("g g b b"));
    let home = row.env.path("home");
    fs::create_dir(home.join("settings")).unwrap();
    fs::create_dir(home.join("inputs")).unwrap();
    fs::write(home.join("inputs/model.bin"), "weights of their own\n").unwrap();
    let told = row.config_at(home.join("settings/mine.toml")).finds("2").costs(14, 6);
    let path = told.hunt.report["inputs"]["model"]["path"].as_str().unwrap();
    assert!(path.starts_with(home.to_str().unwrap()), "{path}");
}

#[test]
fn a_linked_worktree() {
    let row = hunt(line("g g b b")).given(|env, _| {
        let other = env.path("other");
        env.git(&["worktree", "add", "--quiet", "-b", "other", other.to_str().unwrap(), "v1"]);
        env.stand_in(&other);
    });
    row.finds("2").costs(14, 6);
}

#[test]
fn a_repository_with_other_worktrees_locked_moved_and_gone() {
    let row = hunt(line("g g b b")).given(|env, _| {
        for name in ["locked", "moved", "gone", "src", "bisect"] {
            let path = env.path(name);
            env.git(&["worktree", "add", "--quiet", "--detach", path.to_str().unwrap()]);
        }
        env.git(&["worktree", "lock", env.path("locked").to_str().unwrap()]);
        fs::rename(env.path("moved"), env.path("elsewhere")).unwrap();
        fs::remove_dir_all(env.path("gone")).unwrap();
    });
    row.finds("2").costs(14, 6);
}

#[test]
fn a_git_folder_elsewhere() {
    let row = hunt(line("g g b b")).given(|env, _| {
        let apart = env.path("apart.git");
        env.git(&["init", "--quiet", "--separate-git-dir", apart.to_str().unwrap()]);
    });
    row.finds("2").costs(14, 6);
}

#[test]
fn a_checkout_that_is_a_link() {
    let row = hunt(line("g g b b")).given(|env, _| {
        let link = env.path("link");
        std::os::unix::fs::symlink(env.repo(), &link).unwrap();
        env.stand_in(&link);
    });
    row.finds("2").costs(14, 6);
}

/// A build that fails if the folder `big` is checked out.
fn small_only(row: Row) -> Row {
    let fake = TestEnvironment::fake();
    let command = format!("sh -c \"test ! -e big && exec {fake} build {{src}} {{build}}\"");
    row.oracle(|oracle| oracle.build_command(&command))
}

/// A hunt in a checkout without `big`, by these words.
fn sparse(words: &[&str]) {
    let plan = line("g g b b").file(0, "big/data", "1\n").file(0, "kernels/note", "# 1\n");
    let row = hunt(plan.file(2, "big/data", "2\n")).given(|env, _| {
        env.git(&[&["sparse-checkout", "set"], words].concat());
        assert!(!env.repo().join("big").exists());
    });
    small_only(row).finds("2").costs(14, 6);
}

#[test]
fn a_sparse_checkout() {
    sparse(&["--no-cone", "/*", "!/big/"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_sparse_checkout_of_a_cone() {
    sparse(&["--cone", "kernels"]);
}

// ---- storage of objects and references ----

#[test]
fn packed_references_and_objects() {
    let row = hunt(line("g g b b")).given(|env, _| {
        env.git(&["pack-refs", "--all", "--prune"]);
        env.git(&["gc", "--quiet"]);
        env.git(&["commit-graph", "write", "--reachable"]);
    });
    row.finds("2").costs(14, 6);
}

#[test]
fn objects_borrowed_from_another_repository() {
    let row = hunt(line("g g b b")).given(|env, _| {
        let clone = env.path("clone");
        env.git(&["clone", "--quiet", "--shared", ".", clone.to_str().unwrap()]);
        env.stand_in(&clone);
        assert!(clone.join(".git/objects/info/alternates").exists());
    });
    row.finds("2").costs(14, 6);
}

#[test]
fn a_history_with_a_replaced_commit() {
    // In this repository git reads a bad commit in place of 1. In other clones commit 1 is the
    // original one, which is good.
    let row = hunt(line("g g b b")).given(|env, history| {
        let tree = env.git(&["rev-parse", "main^{tree}"]);
        let parent = history.commit(0);
        let made = env.git(&["commit-tree", tree.trim(), "-p", parent, "-m", "replaced"]);
        env.git(&["replace", history.commit(1), made.trim()]);
    });
    row.finds("2").costs(14, 6);
}

// ---- partial history ----

fn ten() -> Plan {
    line("g g g g g g g b b b")
}

#[test]
fn a_shallow_clone_in_which_good_is_cut_off() {
    let row = in_clone(ten(), &["--depth", "5"]).between("2", "9");
    row.gets_refused(&["unknown revision", "git fetch --unshallow"]).costs(0, 0);
    let row = in_clone(ten(), &["--depth", "5", "--no-tags"]);
    row.gets_refused(&["unknown revision `v1`", "git fetch --unshallow"]).costs(0, 0);
}

#[test]
fn a_shallow_clone_that_holds_the_range() {
    in_clone(ten(), &["--depth", "5"]).between("5", "9").finds("7").costs(14, 6);
    in_clone(line("g g b b"), &["--depth", "2"])
        .between("2", "3")
        .shows_no_regression()
        .costs(10, 4);
}

#[test]
fn a_shallow_clone_whose_side_branch_is_cut_off() {
    // The clone has s2 but not s1, so the hunt cannot know whether s2 made the change.
    let plan = graph(&[
        "a: g",
        "s0 < a: g",
        "s1 < s0: b",
        "s2 < s1: b",
        "b < a: g",
        "c < b: g",
        "m < c s2: b",
        "e < m: b",
    ]);
    let row = in_clone(plan, &["--depth", "3"]).between("c", "e");
    row.saying(&["--unshallow"]).leaves("s2").costs(6, 4);
}

#[test]
fn a_partial_clone_fetches_what_it_lacks() {
    let row = in_clone(line("g g b b"), &["--filter=blob:none"]).may_fetch();
    row.finds("2").costs(14, 6);
}

#[test]
fn a_partial_clone_without_its_origin_is_the_machines_fault() {
    let row = in_clone(line("g g b b"), &["--filter=blob:none"]).may_fetch();
    let [origin, away] = ["repo", "away"].map(|name| row.env.path(name));
    fs::rename(&origin, &away).unwrap();
    let told = row.saying(&["resume"]).gets_stopped().costs(0, 0);
    fs::rename(&away, &origin).unwrap();
    told.resumed().finds("2").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_sparse_partial_clone_never_needs_what_its_patterns_leave_out() {
    let plan = line("g g b b").file(0, "big/data", "1\n").file(2, "big/data", "2\n");
    // The report also reads source files, for named constants that the change sets.
    let tile = |size: u32| format!("#define TILE {size}\n");
    let plan = plan.file(0, "big/tile.c", &tile(8)).file(2, "big/tile.c", &tile(16));
    let row = in_clone(plan, &["--filter=blob:none", "--sparse"]).given(|env, history| {
        // Each commit was fetched once. The files in big/ never were, and the origin is gone.
        for label in ["0", "1", "2", "3"] {
            env.git(&["checkout", "--quiet", "--detach", history.commit(label)]);
        }
        env.git(&["checkout", "--quiet", "main"]);
        fs::rename(env.path("repo"), env.path("away")).unwrap();
    });
    let told = small_only(row).finds("2").costs(14, 6);
    let files = told.hunt.report["culprit"]["files"].as_array().unwrap();
    for path in ["big/data", "big/tile.c"] {
        assert!(files.iter().any(|file| file["path"] == path), "{files:?}");
    }
}

// ---- submodules ----

/// A repository of kernels with two commits: the first good, the second bad.
fn kernels(env: &TestEnvironment) -> (PathBuf, [String; 2]) {
    let folder = env.path("kernels");
    fs::create_dir(&folder).unwrap();
    env.git_in(&folder, &["init", "--quiet", "--initial-branch=main"]);
    let pins = ["ppl = 7.0\n", "ppl = 7.5\n"].map(|text| {
        fs::write(folder.join("mul.conf"), text).unwrap();
        env.git_in(&folder, &["add", "mul.conf"]);
        env.git_in(&folder, &["commit", "--quiet", "-m", text.trim()]);
        env.git_in(&folder, &["rev-parse", "HEAD"]).trim().to_owned()
    });
    (folder, pins)
}

/// A history in which commit 1 adds the submodule and commit 3 moves the pin to the bad kernels.
fn with_submodule(env: &TestEnvironment) -> (Plan, PathBuf) {
    let (folder, [good, bad]) = kernels(env);
    let url = folder.display();
    let declared = format!("[submodule \"kernels\"]\n\tpath = kernels\n\turl = {url}\n");
    let plan = line("g g g g g")
        .file(1, ".gitmodules", &declared)
        .pin(1, "kernels", &good)
        .pin(3, "kernels", &bad);
    (plan, folder)
}

const ALLOW: [&str; 2] = ["-c", "protocol.file.allow=always"];

fn initialise(env: &TestEnvironment) {
    env.git(&[&ALLOW[..], &["submodule", "update", "--quiet", "--init"]].concat());
}

fn submodule_row(prepare: impl FnOnce(&TestEnvironment, &Path)) -> Row {
    let env = TestEnvironment::new();
    let (plan, folder) = with_submodule(&env);
    let row = Row::of(env, plan);
    row.given(|env, _: &History| prepare(env, &folder))
}

#[test]
fn the_pin_of_a_submodule_did_it() {
    let told = submodule_row(|env, _| initialise(env)).finds("3").costs(14, 6);
    let files = told.hunt.report["culprit"]["files"].as_array().unwrap();
    assert!(files.iter().any(|file| file["path"] == "kernels"), "{files:#?}");
    let moved = &told.hunt.report["culprit"]["dependencies"][0];
    assert_eq!((&moved["path"], &moved["commits"]), (&"kernels".into(), &1.into()), "{moved}");
    let said = &told.hunt.output.stdout;
    assert!(said.contains("Dependency: it moves the submodule kernels: "), "{said}");
    assert!(said.contains(" (1 commit)"), "{said}");
}

#[test]
fn a_commit_that_takes_another_projects_sources_over_names_their_range() {
    let [old, new] = ["a", "b"].map(|digit| format!("{}\n", digit.repeat(40)));
    let plan = line("g g b b").file(0, "scripts/sync-kernels.last", &old);
    let plan = plan.file(2, "scripts/sync-kernels.last", &new);
    let told = hunt(plan).finds("2").costs(14, 6);
    let words = "it takes another project's sources over, as noted in scripts/sync-kernels.last: \
                 aaaaaaaaaa..bbbbbbbbbb";
    assert!(told.hunt.output.stdout.contains(words), "{}", told.hunt.output.stdout);
    let issue = told.env().run(&["report", "--format", "issue"]).stdout;
    assert!(issue.contains("- Dependency: it takes"), "{issue}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_submodule_that_is_checked_out_where_its_remote_is_gone() {
    let prepare = |env: &TestEnvironment, folder: &Path| {
        initialise(env);
        fs::rename(folder, env.path("away")).unwrap();
    };
    submodule_row(prepare).finds("3").costs(14, 6);
}

#[test]
fn a_submodule_that_cannot_be_had_is_the_machines_fault() {
    let row = submodule_row(|env, folder| fs::rename(folder, env.path("away")).unwrap());
    let row = row.saying(&["submodule `kernels`", "submodules = false"]);
    // The good end does not have the submodule yet.
    row.gets_stopped().costs(1, 1);
}

#[test]
fn a_submodule_that_was_never_checked_out_is_fetched() {
    let row = submodule_row(|env, _| {
        let text = "[protocol \"file\"]\n\tallow = always\n";
        fs::write(env.path("home/gitconfig"), text).unwrap();
    });
    let settings = row.env.path("home/gitconfig");
    row.variable("GIT_CONFIG_GLOBAL", settings).finds("3").costs(14, 6);
}
