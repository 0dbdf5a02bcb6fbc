use std::fs;

use super::*;
use crate::git::tests::{Fixture, git_in, listing, write, write_program};

fn slot(fixture: &Fixture, commit: &CommitId) -> Worktree {
    Worktree::add_detached(&fixture.repository(), &fixture.beside("slots/0/src"), commit).unwrap()
}

fn content(worktree: &Worktree, name: &str) -> String {
    fs::read_to_string(worktree.path().join(name)).unwrap()
}

#[test]
fn a_checkout_holds_exactly_the_commits_tree() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[(".gitignore", "*.o\n"), ("a", "1"), ("d/b", "1")]);
    fs::remove_dir_all(fixture.user().join("d")).unwrap();
    let second = fixture.commit("second", &[("a", "2"), ("d", "a file now")]);
    let mut worktree = slot(&fixture, &second);
    assert_eq!(listing(worktree.path()), [""; 0]);

    worktree.checkout(&first, true).unwrap();
    assert_eq!(listing(worktree.path()), [".gitignore", "a", "d/b"]);
    // Everything that a build may leave behind.
    write(&worktree.path().join("a"), "changed");
    write(&worktree.path().join("d/new"), "untracked");
    write(&worktree.path().join("x.o"), "ignored");
    write(&worktree.path().join("out/deep/file"), "untracked");
    git_in(worktree.path(), &["init", "--quiet", "vendored"]);
    git_in(worktree.path(), &["add", "d/new"]);
    fs::remove_file(worktree.path().join(".gitignore")).unwrap();

    worktree.checkout(&second, true).unwrap();
    assert_eq!(listing(worktree.path()), [".gitignore", "a", "d"]);
    assert_eq!(content(&worktree, "a"), "2");
    assert_eq!(git_in(worktree.path(), &["rev-parse", "HEAD"]), second.as_str());
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn a_reset_restores_what_is_tracked_and_keeps_the_build() {
    let (fixture, commits) = Fixture::line(2);
    let mut worktree = slot(&fixture, &commits[1]);
    worktree.checkout(&commits[0], true).unwrap();
    write(&worktree.path().join("n"), "overwritten by configure");
    write(&worktree.path().join("build.o"), "compiled");
    // This build even commits.
    git_in(worktree.path(), &["commit", "--quiet", "-am", "generated"]);
    worktree.reset().unwrap();
    assert_eq!(content(&worktree, "n"), "1");
    assert_eq!(content(&worktree, "build.o"), "compiled");
    assert_eq!(git_in(worktree.path(), &["rev-parse", "HEAD"]), commits[0].as_str());
}

#[test]
fn equal_files_keep_their_time_stamps() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("a", "1"), ("b", "1")]);
    let second = fixture.commit("second", &[("a", "2")]);
    let mut worktree = slot(&fixture, &first);
    worktree.checkout(&first, true).unwrap();
    let stamp = |w: &Worktree| fs::metadata(w.path().join("b")).unwrap().modified().unwrap();
    let before = stamp(&worktree);
    worktree.checkout(&second, true).unwrap();
    worktree.reset().unwrap();
    assert_eq!(stamp(&worktree), before);
}

#[test]
fn nothing_of_the_users_changes() {
    let (fixture, commits) = Fixture::line(3);
    write(&fixture.user().join("n"), "stashed");
    fixture.git(&["stash", "--quiet"]);
    write(&fixture.user().join("n"), "staged");
    fixture.git(&["add", "n"]);
    write(&fixture.user().join("n"), "being edited");
    write(&fixture.user().join("new"), "untracked");
    write_program(
        &fixture.user().join(".git/hooks/post-checkout"),
        "#!/bin/sh\necho ran >>\"$(git rev-parse --git-common-dir)/hook-ran\"\n",
    );
    let before = (fixture.snapshot(), fixture.snapshot_with_worktrees());

    let mut worktree = slot(&fixture, &commits[0]);
    for commit in &commits {
        worktree.checkout(commit, true).unwrap();
        write(&worktree.path().join("n"), "dirty");
        worktree.reset().unwrap();
    }
    assert_eq!(fixture.snapshot(), before.0);
    worktree.remove().unwrap();
    assert_eq!(fixture.snapshot_with_worktrees(), before.1);
    assert_eq!(listing(&fixture.beside("slots")), [""; 0]);
}

#[test]
fn a_worktree_of_an_earlier_process_is_taken_up() {
    let (fixture, commits) = Fixture::line(2);
    let mut worktree = slot(&fixture, &commits[0]);
    worktree.checkout(&commits[0], true).unwrap();
    let git_dir = worktree.git_dir().to_owned();
    drop(worktree);
    // Git was killed in the middle of a checkout.
    write(&git_dir.join("index.lock"), "");
    write(&git_dir.join("HEAD.lock"), "");

    let mut worktree = slot(&fixture, &commits[1]);
    assert_eq!(worktree.git_dir(), git_dir);
    assert_eq!(content(&worktree, "n"), "1");
    write(&git_dir.join("index.lock"), "");
    worktree.checkout(&commits[1], true).unwrap();
    assert_eq!(content(&worktree, "n"), "2");
}

type Damage = fn(&Worktree);

#[test]
fn every_half_made_worktree_is_made_anew() {
    let (fixture, commits) = Fixture::line(1);
    let damage: [(&str, Damage); 9] = [
        ("slot gone", |w| fs::remove_dir_all(w.path().parent().unwrap()).unwrap()),
        ("slot gone, locked", |w| {
            write(&w.git_dir().join("locked"), "initializing");
            fs::remove_dir_all(w.path().parent().unwrap()).unwrap();
        }),
        ("slot emptied", |w| {
            fs::remove_dir_all(w.path().parent().unwrap()).unwrap();
            fs::create_dir_all(w.path()).unwrap();
        }),
        ("folder gone", |w| fs::remove_dir_all(w.path()).unwrap()),
        ("folder emptied", |w| {
            fs::remove_dir_all(w.path()).unwrap();
            fs::create_dir(w.path()).unwrap();
        }),
        ("git folder gone", |w| fs::remove_dir_all(w.git_dir()).unwrap()),
        ("killed while made", |w| write(&w.git_dir().join("locked"), "initializing")),
        ("folder gone, locked", |w| {
            write(&w.git_dir().join("locked"), "initializing");
            fs::remove_dir_all(w.path()).unwrap();
        }),
        ("HEAD lost", |w| write(&w.git_dir().join("HEAD"), "")),
    ];
    for (what, harm) in damage {
        let mut worktree = slot(&fixture, &commits[0]);
        worktree.checkout(&commits[0], true).unwrap();
        harm(&worktree);
        let mut worktree = slot(&fixture, &commits[0]);
        worktree.checkout(&commits[0], true).unwrap();
        assert_eq!(content(&worktree, "n"), "1", "{what}");
        assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 2, "{what}");
    }
}

#[test]
fn a_lost_cache_folder_that_was_a_link_is_made_anew() {
    let (fixture, commits) = Fixture::line(1);
    let real = fixture.beside("disk");
    fs::create_dir(&real).unwrap();
    let link = fixture.beside("slots");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    slot(&fixture, &commits[0]);
    let known = || fixture.git(&["worktree", "list", "--porcelain"]);
    // The slot is made again at the link's target after its folder was deleted.
    fs::remove_dir_all(real.join("0")).unwrap();
    slot(&fixture, &commits[0]);
    assert_eq!(known().matches("worktree ").count(), 2);
    // Git may know the slot by a path that is a link now.
    fs::remove_file(&link).unwrap();
    fs::rename(&real, &link).unwrap();
    let entry = fixture.user().join(".git/worktrees/src/gitdir");
    write(&entry, &format!("{}\n", link.join("0/src/.git").display()));
    fs::rename(&link, &real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    fs::remove_dir_all(real.join("0")).unwrap();
    slot(&fixture, &commits[0]);
    assert_eq!(known().matches("worktree ").count(), 2);
}

#[test]
fn an_entry_that_a_person_locked_or_named_is_kept() {
    let (fixture, commits) = Fixture::line(1);
    let path = fixture.beside("slots/0/src");
    for (name, lock) in [("theirs", false), ("src", true)] {
        fixture.git(&["worktree", "add", "--quiet", "--detach", path.to_str().unwrap()]);
        let entries = fixture.user().join(".git/worktrees");
        if lock {
            write(&entries.join("src/locked"), "on a stick");
        } else {
            fs::rename(entries.join("src"), entries.join(name)).unwrap();
        }
        fs::remove_dir_all(&path).unwrap();
        assert!(Worktree::add_detached(&fixture.repository(), &path, &commits[0]).is_err());
        assert!(entries.join(name).exists(), "{name}");
        fs::remove_dir_all(entries.join(name)).unwrap();
    }
}

#[test]
fn a_damaged_index_is_made_anew() {
    let (fixture, commits) = Fixture::line(2);
    let mut worktree = slot(&fixture, &commits[0]);
    worktree.checkout(&commits[0], true).unwrap();
    for name in ["index", "index-of-bisect-ppl"] {
        write(&worktree.git_dir().join(name), "");
        worktree.checkout(&commits[1], true).unwrap();
        write(&worktree.git_dir().join(name), "not an index at all, but long enough for one");
        worktree.checkout(&commits[0], true).unwrap();
        assert_eq!(content(&worktree, "n"), "1");
        assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "");
    }
}

#[test]
fn what_we_did_not_make_is_not_touched() {
    let (fixture, commits) = Fixture::line(1);
    let repository = fixture.repository();
    let add = |path: &Path| Worktree::add_detached(&repository, path, &commits[0]);
    let theirs = fixture.beside("theirs");
    write(&theirs.join("thesis"), "years of work");
    assert!(matches!(add(&theirs), Err(GitError::NotOurs(path)) if path == theirs));
    assert_eq!(listing(&theirs), ["thesis"]);
    // The user's own worktree of the same repository.
    let linked = fixture.beside("linked");
    fixture.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let error = add(&linked).unwrap_err();
    assert!(matches!(error, GitError::NotOurs(_)));
    assert!(error.hint().unwrap().contains("[worktree]"));
    assert!(!fixture.beside("linked.bisect-ppl").exists());
}

/// The build deletes `.git` in a cache folder inside the user's dotfiles repository. Git without
/// an explicit repository would reset and clean *that* repository.
#[test]
fn a_lost_git_file_never_leads_to_a_repository_further_up() {
    let (fixture, commits) = Fixture::line(2);
    let outer = fixture.beside("slots");
    write(&outer.join("dotfile"), "precious");
    git_in(&outer, &["init", "--quiet"]);
    git_in(&outer, &["add", "dotfile"]);
    git_in(&outer, &["commit", "--quiet", "-m", "dotfiles"]);
    write(&outer.join("dotfile"), "edited");
    write(&outer.join("untracked"), "precious too");
    let head = git_in(&outer, &["rev-parse", "HEAD"]);

    let mut worktree = slot(&fixture, &commits[0]);
    for commit in [&commits[0], &commits[1]] {
        worktree.checkout(commit, true).unwrap();
        fs::remove_file(worktree.path().join(".git")).unwrap();
        worktree.reset().unwrap();
        fs::remove_file(worktree.path().join(".git")).unwrap();
        git_in(worktree.path(), &["init", "--quiet"]);
    }
    worktree.checkout(&commits[1], true).unwrap();
    assert_eq!(git_in(worktree.path(), &["rev-parse", "HEAD"]), commits[1].as_str());
    assert_eq!(git_in(&outer, &["rev-parse", "HEAD"]), head);
    assert_eq!(fs::read_to_string(outer.join("dotfile")).unwrap(), "edited");
    assert!(outer.join("untracked").exists());
}

#[test]
fn attributes_and_line_ends_are_gits_own() {
    let fixture = Fixture::new();
    let files = [(".gitattributes", "*.bat eol=crlf\n"), ("a.bat", "x\n"), ("a.sh", "x\n")];
    let commit = fixture.commit("first", &files);
    let mut worktree = slot(&fixture, &commit);
    worktree.checkout(&commit, true).unwrap();
    assert_eq!(
        (content(&worktree, "a.bat"), content(&worktree, "a.sh")),
        ("x\r\n".into(), "x\n".into())
    );
}

#[test]
fn new_attributes_reach_unchanged_files() {
    let fixture = Fixture::new();
    let unix = fixture.commit("first", &[("sub/a.txt", "x\n"), ("b.c", "x\n")]);
    let dos = fixture.commit("second", &[("sub/.gitattributes", "*.txt eol=crlf\n")]);
    let mut worktree = slot(&fixture, &unix);
    for _ in 0..2 {
        worktree.checkout(&unix, true).unwrap();
        assert_eq!(content(&worktree, "sub/a.txt"), "x\n");
        worktree.checkout(&dos, true).unwrap();
        assert_eq!(content(&worktree, "sub/a.txt"), "x\r\n");
        assert_eq!(content(&worktree, "b.c"), "x\n");
    }
}

/// A Git LFS pointer, as a commit holds it.
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";

#[test]
fn what_git_lfs_keeps_is_fetched_only_where_that_is_asked_for() {
    let fixture = Fixture::new();
    let attributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n";
    let files = [(".gitattributes", attributes), ("model.bin", POINTER)];
    let commit = fixture.commit("first", &files);
    // A filter with a visible effect.
    for (key, value) in [("smudge", "tr a-z A-Z"), ("required", "true")] {
        fixture.git(&["config", &format!("filter.lfs.{key}"), value]);
    }
    let mut worktree = slot(&fixture, &commit);
    worktree.checkout(&commit, true).unwrap();
    assert_eq!(content(&worktree, "model.bin"), POINTER);
    let checkout_spec = CheckoutSpec { commit, laid: None, submodules: true, lfs: true };
    worktree.check_out(checkout_spec).unwrap();
    assert_eq!(content(&worktree, "model.bin"), POINTER.to_uppercase());
}

#[test]
fn sparse_patterns_are_taken_over() {
    let fixture = Fixture::new();
    let commit = fixture.commit("first", &[("top", ""), ("src/a", ""), ("assets/huge", "")]);
    fixture.git(&["sparse-checkout", "set", "--cone", "src"]);
    let before = fixture.snapshot();
    let mut worktree = slot(&fixture, &commit);
    worktree.checkout(&commit, true).unwrap();
    assert_eq!(listing(worktree.path()), ["src/a", "top"]);
    assert_eq!(fixture.snapshot(), before);
}

/// This build sets sparse patterns in its own checkout.
#[test]
fn sparse_patterns_of_a_build_end_with_it() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("top", ""), ("src/a", "1"), ("assets/huge", "1")]);
    let second = fixture.commit("second", &[("src/a", "2"), ("assets/huge", "2"), ("new/b", "")]);
    let mut worktree = slot(&fixture, &first);
    worktree.checkout(&first, true).unwrap();
    let narrow = ["sparse-checkout", "set", "--cone", "src"];
    git_in(worktree.path(), &narrow);
    assert_eq!(listing(worktree.path()), ["src/a", "top"]);
    worktree.reset().unwrap();
    assert_eq!(listing(worktree.path()), ["assets/huge", "src/a", "top"]);
    git_in(worktree.path(), &narrow);
    worktree.checkout(&second, true).unwrap();
    assert_eq!(listing(worktree.path()), ["assets/huge", "new/b", "src/a", "top"]);
    assert_eq!(content(&worktree, "assets/huge"), "2");
}

#[test]
fn a_bare_repository_has_worktrees_too() {
    let (fixture, commits) = Fixture::line(2);
    let bare = fixture.beside("bare.git");
    fixture.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let repository = Repository::discover(&bare).unwrap();
    let path = fixture.beside("slot");
    let mut worktree = Worktree::add_detached(&repository, &path, &commits[0]).unwrap();
    worktree.checkout(&commits[0], true).unwrap();
    assert_eq!(content(&worktree, "n"), "1");
    worktree.remove().unwrap();
}

#[test]
fn a_commit_that_is_not_there_is_an_error_with_gits_words() {
    let (fixture, commits) = Fixture::line(1);
    let mut worktree = slot(&fixture, &commits[0]);
    let absent = "0123456789012345678901234567890123456789".parse().unwrap();
    let error = worktree.checkout(&absent, true).unwrap_err().to_string();
    assert!(error.contains("git update-ref --no-deref HEAD 0123456789"), "{error}");
    assert!(error.contains("exit code 128") && error.contains("fatal:"), "{error}");
}

impl Worktree {
    /// Git's folder for this worktree's own state (HEAD, index, bisect state).
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// As [`Self::check_out`], for a commit's own tree.
    pub(crate) fn checkout(&mut self, commit: &CommitId, submodules: bool) -> Result<(), GitError> {
        self.check_out(CheckoutSpec { commit: commit.clone(), laid: None, submodules, lfs: false })
    }
}

#[test]
fn a_worktree_that_was_moved_with_its_slot_is_known_at_its_new_place() {
    let (fixture, commits) = Fixture::line(2);
    slot(&fixture, &commits[0]).checkout(&commits[0], true).unwrap();
    let folder = |name: &str| fixture.beside(&format!("slots/{name}"));
    let known = |name: &str| {
        let list = fixture.git(&["worktree", "list", "--porcelain"]);
        list.contains(&format!("{}\n", folder(name).join("src").display()))
    };
    for [from, to] in [["0", "0.1"], ["0.1", "0"]] {
        fs::rename(folder(from), folder(to)).unwrap();
        assert!(known(from) && !known(to));
        mend_moved(&folder(to).join("src")).unwrap();
        assert!(known(to) && !known(from));
        fixture.git(&["worktree", "prune", "--expire=now"]);
    }
    let mut worktree = slot(&fixture, &commits[0]);
    worktree.checkout(&commits[1], true).unwrap();
    assert_eq!(content(&worktree, "n"), "2");
    assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_link_that_a_build_replaced_moves_no_other_worktree() {
    let (fixture, commits) = Fixture::line(1);
    slot(&fixture, &commits[0]);
    let theirs = fixture.beside("theirs");
    fixture.git(&["worktree", "add", "--quiet", "--detach", theirs.to_str().unwrap()]);
    let before = fixture.git(&["worktree", "list"]);
    let link = fixture.beside("slots/0/src/.git");
    fs::copy(theirs.join(".git"), &link).unwrap();
    mend_moved(&fixture.beside("slots/0/src")).unwrap();
    assert_eq!(fixture.git(&["worktree", "list"]), before);
}

#[test]
fn a_worktree_that_was_put_away_is_not_listed_and_keeps_its_files() {
    let (fixture, commits) = Fixture::line(2);
    let repository = fixture.repository();
    let listed = || fixture.git(&["worktree", "list"]).lines().count();
    let folder = |name: &str| fixture.beside(&format!("slots/{name}"));
    let src = |name: &str| folder(name).join("src");
    let mut worktree = slot(&fixture, &commits[0]);
    worktree.checkout(&commits[0], true).unwrap();
    write(&worktree.path().join("build.o"), "compiled");
    assert!(!Worktree::is_put_away(&repository, &src("0")));
    worktree.put_away().unwrap();
    assert!(Worktree::is_put_away(&repository, &src("0")) && listed() == 1);
    // Another worktree takes its place and its name, and the first one is parked meanwhile.
    fs::rename(folder("0"), folder("0.1")).unwrap();
    mend_moved(&src("0.1")).unwrap();
    slot(&fixture, &commits[1]).checkout(&commits[1], true).unwrap();
    repository.forget_lost_slots(&fixture.beside("slots")).unwrap();
    assert!(Worktree::is_put_away(&repository, &src("0.1")), "its files are still there");
    assert!(Worktree::bring_back(&repository, &src("0.1")).unwrap() && listed() == 3);
    assert_eq!(git_in(&src("0.1"), &["rev-parse", "HEAD"]), commits[0].as_str());
    assert_eq!(git_in(&src("0.1"), &["status", "--porcelain"]), "?? build.o");
    let worktree = Worktree::existing(&repository, &src("0.1")).unwrap().unwrap();
    assert_eq!(content(&worktree, "build.o"), "compiled");
    // Its folder vanishes while it is put away.
    worktree.put_away().unwrap();
    fs::remove_dir_all(folder("0.1")).unwrap();
    repository.forget_lost_slots(&fixture.beside("slots")).unwrap();
    let away = fixture.user().join(".git/bisect-ppl/worktrees");
    assert_eq!(fs::read_dir(away).unwrap().count(), 0);
    assert_eq!(listed(), 2);
}

/// A build keeps tables in the checkout's own git folder.
#[test]
fn a_checkout_removes_what_git_does_not_know() {
    let (fixture, commits) = Fixture::line(2);
    let mut worktree = slot(&fixture, &commits[0]);
    worktree.checkout(&commits[1], true).unwrap();
    worktree.checkout(&commits[0], true).unwrap();
    git_in(worktree.path(), &["update-ref", "refs/worktree/own", "HEAD"]);
    let git_dir = worktree.git_dir().to_owned();
    let known = listing(&git_dir);
    for name in ["tuned/deep/1", "table", "info/table", "index-of-mine"] {
        write(&git_dir.join(name), "7.5");
    }
    worktree.reset().unwrap();
    assert!(git_dir.join("tuned/deep/1").exists(), "the commit's own runs may read it");
    worktree.checkout(&commits[1], true).unwrap();
    assert_eq!(listing(&git_dir), known);
    assert_eq!(git_in(worktree.path(), &["rev-parse", "HEAD"]), commits[1].as_str());
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "");
}
