use super::*;
use crate::git::tests::Fixture;

/// Forty lines, some of them replaced.
fn text(changes: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let own = changes.iter().find(|(place, _)| *place == number);
        own.map_or_else(|| format!("line {number}\n"), |(_, text)| (*text).to_owned())
    };
    (0..40).map(line).collect()
}

fn only(fixture: &Fixture, [old, new]: [&CommitId; 2]) -> (ChangedFile, Option<Split>) {
    let history = fixture.history();
    let [file] = history.changed_files(old, new).unwrap().try_into().unwrap();
    let split = history.split(&file).unwrap();
    (file, split)
}

#[test]
fn hunks_are_chosen_one_by_one_whatever_the_lines_look_like() {
    let fixture = Fixture::new();
    let before = text(&[]);
    // A removed line, lines that look like headers, and an end without a line end.
    let changes = [(2, ""), (12, "@@ -1 +1 @@\n--- a/x\nline 12\n"), (39, "last\r")];
    let after = text(&changes);
    let old = fixture.commit("before", &[("k.c", &before)]);
    let new = fixture.commit("after", &[("k.c", &after)]);
    let (file, split) = only(&fixture, [&old, &new]);
    let split = split.unwrap();
    assert_eq!(file.shown_path(), "k.c");
    assert_eq!(split.hunks.len(), 3);
    assert_eq!(split.with(|_| true), after.as_bytes());
    assert_eq!(split.with(|_| false), before.as_bytes());
    for chosen in 0..3 {
        let made = split.with(|hunk| hunk == chosen);
        let wanted = text(&changes[chosen..=chosen]);
        assert_eq!(String::from_utf8(made).unwrap(), wanted, "{chosen}");
    }
}

#[test]
fn a_hunk_that_only_adds_at_the_top_or_empties_the_file() {
    let fixture = Fixture::new();
    let old = fixture.commit("before", &[("k.c", "")]);
    let new = fixture.commit("after", &[("k.c", "a\nb\n")]);
    for ends in [[&old, &new], [&new, &old]] {
        let split = only(&fixture, ends).1.unwrap();
        assert_eq!(split.hunks.len(), 1);
        assert_eq!(split.with(|_| false), split.old);
    }
}

#[test]
fn a_renamed_file_is_one_change_and_has_hunks() {
    let fixture = Fixture::new();
    let old = fixture.commit("before", &[("old name.c", &text(&[]))]);
    std::fs::remove_file(fixture.user().join("old name.c")).unwrap();
    let new = fixture.commit("after", &[("dir/new.c", &text(&[(7, "seven\n")]))]);
    let (file, split) = only(&fixture, [&old, &new]);
    assert_eq!(file.renamed_from().as_deref(), Some("old name.c"));
    assert_eq!((file.shown_path().as_str(), split.unwrap().hunks.len()), ("dir/new.c", 1));
}

#[test]
fn what_has_no_lines_is_not_split() {
    let fixture = Fixture::new();
    let old = fixture.commit("before", &[("bin", "a\0b\n"), ("gone", "x\n")]);
    std::fs::remove_file(fixture.user().join("gone")).unwrap();
    std::os::unix::fs::symlink("bin", fixture.user().join("link")).unwrap();
    let new = fixture.commit("after", &[("bin", "a\0c\n"), ("new", "y\n")]);
    let history = fixture.history();
    let files = history.changed_files(&old, &new).unwrap();
    let mut seen = Vec::new();
    for file in &files {
        assert_eq!(history.split(file).unwrap(), None, "{}", file.shown_path());
        let is_gone = file.new.is_none();
        assert_eq!(file.whole_change(), is_gone.then_some(WholeChange::Removal));
        seen.push((file.shown_path(), file.old.is_some(), file.new.is_some()));
    }
    let expected = [("bin", true, true), ("gone", true, false), ("link", false, true)];
    let expected = expected.map(|(path, old, new)| (path.to_owned(), old, new));
    assert_eq!(&seen[..3], &expected);
    assert_eq!(seen[3], ("new".to_owned(), false, true));
}

#[test]
fn a_new_mode_and_a_submodule_are_told_from_a_new_text() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::new();
    let old = fixture.commit("before", &[("run.sh", "x\n"), ("a.c", "x\n")]);
    let script = fixture.user().join("run.sh");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let entry = format!("160000,{old},lib");
    fixture.git(&["update-index", "--add", "--cacheinfo", &entry]);
    std::fs::create_dir(fixture.user().join("lib")).unwrap();
    let new = fixture.commit("after", &[("a.c", "y\n")]);
    let files = fixture.history().changed_files(&old, &new).unwrap();
    let seen: Vec<_> = files.iter().map(|file| (file.shown_path(), file.whole_change())).collect();
    let expected =
        [("a.c", None), ("lib", Some(WholeChange::Submodule)), ("run.sh", Some(WholeChange::Mode))];
    assert_eq!(seen, expected.map(|(path, whole)| (path.to_owned(), whole)));
}
