use std::fs;

use crate::git::tests::{Fixture, listing, write};
use crate::git::{GitError, Worktree};

#[test]
fn ignored_things_are_linked_and_survive_every_checkout() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[(".gitignore", ".venv\nthird/\n"), ("a", "1")]);
    let tracked = fixture.commit("tracked", &[(".gitignore", ""), (".venv/own", "x")]);
    let user = fixture.user();
    write(&user.join(".venv/bin/python"), "#!");
    write(&user.join("third/party/weights"), "w");
    let path = fixture.beside("slot");
    let mut worktree = Worktree::add_detached(&fixture.repository(), &path, &first).unwrap();
    let names = [".venv".to_owned(), "third/party/".to_owned()];

    for _ in 0..2 {
        worktree.checkout(&first, true).unwrap();
        assert_eq!(worktree.link(&user, &names).unwrap(), names);
        assert_eq!(worktree.link(&user, &names).unwrap(), names, "a second call changes nothing");
        assert_eq!(fs::read_link(path.join(".venv")).unwrap(), user.join(".venv"));
        worktree.reset().unwrap();
        assert!(path.join("third/party/weights").exists());
    }
    // A commit that tracks the path gets its own file, and the link's target stays.
    worktree.checkout(&tracked, true).unwrap();
    assert_eq!(worktree.link(&user, &names).unwrap(), names[1..]);
    assert_eq!(listing(&path), [".gitignore", ".venv/own", "a", "third/party"]);
    worktree.remove().unwrap();
    assert!(user.join(".venv/bin/python").exists() && user.join("third/party/weights").exists());
}

#[test]
fn only_what_is_there_and_inside_can_be_linked() {
    let fixture = Fixture::new();
    let commit = fixture.commit("first", &[("a", "1"), ("out/keep", "")]);
    std::os::unix::fs::symlink("/", fixture.user().join("way")).unwrap();
    let with_way = fixture.commit("a link to the root folder", &[]);
    let user = fixture.user();
    let path = fixture.beside("slot");
    let mut worktree = Worktree::add_detached(&fixture.repository(), &path, &commit).unwrap();
    worktree.checkout(&with_way, true).unwrap();
    let link = |name: &str| worktree.link(&user, &[name.to_owned()]);
    for name in ["", "/", "..", "../x", "/etc", "a/../b", ".git", ".git/hooks"] {
        assert!(matches!(link(name), Err(GitError::LinkName(n)) if n == name), "{name}");
    }
    let error = link("absent").unwrap_err();
    assert!(matches!(error, GitError::LinkSourceMissing { .. }));
    assert!(error.hint().unwrap().contains("oracle.toml"));
    assert!(matches!(link("way/tmp"), Err(GitError::LinkBlocked(_))));
    write(&path.join("cache/x"), "in the way");
    write(&user.join("cache/x"), "theirs");
    assert!(matches!(link("cache"), Err(GitError::LinkBlocked(_))));
}
