use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::git::raw_path::os;
use crate::git::tests::Fixture;

#[test]
fn changes_are_counted_file_by_file() {
    let fixture = Fixture::new();
    let first = fixture.commit("first", &[("a b", "1\n2\n3\n"), ("gone", "x\n"), ("kind", "k")]);
    fs::write(fixture.user().join("bin"), b"\0\x01").unwrap();
    fs::write(fixture.user().join(os(b"caf\xe9\t\n")), "new\n").unwrap();
    fs::remove_file(fixture.user().join("gone")).unwrap();
    fs::remove_file(fixture.user().join("kind")).unwrap();
    symlink("a b", fixture.user().join("kind")).unwrap();
    let second = fixture.commit("second", &[("a b", "1\nB\n3\n4\n")]);

    let changes = fixture.history().diff_files(Some(&first), &second).unwrap();
    let brief: Vec<_> =
        changes.iter().map(|c| (c.path.as_slice(), c.added, c.removed, c.status)).collect();
    let expected: [(&[u8], _, _, _); 5] = [
        (b"a b", Some(2), Some(1), ChangeStatus::Modified),
        (b"bin", None, None, ChangeStatus::Added),
        (b"caf\xe9\t\n", Some(1), Some(0), ChangeStatus::Added),
        (b"gone", Some(0), Some(1), ChangeStatus::Deleted),
        (b"kind", Some(1), Some(1), ChangeStatus::TypeChanged),
    ];
    assert_eq!(brief, expected);
    assert_eq!(changes[2].shown_path(), "caf\u{fffd}\t\n");
}

#[test]
fn a_root_commit_adds_everything_and_an_empty_one_nothing() {
    let fixture = Fixture::new();
    let root = fixture.commit("root", &[("a", "1\n"), ("d/b", "1\n2\n")]);
    let empty = fixture.commit("empty", &[]);
    let history = fixture.history();
    let changes = history.diff_files(None, &root).unwrap();
    assert_eq!(changes.iter().map(|c| c.added).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert_eq!(history.diff_files(Some(&root), &empty).unwrap(), []);
}

#[test]
fn paths_and_contents_are_asked_of_any_commit() {
    let fixture = Fixture::new();
    let before =
        fixture.commit("before", &[("tools/perplexity/main.c", "int main"), ("*", "star")]);
    fs::remove_dir_all(fixture.user().join("tools")).unwrap();
    let after = fixture.commit("after", &[(".gitmodules", "")]);
    let history = fixture.history();
    for path in ["tools", "tools/", "./tools/perplexity", "tools/perplexity/main.c", "*"] {
        assert!(history.path_exists(&before, path).unwrap(), "{path}");
    }
    for path in ["tool", "tools/perplexity/main", "tools/*", "n/a"] {
        assert!(!history.path_exists(&before, path).unwrap(), "{path}");
    }
    assert!(!history.path_exists(&after, "tools").unwrap());
    assert!(history.file_contains(&before, "tools/perplexity/main.c", "main").unwrap());
    assert!(!history.file_contains(&before, "tools/perplexity/main.c", "Main").unwrap());
    assert!(!history.file_contains(&before, "tools", "main").unwrap());
    assert!(!history.file_contains(&after, "absent", "").unwrap());
    assert_eq!(history.file(&before, "*").unwrap().as_deref(), Some(b"star".as_slice()));
    assert!(
        !history.path_exists(&before, ".gitmodules").unwrap()
            && history.path_exists(&after, ".gitmodules").unwrap()
    );
}
