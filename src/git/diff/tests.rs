use super::*;
use crate::git::tests::Fixture;

fn brief(file: &FileDiff) -> (&str, Option<&str>, usize, usize) {
    (&file.path, file.renamed_from.as_deref(), file.added, file.removed)
}

#[test]
fn a_change_comes_as_a_diff_of_each_file() {
    let fixture = Fixture::new();
    let lines: Vec<String> = (0..40).map(|n| format!("line {n}")).collect();
    let long = lines.join("\n") + "\n";
    let before = fixture.commit(
        "before",
        &[("old.c", &long), ("k \"1\".cu", "-- a\n@@ -1 +1 @@\n"), ("gone", "x\n")],
    );
    std::fs::rename(fixture.user().join("old.c"), fixture.user().join("new.c")).unwrap();
    std::fs::remove_file(fixture.user().join("gone")).unwrap();
    let moved = long.replace("line 7\n", "line seven\n");
    let files = [("new.c", moved.as_str()), ("k \"1\".cu", "diff --git a/x b/x\n"), ("b", "\0")];
    let after = fixture.commit("after (#7)\n\nSee merge request a/b!9", &files);
    let history = fixture.history();
    let diff = |paths: &[&[u8]], most| history.diff(&before, &after, paths, most).unwrap();
    let whole = String::from_utf8(diff(&[], 1 << 20).unwrap()).unwrap();
    let found = read_diff(&whole);
    let expected = [
        ("b", None, 0, 0),
        ("gone", None, 0, 1),
        ("k \"1\".cu", None, 1, 2),
        ("new.c", Some("old.c"), 1, 1),
    ];
    assert_eq!(found.iter().map(brief).collect::<Vec<_>>(), expected);
    assert_eq!(found[0].lines, ["new file mode 100644", "Binary files /dev/null and b/b differ"]);
    assert!(found[2].lines.contains(&"+diff --git a/x b/x".to_owned()), "{:?}", found[2]);

    // A path is not a pattern, and a limit is kept.
    let one = String::from_utf8(diff(&[b"gone", b"*.c"], 1 << 20).unwrap()).unwrap();
    assert_eq!(read_diff(&one).iter().map(brief).collect::<Vec<_>>(), [expected[1]]);
    assert_eq!(diff(&[], 64), None);
    assert_eq!(history.message(&after).unwrap(), "after (#7)\n\nSee merge request a/b!9");
}

#[test]
fn a_file_without_hunks_has_its_name() {
    let diff = "diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n";
    let found = read_diff(diff);
    assert_eq!(brief(&found[0]), ("x y", None, 0, 0));
    assert_eq!(found[0].lines, ["old mode 100644", "new mode 100755"]);
    assert_eq!(read_diff("no diff\n"), []);
}

#[test]
fn the_files_that_a_merge_itself_changes_are_listed() {
    let fixture = Fixture::new();
    let base = fixture.commit("base", &[("a b.c", "1\n2\n3\n4\n5\n6\n7\n8\n"), ("other", "x\n")]);
    fixture.git(&["checkout", "--quiet", "-b", "side"]);
    fixture.commit("side", &[("a b.c", "1\n2\n3\n4\n5\n6\n7\nside\n")]);
    fixture.git(&["checkout", "--quiet", "-b", "line", base.as_str()]);
    fixture.commit("line", &[("a b.c", "line\n2\n3\n4\n5\n6\n7\n8\n")]);
    fixture.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let history = fixture.history();
    // Both sides changed the file, and the merge took their lines.
    let none: Vec<String> = Vec::new();
    assert_eq!(history.own_files_of_merge(&fixture.head()).unwrap(), Some(none));
    let mended = "line\n2\n3\n4\nmerge\n6\n7\nside\n";
    std::fs::write(fixture.user().join("a b.c"), mended).unwrap();
    fixture.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
    let own = history.own_files_of_merge(&fixture.head()).unwrap();
    assert_eq!(own, Some(vec!["a b.c".to_owned()]));
}
