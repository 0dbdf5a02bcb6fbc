use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use super::*;
use crate::git::Worktree;
use crate::git::tests::{Fixture, git_in, listing, write, write_program};

fn slot(fixture: &Fixture, commit: &CommitId) -> Worktree {
    let path = fixture.beside("slots/0/src");
    let mut slot = Worktree::add_detached(&fixture.repository(), &path, commit).unwrap();
    slot.checkout(commit, true).unwrap();
    slot
}

fn content(worktree: &Worktree, name: &str) -> String {
    fs::read_to_string(worktree.path().join(name)).unwrap()
}

fn written(worktree: &Worktree, name: &str) -> SystemTime {
    fs::metadata(worktree.path().join(name)).unwrap().modified().unwrap()
}

fn is_executable(worktree: &Worktree, name: &str) -> bool {
    let metadata = fs::metadata(worktree.path().join(name)).unwrap();
    metadata.permissions().mode() & 0o111 != 0
}

#[test]
fn what_a_build_tells_git_not_to_look_at_is_put_back() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let fixture = Fixture::new();
        let first = fixture.commit("first", &[("a", "1"), ("b", "1"), ("same", "1")]);
        let second = fixture.commit("second", &[("b", "2")]);
        let mut worktree = slot(&fixture, &first);
        let before = written(&worktree, "same");
        let harm = |worktree: &Worktree| {
            git_in(worktree.path(), &["update-index", flag, "a", "b"]);
            write(&worktree.path().join("a"), "the build's");
            fs::remove_file(worktree.path().join("b")).unwrap();
        };
        harm(&worktree);
        worktree.reset().unwrap();
        assert_eq!((&*content(&worktree, "a"), &*content(&worktree, "b")), ("1", "1"), "{flag}");
        harm(&worktree);
        worktree.checkout(&second, true).unwrap();
        assert_eq!((&*content(&worktree, "a"), &*content(&worktree, "b")), ("1", "2"), "{flag}");
        assert_eq!(git_in(worktree.path(), &["ls-files", "-v"]), "H a\nH b\nH same", "{flag}");
        assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "", "{flag}");
        assert_eq!(written(&worktree, "same"), before, "{flag}");
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_stays_out_and_the_rest_is_put_back() {
    let fixture = Fixture::new();
    let files = [("top", "1"), ("src/a", "1"), ("src/b", "1"), ("assets/huge", "1")];
    let first = fixture.commit("first", &files);
    let second = fixture.commit("second", &[("top", "2")]);
    fixture.git(&["sparse-checkout", "set", "--cone", "src"]);
    let mut worktree = slot(&fixture, &first);
    for commit in [&first, &second] {
        git_in(worktree.path(), &["update-index", "--skip-worktree", "src/a", "src/b"]);
        write(&worktree.path().join("src/a"), "the build's");
        fs::remove_file(worktree.path().join("src/b")).unwrap();
        write(&worktree.path().join("assets/huge"), "the build's");
        worktree.checkout(commit, true).unwrap();
        assert_eq!((&*content(&worktree, "src/a"), &*content(&worktree, "src/b")), ("1", "1"));
        assert_eq!(listing(worktree.path()), ["src/a", "src/b", "top"]);
    }
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen_whatever_is_configured() {
    let fixture = Fixture::new();
    for setting in ["trustctime=false", "checkStat=minimal", "ignoreStat=true", "fsmonitor=true"] {
        let (name, value) = setting.split_once('=').unwrap();
        fixture.git(&["config", &format!("core.{name}"), value]);
    }
    let first = fixture.commit("first", &[("a", "one"), ("same", "1")]);
    let worktree = slot(&fixture, &first);
    // Else git compares the content: it may have been changed in the second it was written in.
    std::thread::sleep(Duration::from_millis(1100));
    worktree.reset().unwrap();
    let (before, same) = (written(&worktree, "a"), written(&worktree, "same"));
    let file = worktree.path().join("a");
    fs::write(&file, "two").unwrap();
    File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    worktree.reset().unwrap();
    assert_eq!(content(&worktree, "a"), "one");
    assert_eq!(written(&worktree, "same"), same);
}

#[test]
fn modes_are_the_commits_own_where_the_disk_has_them() {
    let fixture = Fixture::new();
    fixture.git(&["config", "core.fileMode", "false"]);
    write_program(&fixture.user().join("run.sh"), "#!/bin/sh\n");
    fixture.commit("a file", &[]);
    fixture.git(&["update-index", "--chmod=+x", "run.sh"]);
    fixture.git(&["commit", "--quiet", "-m", "may be run"]);
    let program = fixture.head();
    fixture.git(&["update-index", "--chmod=-x", "run.sh"]);
    fixture.git(&["commit", "--quiet", "-m", "may not"]);
    let text = fixture.head();
    let mut worktree = slot(&fixture, &program);
    for (commit, is_program) in [(&program, true), (&text, false), (&program, true)] {
        worktree.checkout(commit, true).unwrap();
        assert_eq!(is_executable(&worktree, "run.sh"), is_program);
        let before = written(&worktree, "run.sh");
        worktree.reset().unwrap();
        assert_eq!(written(&worktree, "run.sh"), before, "nothing to put back");
        let mode = if is_program { 0o644 } else { 0o755 };
        let file = worktree.path().join("run.sh");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        worktree.reset().unwrap();
        assert_eq!(is_executable(&worktree, "run.sh"), is_program);
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }
}
