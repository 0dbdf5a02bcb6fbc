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

#[test]
fn changes_along_a_line_are_those_of_each_commit() {
    let fixture = Fixture::new();
    let root = fixture.commit("root", &[("k.cu", "one\n"), ("gone.h", "x\n")]);
    let empty = fixture.commit("empty", &[]);
    fixture.git(&["checkout", "--quiet", "-b", "side", root.as_str()]);
    fixture.commit("side", &[("dir/side.cu", "s\n")]);
    fixture.git(&["checkout", "--quiet", "-b", "line", empty.as_str()]);
    fixture.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let merge = fixture.head();
    std::fs::remove_file(fixture.user().join("gone.h")).unwrap();
    let history = fixture.history();
    let trees = |old: &CommitId, new: &CommitId| {
        format!("{} {}\n", history.tree_id(old).unwrap(), history.tree_id(new).unwrap())
    };
    let like_git = trees(&empty, &merge);
    let files = [("k.cu", &*like_git), ("b", "\0"), ("dir/n \"1\".cu", "no end")];
    let odd = fixture.commit("odd", &files);

    let mut line = vec![empty.clone(), merge.clone(), odd.clone()];
    for _ in 0..MOST_TOGETHER {
        line.extend([root.clone(), odd.clone()]);
    }
    let along: Vec<_> =
        history.changed_lines_along(&root, &line).map(|one| one.unwrap().unwrap()).collect();
    let each = std::iter::once(&root).chain(&line).zip(&line);
    let each: Vec<_> =
        each.map(|(old, new)| history.changed_lines(old, new, &[]).unwrap().unwrap()).collect();
    assert_eq!(along, each);
    assert_eq!(along[..3].iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 3]);

    // One call gives them all, also a change of nothing.
    let asked = [trees(&root, &empty), trees(&empty, &merge), trees(&merge, &odd)];
    let call = history.lines_call().args(["--stdin", "--"]).input(asked.concat());
    let printed = call.ok().unwrap().stdout;
    let asked: BTreeSet<&[u8]> = asked.iter().map(String::as_bytes).collect();
    assert_eq!(diffs_of(&printed, &asked).len(), 3);
}

#[test]
fn changes_that_cannot_be_read_fail_alone() {
    for lost in [":n", "^{tree}"] {
        let (fixture, commits) = Fixture::line(4);
        let object = fixture.git(&["rev-parse", &format!("{}{lost}", commits[2])]);
        let (folder, name) = object.split_at(2);
        let objects = fixture.user().join(".git/objects");
        std::fs::remove_file(objects.join(folder).join(name)).unwrap();
        let history = fixture.history();
        let along: Vec<_> = history.changed_lines_along(&commits[0], &commits[1..]).collect();
        let changes: Vec<Option<usize>> =
            along.iter().map(|one| one.as_ref().ok()?.as_ref().map(Vec::len)).collect();
        assert_eq!(changes, [Some(1), None, None], "{lost}");
        let by_itself = history.changed_lines(&commits[1], &commits[2], &[]).unwrap_err();
        assert_eq!(along[1].as_ref().unwrap_err().to_string(), by_itself.to_string(), "{lost}");
    }
}

#[test]
fn changes_that_are_too_large_together_are_read_alone() {
    let fixture = Fixture::new();
    let long = "x".repeat(LARGEST_TOGETHER) + "\n";
    let commits =
        ["one\n", "two\n", long.as_str()].map(|text| fixture.commit("step", &[("k.cu", text)]));
    let history = fixture.history();
    let along = history.changed_lines_along(&commits[0], &commits[1..]);
    let added: Vec<usize> = along.map(|one| one.unwrap().unwrap()[0].added[0].len()).collect();
    assert_eq!(added, [3, LARGEST_TOGETHER]);
}
