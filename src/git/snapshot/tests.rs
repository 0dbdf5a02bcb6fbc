use std::os::unix::ffi::OsStrExt;

use super::super::Repository;
use super::super::tests::{Fixture, git_in, write};
use super::*;

fn paths(files: &[(String, BlobId)]) -> Vec<&str> {
    let mut paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn a_tree_is_read_as_it_was() {
    let fixture = Fixture::new();
    let old = fixture.commit("old", &[("a/b/one", "1"), ("two", "2")]);
    std::os::unix::fs::symlink("two", fixture.user().join("link")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xff");
    write(&fixture.user().join(odd).join("inside"), "x");
    fixture.git(&["mv", "two", "a/two"]);
    let new = fixture.commit("new", &[]);
    let history = fixture.history();
    let snapshot = history.snapshot(&old).unwrap().unwrap();
    assert_eq!(paths(&snapshot.files), ["a/b/one", "two"]);
    let snapshot = history.snapshot(&new).unwrap().unwrap();
    assert_eq!(
        (paths(&snapshot.files), snapshot.links),
        (vec!["a/b/one", "a/two"], vec!["link".into()])
    );
    let two = snapshot.files.iter().find(|(path, _)| path == "a/two").unwrap().1;
    assert_eq!(history.blob(two, 1).as_deref(), Some(&b"2"[..]));
    assert_eq!(history.blob(two, 0), None, "too long");
    assert_eq!(history.at(&new, "a/two").unwrap(), EntryKind::File(two));
    assert_eq!(history.at(&old, "two").unwrap(), EntryKind::File(two), "the same content");
    for (path, wanted) in
        [("a/b", EntryKind::Other), ("two", EntryKind::Nothing), ("a/two/x", EntryKind::Nothing)]
    {
        assert_eq!(history.at(&new, path).unwrap(), wanted, "{path}");
    }
}

#[test]
fn submodules_are_named_and_not_entered() {
    let fixture = Fixture::new();
    let inner = fixture.commit("first", &[("n", "1")]);
    let entry = format!("160000,{inner},lib/part");
    fixture.git(&["update-index", "--add", "--cacheinfo", &entry]);
    fixture.git(&["commit", "--quiet", "-m", "a submodule"]);
    let snapshot = fixture.history().snapshot(&fixture.head()).unwrap().unwrap();
    assert_eq!((paths(&snapshot.files), snapshot.submodules), (vec!["n"], vec!["lib/part".into()]));
}

#[test]
fn what_a_partial_clone_left_out_is_unknown_and_not_fetched() {
    let fixture = Fixture::new();
    fixture.git(&["config", "uploadpack.allowFilter", "true"]);
    let old = fixture.commit("old", &[("a/one", "1")]);
    let new = fixture.commit("new", &[("a/one", "2")]);
    for (filter, has_trees) in [("blob:none", true), ("tree:0", false)] {
        let place = fixture.beside(&format!("partial {has_trees}"));
        let from = format!("file://{}", fixture.user().display());
        let filter = format!("--filter={filter}");
        let into = place.to_str().unwrap();
        git_in(&fixture.user(), &["clone", "--quiet", "--no-checkout", &filter, &from, into]);
        let history = History::open(&Repository::discover(&place).unwrap()).unwrap();
        let snapshot = history.snapshot(&old).unwrap();
        assert_eq!(snapshot.is_some(), has_trees);
        match history.at(&old, "a/one").unwrap() {
            EntryKind::File(one) if has_trees => assert_eq!(history.blob(one, 9), None),
            other => assert_eq!(other, EntryKind::Unknown),
        }
        assert_eq!(history.first_parents(&new).unwrap(), [new.clone(), old.clone()]);
    }
}

#[test]
fn an_old_checkout_knows_the_branch_that_is_ahead_of_it() {
    let (fixture, commits) = Fixture::line(4);
    let history = fixture.history();
    assert_eq!(history.ahead_of(&commits[3]).unwrap(), None);
    fixture.git(&["checkout", "--quiet", "--detach", commits[1].as_str()]);
    let ahead = fixture.history().ahead_of(&commits[1]).unwrap();
    assert_eq!(ahead, Some(("main".to_owned(), commits[3].clone())));
    // A commit that left the branch is not behind it.
    let own = fixture.commit("own", &[("n", "own")]);
    assert_eq!(fixture.history().ahead_of(&own).unwrap(), None);
}
