use super::*;
use crate::git::tests::Fixture;

/// Writes each of `texts` into `a.c`, one commit each.
fn line_of(fixture: &Fixture, texts: &[&str]) -> Vec<CommitId> {
    let commits = (0..).zip(texts);
    commits
        .map(|(n, text)| fixture.commit("next", &[("a.c", text), ("n", &n.to_string())]))
        .collect()
}

/// Whether the last of `texts` has the change from the first one to the second one.
fn is_again(texts: &[&str]) -> bool {
    let fixture = Fixture::new();
    let commits = line_of(&fixture, texts);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&commits[0], &commits[1]).unwrap().in_file("a.c");
    let last = commits.last().unwrap();
    assert!(history.carries_mostly(last, &change), "the text alone is there");
    history.carries_at_own_place(&commits[2..], &change)
}

#[test]
fn a_short_line_that_lands_again_is_told_from_the_same_line_elsewhere() {
    let old = "9\n0\n0\n0\n0\n";
    let found = "9\n0.600\n0\n0\n0\n";
    assert!(is_again(&[old, found, old, found]));
    let elsewhere = "9\n0\n0.600\n0\n0\n";
    assert!(!is_again(&[old, found, old, elsewhere]));
    // The line before it is edited later, or by the same commit.
    let edited = "9\n0.0\n0.600\n0\n0\n";
    assert!(!is_again(&[old, found, old, elsewhere, edited]));
    assert!(!is_again(&[old, found, old, edited]));
    // Lines before it, and edits beside it, take the place along.
    assert!(is_again(&[old, found, old, "1\n2\n9\n0\n0\n0\n0\n", "1\n2\n9\n0.600\n5\n0\n0\n"]));
}

#[test]
fn an_inserted_line_that_lands_again_is_told_from_the_same_line_elsewhere() {
    let old = "begin();\none();\ntwo();\nend();\n";
    let found = "begin();\nreturn 0;\none();\ntwo();\nend();\n";
    assert!(is_again(&[old, found, old, found, "begin();\nreturn 0;\nlast();\n"]));
    assert!(!is_again(&[old, found, old, "begin();\none();\ntwo();\nreturn 0;\nend();\n"]));
}

#[test]
fn many_lines_count_at_another_place_too() {
    let added = "open(file);\nread(file);\nparse(file);\ncheck(file);\nclose(file);\n";
    let old = "begin();\none();\ntwo();\nend();\n";
    let found = format!("begin();\n{added}one();\ntwo();\nend();\n");
    let moved = format!("begin();\none();\ntwo();\n{added}end();\n");
    assert!(is_again(&[old, &found, old, &moved]));
    let few = |text: &str| text.replace("check(file);\n", "");
    assert!(!is_again(&[old, &few(&found), old, &few(&moved)]));
}

#[test]
fn a_new_order_of_lines_that_lands_again_is_seen() {
    let old = "begin();\nstep();\nnext();\nend();\n";
    let found = "begin();\nnext();\nstep();\nend();\n";
    assert!(is_again(&[old, found, old, found, "begin();\nnext();\nstep();\nlast();\n"]));
}

#[test]
fn one_change_on_two_branches_is_told_from_the_same_line_elsewhere() {
    let fixture = Fixture::new();
    let old = "0\n0\n0\n0\n0\n";
    let base = fixture.commit("first", &[("a.c", old)]);
    let found = fixture.commit("found", &[("a.c", "0\n0\n1.0\n0\n0\n")]);
    let on_branch = |text: &str| {
        fixture.git(&["checkout", "--quiet", "--detach", base.as_str()]);
        let parent = fixture.commit("side", &[("a.c", "5\n6\n0\n0\n0\n0\n0\n")]);
        [parent, fixture.commit("side", &[("a.c", text)])]
    };
    let picked = on_branch("5\n6\n0\n0\n1.0\n0\n0\n");
    let elsewhere = on_branch("5\n6\n0\n0\n0\n1.0\n0\n");
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&base, &found).unwrap();
    let told = [&picked, &elsewhere].map(|path| {
        [history.carries_mostly(&path[1], &change), history.has_same_change(path, &change)]
    });
    assert_eq!(told, [[true, true], [true, false]]);
}

#[test]
fn a_place_moves_with_the_lines_before_it() {
    let hunk = |old: Range<usize>, new: Range<usize>| Hunk { old, new };
    let at = |place: Range<usize>, hunks: &[Hunk]| moved(&place, false, hunks);
    assert_eq!(at(3..5, &[]), 3..5);
    assert_eq!(at(3..5, &[hunk(0..0, 0..2)]), 5..7);
    // Hunks beside it.
    assert_eq!(at(3..5, &[hunk(2..3, 2..4), hunk(5..6, 6..6)]), 4..6);
    assert_eq!(at(3..5, &[hunk(3..3, 3..4), hunk(5..5, 6..7)]), 4..6);
    // A hunk edits some of it, line by line or not.
    assert_eq!(at(3..5, &[hunk(2..4, 2..4)]), 3..5);
    assert_eq!(at(3..5, &[hunk(2..4, 2..7)]), 2..8);
    // It is gone, and comes back.
    assert_eq!(at(3..5, &[hunk(3..5, 3..3)]), 3..3);
    assert_eq!(at(3..3, &[hunk(3..3, 3..5)]), 3..5);
    assert_eq!(at(3..3, &[hunk(1..1, 1..2)]), 4..4);
    // Lines were inserted beside it.
    assert_eq!(moved(&(3..5), true, &[hunk(5..5, 5..7)]), 3..7);
}
