use std::fs;

use super::*;
use crate::evaluation::CommitId;
use crate::git::tests::{Fixture, git_in, listing, write};
use crate::git::{Repository, Worktree};

/// A library with two versions, in its own repository.
fn library(fixture: &Fixture, name: &str) -> PathBuf {
    let path = fixture.beside(name);
    fs::create_dir(&path).unwrap();
    git_in(&path, &["init", "--quiet"]);
    advance(&path, "1");
    path
}

fn advance(library: &Path, version: &str) {
    write(&library.join("version"), version);
    git_in(library, &["add", "--all"]);
    git_in(library, &["commit", "--quiet", "-m", version]);
}

fn add(fixture: &Fixture, url: &Path, path: &str) {
    fixture.git(&["submodule", "--quiet", "add", url.to_str().unwrap(), path]);
}

/// Updates the library in the user's checkout to its newest version and commits that.
fn bump(fixture: &Fixture, path: &str) -> CommitId {
    git_in(&fixture.user().join(path), &["pull", "--quiet", "--ff-only"]);
    fixture.commit("bump", &[])
}

struct History {
    fixture: Fixture,
    library: PathBuf,
    /// Commits without the library, with version 1, with version 2, and without it again.
    commits: [CommitId; 4],
}

fn history() -> History {
    let fixture = Fixture::new();
    let library = library(&fixture, "library");
    let before = fixture.commit("before", &[("a", "1")]);
    add(&fixture, &library, "third party/lib");
    let one = fixture.commit("one", &[]);
    advance(&library, "2");
    let two = bump(&fixture, "third party/lib");
    fixture.git(&["rm", "--quiet", "-f", "third party/lib"]);
    fs::remove_file(fixture.user().join(".gitmodules")).unwrap();
    let after = fixture.commit("after", &[("b", "1")]);
    History { fixture, library, commits: [before, one, two, after] }
}

fn slot(repository: &Repository, fixture: &Fixture, commit: &CommitId) -> Worktree {
    Worktree::add_detached(repository, &fixture.beside("slot"), commit).unwrap()
}

fn version(worktree: &Worktree) -> String {
    fs::read_to_string(worktree.path().join("third party/lib/version")).unwrap()
}

#[test]
fn each_commit_has_its_submodules_at_its_own_pin() {
    let History { fixture, commits: [before, one, two, after], .. } = history();
    let user = (fixture.snapshot(), fixture.snapshot_with_worktrees());
    let mut worktree = slot(&fixture.repository(), &fixture, &one);
    for _ in 0..2 {
        worktree.checkout(&before, true).unwrap();
        assert_eq!(listing(worktree.path()), ["a"]);
        worktree.checkout(&one, true).unwrap();
        assert_eq!(version(&worktree), "1");
        // Files that a build may leave.
        write(&worktree.path().join("third party/lib/version"), "generated");
        write(&worktree.path().join("third party/lib/new.o"), "built");
        worktree.reset().unwrap();
        assert_eq!(version(&worktree), "1");
        assert!(worktree.path().join("third party/lib/new.o").exists());
        worktree.checkout(&two, true).unwrap();
        assert_eq!(listing(worktree.path()), [".gitmodules", "a", "third party/lib/version"]);
        assert_eq!(version(&worktree), "2");
        assert_eq!(git_in(worktree.path(), &["status", "--porcelain", "--ignored"]), "");
        worktree.checkout(&after, true).unwrap();
        assert_eq!(listing(worktree.path()), ["a", "b"]);
    }
    assert_eq!(fixture.snapshot(), user.0);
    worktree.checkout(&two, true).unwrap();
    worktree.remove().unwrap();
    assert_eq!(fixture.snapshot_with_worktrees(), user.1);
}

#[test]
fn without_submodules_their_folders_stay_empty() {
    let History { fixture, commits: [_, one, ..], .. } = history();
    let mut worktree = slot(&fixture.repository(), &fixture, &one);
    worktree.checkout(&one, false).unwrap();
    assert_eq!(listing(worktree.path()), [".gitmodules", "a"]);
}

#[test]
fn what_the_users_checkout_has_needs_no_network() {
    let History { fixture, library, commits: [_, one, two, _] } = history();
    fs::rename(&library, fixture.beside("gone")).unwrap();
    let mut worktree = slot(&fixture.repository(), &fixture, &one);
    worktree.checkout(&two, true).unwrap();
    assert_eq!(version(&worktree), "2");
    worktree.checkout(&one, true).unwrap();
    assert_eq!(version(&worktree), "1");
    let module = worktree.git_dir().join("modules/third party/lib");
    let remote = git_in(&module, &["config", "remote.origin.url"]);
    assert_eq!(Path::new(&remote), library, "later versions come from the remote itself");
}

#[test]
fn what_the_users_checkout_lacks_is_fetched_and_its_configuration_stays() {
    let History { fixture, library, commits: [_, one, two, _] } = history();
    // A clone without `--recurse-submodules`.
    let plain = fixture.beside("plain");
    git_in(&fixture.beside(""), &["clone", "--quiet", "user repo", "plain"]);
    let config = fs::read(plain.join(".git/config")).unwrap();
    let repository = Repository::discover(&plain).unwrap();
    let mut worktree = slot(&repository, &fixture, &one);
    worktree.checkout(&one, true).unwrap();
    assert_eq!(version(&worktree), "1");
    worktree.checkout(&two, true).unwrap();
    assert_eq!(version(&worktree), "2");
    // A killed process leaves half a clone.
    let module = worktree.git_dir().join("modules/third party/lib");
    fs::remove_dir_all(module.join("objects")).unwrap();
    fs::remove_file(module.join("HEAD")).unwrap();
    worktree.checkout(&one, true).unwrap();
    assert_eq!(version(&worktree), "1");
    assert_eq!(fs::read(plain.join(".git/config")).unwrap(), config);
    // The remote is gone.
    fs::remove_dir_all(&module).unwrap();
    fs::remove_dir_all(&library).unwrap();
    let error = worktree.checkout(&two, true).unwrap_err();
    assert!(matches!(&error, GitError::Submodule { path, .. } if path == "third party/lib"));
    assert!(error.hint().unwrap().contains("submodules = false"));
}

#[test]
fn submodules_of_submodules_are_at_their_pins() {
    let fixture = Fixture::new();
    let inner = library(&fixture, "inner");
    let outer = library(&fixture, "outer");
    git_in(&outer, &["submodule", "--quiet", "add", "../inner", "in"]);
    advance(&outer, "2");
    add(&fixture, &outer, "out");
    fixture.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    let first = fixture.commit("first", &[]);
    advance(&inner, "9");
    git_in(&outer.join("in"), &["pull", "--quiet", "--ff-only", inner.to_str().unwrap()]);
    advance(&outer, "3");
    let second = bump(&fixture, "out");
    let mut worktree = slot(&fixture.repository(), &fixture, &first);
    let inner_version = |w: &Worktree| fs::read_to_string(w.path().join("out/in/version")).unwrap();
    for (commit, version) in [(&first, "1"), (&second, "9"), (&first, "1")] {
        worktree.checkout(commit, true).unwrap();
        assert_eq!(inner_version(&worktree), version);
        write(&worktree.path().join("out/in/version"), "overwritten");
        worktree.reset().unwrap();
        assert_eq!(inner_version(&worktree), version);
    }
}

#[test]
fn a_file_of_a_submodule_that_a_build_wrote_is_seen_and_all_files_can_be_written_anew() {
    let History { fixture, library, commits: [_, one, two, _] } = history();
    let mut worktree = slot(&fixture.repository(), &fixture, &one);
    worktree.checkout(&one, true).unwrap();
    let file = worktree.path().join("third party/lib/version");
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!worktree.reset().unwrap());
    write(&file, "1");
    assert!(worktree.reset().unwrap(), "the same content, written again");
    write(&file, "overwritten");
    let found = worktree.reset_and_compare().unwrap();
    assert_eq!(found.changed, [Path::new("third party/lib/version")]);
    write(&file, "overwritten");
    worktree.reset_unseen().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "1");
    // Nothing is fetched again.
    fs::rename(&library, fixture.beside("gone")).unwrap();
    for (commit, content) in [(&one, "1"), (&two, "2")] {
        worktree.remove_files().unwrap();
        assert!(!file.exists());
        worktree.checkout(commit, true).unwrap();
        assert_eq!(version(&worktree), content);
    }
}

#[test]
fn a_submodule_whose_remote_moved_is_cloned_anew() {
    let fixture = Fixture::new();
    let old = library(&fixture, "old home");
    add(&fixture, &old, "lib");
    let first = fixture.commit("first", &[]);
    git_in(&fixture.beside(""), &["clone", "--quiet", "old home", "fork"]);
    let fork = fixture.beside("fork");
    advance(&fork, "forked");
    fixture.git(&["submodule", "--quiet", "set-url", "lib", fork.to_str().unwrap()]);
    let second = bump(&fixture, "lib");
    // Another user's clone has no local copy of the submodule.
    git_in(&fixture.beside(""), &["clone", "--quiet", "user repo", "plain"]);
    let repository = Repository::discover(&fixture.beside("plain")).unwrap();
    let mut worktree = slot(&repository, &fixture, &first);
    for (commit, version) in [(&first, "1"), (&second, "forked"), (&first, "1")] {
        worktree.checkout(commit, true).unwrap();
        assert_eq!(fs::read_to_string(worktree.path().join("lib/version")).unwrap(), version);
    }
}

#[test]
fn names_that_lead_out_of_the_git_folder_are_refused() {
    for name in ["", "..", "../x", "a/../../x", "/x", "./x"] {
        assert!(!is_plain(Path::new(name)), "{name}");
    }
    assert!(is_plain(Path::new("third party/lib")));
}

#[test]
fn a_submodule_that_git_is_told_to_ignore_is_in_every_change() {
    let fixture = Fixture::new();
    let library = library(&fixture, "library");
    let pin = || git_in(&library, &["rev-parse", "HEAD"]);
    let one = pin();
    add(&fixture, &library, "lib");
    fixture.git(&["config", "--file", ".gitmodules", "submodule.lib.ignore", "all"]);
    let start = fixture.commit("start", &[("a", "1")]);
    advance(&library, "2");
    let move_to = |pin: &str| {
        let entry = format!("160000,{pin},lib");
        fixture.git(&["update-index", "--cacheinfo", &entry]);
        fixture.git(&["commit", "--quiet", "--allow-empty", "-m", "move"]);
        fixture.head()
    };
    let moved = move_to(&pin());
    let back = move_to(&one);
    let history = fixture.history();
    let patch = String::from_utf8(history.as_patch(&moved).unwrap()).unwrap();
    assert!(patch.contains(&format!("+Subproject commit {}", pin())), "{patch}");
    assert_eq!(history.reverted_later(&start, &back).unwrap(), [moved]);
}
