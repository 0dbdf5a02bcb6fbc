use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags};

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
    // Git would compare the content of a file changed in the second of its checkout.
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

/// A commit on top of HEAD with one more tree entry, which git itself would refuse to make.
fn planted(fixture: &Fixture, mode: &str, kind: &str, object: &str, name: &str) -> CommitId {
    let line = format!("{mode} {kind} {object}\t{name}\n");
    let listed = fixture.git(&["ls-tree", "HEAD"]);
    let input = fixture.beside("tree");
    write(&input, &format!("{listed}\n{line}"));
    let command = format!("alias.plant=!git mktree <'{}'", input.display());
    let tree = fixture.git(&["-c", &command, "plant"]);
    fixture.git(&["commit-tree", &tree, "-p", "HEAD", "-m", "odd"]).parse().unwrap()
}

fn impossible(worktree: &mut Worktree, commit: &CommitId) -> CheckoutImpossible {
    match worktree.checkout(commit, true) {
        Err(GitError::CheckoutImpossible(impossible)) => impossible,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_commit_that_the_disk_refuses_says_why_and_the_next_one_is_checked_out() {
    let fixture = Fixture::new();
    let plain = fixture.commit("plain", &[("a", "1"), ("b", "1")]);
    let blob = fixture.git(&["rev-parse", "HEAD:a"]);
    let input = fixture.beside("tree");
    write(&input, &format!("100644 blob {blob}\tconfig\n"));
    let config = format!("alias.plant=!git mktree <'{}'", input.display());
    let config = fixture.git(&["-c", &config, "plant"]);
    let mut deep = blob.clone();
    let mut kind = "blob";
    for _ in 0..50 {
        let mode = if kind == "blob" { "100644" } else { "040000" };
        write(&input, &format!("{mode} {kind} {deep}\t{}\n", "d".repeat(100)));
        let make = format!("alias.plant=!git mktree <'{}'", input.display());
        deep = fixture.git(&["-c", &make, "plant"]);
        kind = "tree";
    }
    let mut worktree = slot(&fixture, &plain);
    let long = "n".repeat(300);
    for (mode, kind, object, name, words) in [
        ("040000", "tree", config.as_str(), "git~1", "git~1/config"),
        ("120000", "blob", blob.as_str(), ".gitmodules", ".gitmodules"),
        ("100644", "blob", blob.as_str(), &*long, "(300 bytes): File name too long"),
        ("040000", "tree", deep.as_str(), "deep", "bytes): File name too long"),
    ] {
        let odd = planted(&fixture, mode, kind, object, name);
        let why = impossible(&mut worktree, &odd).to_string();
        assert!(why.contains(words) && why.len() < 600, "{why}");
        worktree.checkout(&plain, true).unwrap();
        assert_eq!(listing(worktree.path()), ["a", "b"], "{name}");
        assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "", "{name}");
    }
}

#[test]
fn paths_too_long_for_git_are_removed() {
    let fixture = Fixture::new();
    let plain = fixture.commit("plain", &[("a", "1"), ("d/b", "1")]);
    let mut worktree = slot(&fixture, &plain);
    let folder = worktree.path().join("d");
    let open = |at: BorrowedFd<'_>, name: &Path| {
        rustix::fs::openat(at, name, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    };
    let mut here = open(rustix::fs::CWD, &folder);
    let name = "d".repeat(200);
    for _ in 0..30 {
        rustix::fs::mkdirat(&here, &*name, Mode::from(0o755)).unwrap();
        here = open(here.as_fd(), Path::new(&name));
    }
    worktree.checkout(&plain, true).unwrap();
    assert_eq!(listing(worktree.path()), ["a", "d/b"]);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn a_missing_object_is_not_the_commits_fault() {
    let fixture = Fixture::new();
    let plain = fixture.commit("plain", &[("a", "1")]);
    let next = fixture.commit("next", &[("a", "2"), ("d/b", "2")]);
    for missing in ["HEAD:a", "HEAD:d"] {
        let object = fixture.git(&["rev-parse", missing]);
        let file = fixture.user().join(".git/objects").join(&object[..2]).join(&object[2..]);
        let bytes = fs::read(&file).unwrap();
        let mut worktree = slot(&fixture, &plain);
        fs::remove_file(&file).unwrap();
        let error = worktree.checkout(&next, true).unwrap_err();
        assert!(matches!(error, GitError::Command { .. }), "{missing}: {error}");
        fs::write(&file, bytes).unwrap();
    }
}

#[test]
fn a_git_that_was_killed_is_told_apart_from_one_that_failed() {
    let fixture = Fixture::new();
    let plain = fixture.commit("plain", &[("a", "1")]);
    let next = fixture.commit("next", &[("a", "2"), (".gitattributes", "a filter=killer\n")]);
    let mut worktree = slot(&fixture, &plain);
    let once = fixture.beside("once");
    let smudge = format!("test -e '{0}' || {{ touch '{0}'; kill -9 $PPID; }}; cat", once.display());
    fixture.git(&["config", "filter.killer.smudge", &smudge]);
    let error = worktree.checkout(&next, true).unwrap_err();
    assert!(matches!(error, GitError::Killed { .. }), "{error}");
    assert!(error.hint().unwrap().contains("memory"));
    assert!(fixture.beside("once").exists());
    // The lock of the killed git is not in the way.
    worktree.checkout(&next, true).unwrap();
    assert_eq!(content(&worktree, "a"), "2");
}

#[test]
fn no_lock_of_the_users_repository_is_needed_or_left() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("a", "1")]);
    let second = fixture.commit("second", &[("a", "2")]);
    fixture.git(&["pack-refs", "--all"]);
    let common = fixture.repository().common_dir().to_owned();
    let locks = ["packed-refs.lock", "index.lock", "HEAD.lock", "config.lock"];
    let locks = locks.map(|name| common.join(name));
    for lock in &locks {
        File::create_new(lock).unwrap();
    }
    let mut worktree = slot(&fixture, &first);
    worktree.checkout(&second, true).unwrap();
    assert_eq!(content(&worktree, "a"), "2");
    write(&worktree.path().join("a"), "3");
    worktree.reset().unwrap();
    assert_eq!(content(&worktree, "a"), "2");
    let git_dir = common.join("worktrees/src");
    fs::write(git_dir.join("HEAD"), "ref: refs/heads/gone\n").unwrap();
    worktree.checkout(&first, true).unwrap();
    assert_eq!(detached_head(&git_dir), Some(first));
    worktree.remove().unwrap();
    for lock in locks {
        fs::remove_file(lock).unwrap();
    }
}

#[test]
fn what_a_build_merges_or_picks_is_forgotten() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("a", "1")]);
    let second = fixture.commit("second", &[("a", "2")]);
    let third = fixture.commit("third", &[("a", "3")]);
    let mut worktree = slot(&fixture, &first);
    for words in [["cherry-pick", third.as_str()], ["revert", second.as_str()]] {
        let picked = Call::new(worktree.path()).args(words).ok();
        assert!(picked.is_err(), "{words:?}: a conflict");
        worktree.checkout(&first, true).unwrap();
        let status = git_in(worktree.path(), &["status"]);
        assert!(!status.contains("cherry-pick") && !status.contains("revert"), "{status}");
        assert_eq!(content(&worktree, "a"), "1");
        worktree.checkout(&third, true).unwrap();
        worktree.checkout(&first, true).unwrap();
    }
}

#[test]
fn a_reset_says_whether_a_tracked_file_was_written() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("a", "1"), ("b", "1")]);
    let worktree = slot(&fixture, &first);
    // The clock of a disk has ticks of a few milliseconds.
    std::thread::sleep(Duration::from_millis(50));
    write(&worktree.path().join("a.o"), "compiled");
    assert!(!worktree.reset().unwrap(), "git does not track it");
    write(&worktree.path().join("a"), "2");
    assert!(worktree.reset().unwrap());
    assert!(!worktree.reset().unwrap());
    fs::remove_file(worktree.path().join("b")).unwrap();
    assert!(worktree.reset().unwrap());
    std::thread::sleep(Duration::from_millis(50));
    write(&worktree.path().join("a"), "1");
    assert!(worktree.reset().unwrap(), "the same content, written again");
}

#[test]
fn what_a_sparse_checkout_leaves_out_was_not_written() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("src/a", "1"), ("assets/huge", "1")]);
    fixture.git(&["sparse-checkout", "set", "--cone", "src"]);
    let worktree = slot(&fixture, &first);
    assert_eq!(listing(worktree.path()), ["src/a"]);
    assert!(!worktree.reset().unwrap());
}

#[test]
fn a_checkout_after_all_files_were_removed_writes_each_of_them() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("a", "1"), ("same", "1")]);
    let second = fixture.commit("second", &[("a", "2")]);
    let mut worktree = slot(&fixture, &first);
    let before = written(&worktree, "same");
    assert!(worktree.has_files());
    std::thread::sleep(Duration::from_millis(50));
    worktree.remove_files().unwrap();
    assert!(!worktree.has_files());
    assert_eq!(listing(worktree.path()), [""; 0]);
    worktree.checkout(&second, true).unwrap();
    assert!(worktree.has_files());
    assert_eq!((&*content(&worktree, "a"), &*content(&worktree, "same")), ("2", "1"));
    assert!(written(&worktree, "same") > before);
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "");
}
