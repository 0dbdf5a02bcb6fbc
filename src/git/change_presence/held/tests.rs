use super::*;
use crate::git::tests::Fixture;

/// Whether the lines of the change from `first` to `found` are in place in each of `later`, one
/// commit after the other.
fn held([first, found]: [&str; 2], later: &[&str]) -> Vec<bool> {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("k", first)]);
    let commit = |text: &&str| fixture.commit("next", &[("k", *text)]);
    let found = commit(&found);
    let later: Vec<CommitId> = later.iter().map(commit).collect();
    let history = fixture.history();
    let change = history.change(&parent, &found).unwrap();
    let held = history.held_lines([&found, &later[later.len() - 1]], &change).unwrap();
    assert!(held.merges.is_empty());
    later.iter().map(|one| held.are_in(one)).collect()
}

#[test]
fn lines_with_other_spaces_and_with_other_lines_beside_them_stay() {
    let ends = ["f(\n0\n)\n", "f(\ng(1.0, 2)\n)\n"];
    let later = ["f(\n  g(1.0,2)\n)\n", "f(\n  g(1.0,\n    2)\n  h(3)\n)\n", "f(\ng(1.0, 2)\n)\n"];
    assert_eq!(held(ends, &later), [true; 3]);
}

#[test]
fn other_lines_in_their_place_and_the_same_text_elsewhere_are_other_lines() {
    let ends = ["0\n0\n0\n0\n0\n0\n0\n", "0\n1.0\n0\n0\n0\n0\n0\n"];
    for other in [
        "0\n0.00\n1.00\n0\n0\n0\n0\n",
        "0\n1.0*0\n0\n0\n0\n0\n0\n",
        "0\n0.00\n0\n0\n0\n0\n1.0\n",
        "0\n0\n0\n0\n0\n0\n0\n",
    ] {
        // Lines that come back later are not those of the change.
        assert_eq!(held(ends, &[other, ends[1]]), [false; 2], "{other}");
    }
}

#[test]
fn lines_that_a_change_removes_stay_removed_until_they_are_back() {
    let ends = ["a\ncheck();\nb\n", "a\nb\n"];
    assert_eq!(held(ends, &["x\na\nb\n", "x\na\ncheck();\nb\n"]), [true, false]);
}

#[test]
fn a_merge_may_take_the_lines_of_a_branch_without_the_change() {
    let text = |lines: [&str; 3]| lines.join("\n") + "\n# end\n";
    for (on_main, on_branch, merged, is_held) in [
        (["0", "1.0", "0"], ["0", "0.00", "1.00"], ["0", "0.00", "1.00"], false),
        // The same line on both sides.
        (["0", "1.0", "0"], ["0", "1.0", "0.00"], ["0", "1.0", "0.00"], false),
        (["0", "1.0", "0"], ["0", "0", "0.00"], ["0", "1.0", "0.00"], true),
    ] {
        let fixture = Fixture::new();
        let parent = fixture.commit("first", &[("k", &text(["0", "0", "0"]))]);
        fixture.git(&["branch", "side"]);
        let found = fixture.commit("found", &[("k", &text(on_main))]);
        let main = fixture.git(&["symbolic-ref", "--short", "HEAD"]);
        fixture.git(&["checkout", "--quiet", "side"]);
        let side = fixture.commit("side", &[("k", &text(on_branch))]);
        fixture.git(&["checkout", "--quiet", main.trim()]);
        fixture.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
        let merge = fixture.commit("merge", &[("k", &text(merged))]);
        let newer = fixture.commit("newer", &[("n", "1")]);
        let history = fixture.history();
        let change = history.change(&parent, &found).unwrap();
        let held = history.held_lines([&found, &newer], &change).unwrap();
        assert_eq!(held.are_in(&newer), is_held, "{merged:?}");
        let merges: Vec<_> = held.merges.iter().map(|one| (&one.merge, &*one.branches)).collect();
        let lost = [(&merge, std::slice::from_ref(&side))];
        assert_eq!(merges, if is_held { &[][..] } else { &lost[..] });
    }
}

#[test]
fn the_files_that_are_left_out_need_no_lines() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("k", "0\n"), ("log", "one\n")]);
    let found = fixture.commit("found", &[("k", "1\n"), ("log", "two\n")]);
    let newer = fixture.commit("newer", &[("log", "three\n")]);
    let history = fixture.history();
    let change = history.change(&parent, &found).unwrap();
    let is_held =
        |change: &Change| history.held_lines([&found, &newer], change).unwrap().are_in(&newer);
    assert!(!is_held(&change) && is_held(&change.except(|path| path == "log")));
    // Something must be compared.
    assert!(!is_held(&change.except(|_| true)));
}
