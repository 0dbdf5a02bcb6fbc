use super::*;
use crate::git::tests::Fixture;

fn specs(specs: &[&str]) -> Vec<String> {
    specs.iter().map(|spec| (*spec).to_owned()).collect()
}

#[test]
fn lines_that_look_like_a_diff_are_lines() {
    let fixture = Fixture::new();
    let before = fixture.commit(
        "before",
        &[("k.cu", "one\n-- a/k.cu\n@@ -1 +1 @@\nlast"), ("gone.h", "x\n"), ("notes.md", "1\n")],
    );
    std::fs::remove_file(fixture.user().join("gone.h")).unwrap();
    let after = fixture.commit(
        "after",
        &[("k.cu", "one\n++ b/k.cu\n\nlast\n"), ("new dir/n \"1\".cu", "y\n"), ("notes.md", "2\n")],
    );
    let changed = |specs: &[String]| {
        fixture.history().changed_lines(&before, &after, specs).unwrap().unwrap()
    };
    let found = changed(&specs(&["*.cu", "*.h"]));
    let brief: Vec<_> = found
        .iter()
        .map(|file| (file.path.as_str(), file.is_new, file.is_gone, &file.removed, &file.added))
        .collect();
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        brief,
        [
            ("gone.h", false, true, &lines(&["x"]), &lines(&[])),
            (
                "k.cu",
                false,
                false,
                &lines(&["-- a/k.cu", "@@ -1 +1 @@", "last"]),
                &lines(&["++ b/k.cu", "", "last"]),
            ),
            ("new dir/n \"1\".cu", true, false, &lines(&[]), &lines(&["y"])),
        ]
    );
    assert_eq!(changed(&specs(&["*.md"]))[0].added, ["2"]);
}

#[test]
fn a_file_that_only_changes_its_mode_has_no_lines() {
    let diff = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n\
                diff --git a/b b/b\nindex 1..2 100644\nBinary files a/b and b/b differ\n\
                diff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n@@ -3 +3 @@ int f()\n-1\n\
                \\ No newline at end of file\n+2\n\\ No newline at end of file\n";
    let found = read_lines(diff);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].path.as_str(), &found[0].removed, &found[0].added),
        ("y", &vec!["1".to_owned()], &vec!["2".to_owned()])
    );
}

#[test]
fn odd_names_are_read() {
    assert_eq!(named("\"b/tab\\there\\303\\251\\\\\"", "b/").unwrap(), "tab\thereé\\");
    assert_eq!(named("b/two words\t", "b/").unwrap(), "two words");
    assert_eq!(named("/dev/null", "b/"), None);
}
