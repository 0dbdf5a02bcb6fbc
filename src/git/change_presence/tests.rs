use super::*;
use crate::git::tests::Fixture;

/// Writes `first`, then each of `texts` into `a.c`. Returns for each of `texts` whether it carries
/// the change from `first` to `texts[0]`.
fn carried(first: &str, texts: &[&str]) -> Vec<Option<bool>> {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", first), ("n", "0")]);
    let commits: Vec<CommitId> = (1..)
        .zip(texts)
        .map(|(n, text)| fixture.commit("next", &[("a.c", text), ("n", &n.to_string())]))
        .collect();
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &commits[0]).unwrap();
    commits.iter().map(|commit| history.contains_change(commit, &change)).collect()
}

#[test]
fn a_revert_takes_a_change_away_and_landing_it_again_brings_it_back() {
    let told = carried("slow();\n", &["fast();\n", "slow();\n", "fast();\n", "fast();\nmore();\n"]);
    assert_eq!(told, [Some(true), Some(false), Some(true), Some(true)]);
}

#[test]
fn a_change_among_others_is_known_by_its_lines() {
    let old = "begin();\nslow();\nend();\n";
    let new = "begin();\nfast();\nend();\n";
    let told = carried(old, &[new, "begin();\nfast();\nelse();\n", "begin();\nslow();\nelse();\n"]);
    assert_eq!(told, [Some(true), Some(true), Some(false)]);
}

#[test]
fn lines_that_were_only_removed_may_come_back() {
    let told =
        carried("check();\nrun();\n", &["run();\n", "run();\nmore();\n", "check();\nx();\n"]);
    assert_eq!(told, [Some(true), Some(true), Some(false)]);
}

#[test]
fn only_commits_that_touch_its_files_are_looked_at() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\n")]);
    fixture.commit("other", &[("b.c", "x\n")]);
    let revert = fixture.commit("revert", &[("a.c", "slow();\n")]);
    let last = fixture.commit("other", &[("b.c", "y\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    assert_eq!(history.touching(&found, &last, &change).unwrap(), [revert]);
}

#[test]
fn a_file_that_moved_is_still_there() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("src/b.c", "copied();\n")]);
    let found =
        fixture.commit("found", &[("src/a.c", "fast();\ntable();\n"), ("c.c", "copied();\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let [of_a, of_c] = ["src/a.c", "c.c"].map(|path| change.clone().in_files(&[path]));
    let carried = |at: &CommitId| [&of_a, &of_c].map(|change| history.contains_change(at, change));
    let [a, b] = [("src/a.c", "fast();\ntable();\n"), ("src/b.c", "copied();\n")];
    let at = |files: &[(&str, &str)]| {
        fixture.git(&["rm", "-rq", "."]);
        fixture.commit("next", files)
    };
    let renamed = at(&[b, ("src/quick.c", a.1)]);
    assert_eq!(carried(&renamed), [Some(true), Some(false)], "`b.c` was there before");
    assert!(!history.is_restored(&renamed, &of_a) && history.is_restored(&renamed, &of_c));
    let moved = at(&[b, ("lib/a.c", "fast();\nwide();\n")]);
    assert_eq!(carried(&moved), [Some(true), Some(false)]);
    let removed = at(&[b, ("lib/a.c", "slow();\n")]);
    assert_eq!(carried(&removed), [Some(false), Some(false)]);
}
