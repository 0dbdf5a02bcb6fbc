//! The user's git settings and git variables.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Row, hunt};
use crate::kit::{History, TestEnvironment, line};

fn row() -> Row {
    hunt(line("g g b b"))
}

fn with_settings(settings: &'static [(&str, &str)]) -> Row {
    row().given(move |env, _| {
        for (key, value) in settings {
            env.git(&["config", key, value]);
        }
    })
}

#[test]
fn a_file_that_orders_diffs_is_found_from_the_top_of_the_checkout_only() {
    let row = row().given(|env, _| {
        fs::write(env.repo().join(".git/order"), "*.h\n").unwrap();
        env.git(&["config", "diff.orderFile", ".git/order"]);
    });
    row.finds("2").costs(14, 6);
}

#[test]
fn settings_that_change_what_git_says() {
    let settings = &[
        ("advice.detachedHead", "true"),
        ("log.showSignature", "true"),
        ("log.decorate", "full"),
        ("format.pretty", "fuller"),
        ("color.ui", "always"),
        ("status.showUntrackedFiles", "no"),
        ("status.branch", "true"),
        ("diff.noprefix", "true"),
        ("diff.external", "false"),
        ("core.quotePath", "false"),
        ("core.abbrev", "4"),
        ("core.pager", "false"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.relative", "true"),
        ("log.diffMerges", "off"),
        ("log.follow", "true"),
        ("log.showRoot", "false"),
    ];
    with_settings(settings).finds("2").costs(14, 6);
}

#[test]
fn settings_that_change_what_git_does() {
    let settings = &[
        ("bisect.noCheckout", "true"),
        ("checkout.defaultRemote", "nowhere"),
        ("clean.requireForce", "true"),
        ("commit.gpgSign", "true"),
        ("gpg.program", "false"),
        ("fetch.recurseSubmodules", "true"),
        ("submodule.recurse", "true"),
        ("gc.auto", "1"),
        ("worktree.guessRemote", "true"),
        ("core.logAllRefUpdates", "always"),
        ("core.untrackedCache", "true"),
        ("core.preloadIndex", "true"),
        ("feature.manyFiles", "true"),
        ("index.threads", "4"),
    ];
    with_settings(settings).finds("2").costs(14, 6);
}

#[test]
fn line_ends_are_converted() {
    for value in ["true", "input"] {
        let plan = line("g g b b").file(0, "kernels/crlf.txt", "one\r\ntwo\r\n");
        let settings = |env: &mut TestEnvironment, _: &History| {
            env.git(&["config", "core.autocrlf", value]);
        };
        hunt(plan).given(settings).finds("2").costs(14, 6);
    }
}

#[test]
fn a_filter_changes_every_file() {
    // Git LFS is such a filter. The build uses the filter's output.
    let plan = line("g g b b").file(0, ".gitattributes", "engine.conf filter=worse\n");
    let filter = |env: &mut TestEnvironment, _: &History| {
        env.git(&["config", "filter.worse.smudge", "sed s/7/8/"]);
        env.git(&["config", "filter.worse.clean", "sed s/8/7/"]);
    };
    let told = hunt(plan).given(filter).finds("2").costs(14, 6);
    assert_eq!(told.hunt.report["culprit"]["effect"]["parent"], 8.0);
}

#[test]
fn a_monitor_of_files_is_not_asked() {
    let monitor = |env: &mut TestEnvironment, _: &History| {
        let file = env.path("home/monitor");
        let mark = env.path("tmp/asked");
        fs::write(&file, format!("#!/bin/sh\necho asked >> '{}'\nexit 1\n", mark.display()))
            .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        env.git(&["config", "core.fsmonitor", file.to_str().unwrap()]);
    };
    let told = row().given(monitor).finds("2").costs(14, 6);
    assert!(!told.env().path("tmp/asked").exists());
}

const NOT_OURS: (&str, &str) = ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");

#[test]
fn a_repository_of_somebody_else_is_refused_with_the_cure() {
    let row = row().variable(NOT_OURS.0, NOT_OURS.1);
    row.gets_refused(&["belongs to another user", "safe.directory"]).costs(0, 0);
}

#[test]
fn a_repository_of_somebody_else_that_the_user_trusts() {
    let row = row().given(|env, _| {
        // With `NOT_OURS` git also believes that another user owns the hunt's worktrees.
        fs::write(env.path("home/gitconfig"), "[safe]\n\tdirectory = *\n").unwrap();
    });
    let settings = row.env.path("home/gitconfig");
    let row = row.variable(NOT_OURS.0, NOT_OURS.1).variable("GIT_CONFIG_GLOBAL", settings);
    row.finds("2").costs(14, 6);
}

#[test]
fn variables_that_git_exports_confuse_nobody() {
    // A hook or an alias of git sets these variables.
    let row = row();
    let git = row.env.repo().join(".git");
    let index = git.join("index");
    let row = row.variable("GIT_DIR", git).variable("GIT_INDEX_FILE", index);
    row.variable("GIT_PREFIX", "kernels/").finds("2").costs(14, 6);
}

#[test]
fn variables_that_lead_elsewhere_are_heeded_by_nobody() {
    let row = row();
    let nowhere = row.env.path("home");
    let mut row = row.variable("GIT_WORK_TREE", &nowhere);
    for name in ["GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES"] {
        row = row.variable(name, &nowhere);
    }
    let row = row.variable("GIT_DIFF_OPTS", "-u0");
    row.variable("GIT_LITERAL_PATHSPECS", "1").finds("2").costs(14, 6);
}
