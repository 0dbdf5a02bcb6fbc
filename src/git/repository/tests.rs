use std::fs;

use super::*;
use crate::git::History;
use crate::git::tests::{Fixture, git_in};

#[test]
fn a_repository_is_found_from_below() {
    let (fixture, _) = Fixture::line(1);
    let below = fixture.user().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let found = Repository::discover(&below).unwrap();
    assert_eq!(found.top(), Some(fixture.user().as_path()));
    assert_eq!(found.common_dir(), fixture.user().join(".git"));
    assert_eq!(found.git_dir(), found.common_dir());
    assert_eq!(found, fixture.repository());
    assert_eq!(found.id().len(), 12);
}

#[test]
fn linked_worktrees_share_the_common_folder_and_the_id() {
    let (fixture, _) = Fixture::line(1);
    let linked = fixture.beside("linked");
    fixture.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let found = Repository::discover(&linked).unwrap();
    assert_eq!(found.top(), Some(linked.as_path()));
    assert_eq!(found.common_dir(), fixture.user().join(".git"));
    assert_eq!(found.git_dir(), fixture.user().join(".git/worktrees/linked"));
    assert_eq!(found.id(), fixture.repository().id());
}

#[test]
fn a_bare_repository_has_no_top() {
    let (fixture, commits) = Fixture::line(2);
    let bare = fixture.beside("bare.git");
    fixture.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let found = Repository::discover(&bare).unwrap();
    assert_eq!((found.top(), found.common_dir()), (None, bare.as_path()));
    assert_eq!(History::open(&found).unwrap().resolve("HEAD").unwrap(), commits[1]);
}

#[test]
fn outside_of_any_repository_the_error_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = Repository::discover(folder.path()).unwrap_err();
    assert!(matches!(error, GitError::NotARepository(_)), "{error}");
    assert!(error.hint().unwrap().contains("clone"));
    assert!(matches!(
        Repository::discover(&folder.path().join("absent")),
        Err(GitError::Io { doing: "find", .. })
    ));
}

#[test]
fn what_the_library_cannot_read_is_refused_by_name() {
    let fixture = Fixture::new();
    let other = fixture.beside("sha256");
    git_in(&fixture.beside(""), &["init", "--quiet", "--object-format=sha256", "sha256"]);
    let error = Repository::discover(&other).unwrap_err();
    assert!(matches!(error, GitError::Sha256(_)), "{error}");
    // Older gits cannot make a reftable repository; newer ones mark it with these settings.
    fixture.git(&["config", "core.repositoryFormatVersion", "1"]);
    fixture.git(&["config", "extensions.refStorage", "reftable"]);
    let error = Repository::discover(&fixture.user()).unwrap_err();
    assert!(matches!(error, GitError::Reftable(_)), "{error}");
    assert!(error.hint().unwrap().contains("refs migrate"));
}

#[test]
fn a_folder_that_is_gone_is_named() {
    let fixture = Fixture::new();
    let gone = fixture.beside("gone");
    let error = crate::git::command::Call::new(&gone).arg("version").line().unwrap_err();
    let hint = error.hint().unwrap();
    assert!(hint.contains(gone.to_str().unwrap()) && hint.contains("is gone"), "{hint}");
}
