use super::*;
use crate::git::tests::Fixture;

#[test]
fn a_file_that_gets_other_names_and_grows_is_followed() {
    let fixture = Fixture::new();
    let text = |line: &str, lines: usize| {
        let more: Vec<String> = (0..lines).map(|number| format!("line({number});\n")).collect();
        format!("{line}\n{}", more.concat())
    };
    let parent = fixture.commit("first", &[("a.c", &text("slow();", 5))]);
    let found = fixture.commit("found", &[("a.c", &text("fast();", 5))]);
    fixture.git(&["mv", "a.c", "b.c"]);
    let renamed = fixture.commit("renamed", &[]);
    let grown = fixture.commit("grown", &[("b.c", &text("fast();", 40))]);
    fixture.commit("other", &[("n", "1")]);
    let mended = fixture.commit("mended", &[("b.c", &text("slow(); // for now", 40))]);
    fixture.git(&["mv", "b.c", "c.c"]);
    let again = fixture.commit("renamed again", &[]);
    let last = fixture.commit("other", &[("n", "2")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change_until(&parent, &found, &last).unwrap();
    let later = [&renamed, &grown, &mended, &again].map(CommitId::clone);
    assert_eq!(history.touching(&found, &last, &change).unwrap(), later);
    assert_eq!(history.editing(&later, &change).unwrap(), std::slice::from_ref(&mended));
    let told = [&renamed, &grown, &mended, &again, &last];
    let told = told.map(|commit| history.contains_change(commit, &change));
    assert_eq!(told, [Some(true), Some(true), Some(false), Some(false), Some(false)]);
    let absences = history.commits_without_change(&found, &last, &change).unwrap();
    assert_eq!(absences[0].commits[0], mended);
    assert!(change.moves().next().is_none() && !history.is_lost(&last, &change));
}

#[test]
fn lines_that_move_to_another_file_are_followed() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\nrest();\n"), ("b.c", "other();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\nrest();\n")]);
    fixture.commit("other", &[("b.c", "other();\nmore();\n")]);
    let both = [("a.c", "rest();\n"), ("b.c", "other();\nmore();\nfast();\n")];
    let moved = fixture.commit("moved", &both);
    fixture.commit("other", &[("n", "1")]);
    let mended = fixture.commit("mended", &[("b.c", "other();\nmore();\nslow(); // for now\n")]);
    let last = fixture.commit("other", &[("n", "2")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change_until(&parent, &found, &last).unwrap();
    assert!(change.moves().eq([&moved]));
    let later = [moved.clone(), mended.clone()];
    assert_eq!(history.touching(&found, &last, &change).unwrap(), later);
    assert_eq!(history.editing(&later, &change).unwrap(), later);
    let carried = [&moved, &mended, &last].map(|commit| history.contains_change(commit, &change));
    assert_eq!(carried, [Some(true), Some(false), Some(false)]);
    assert!(!history.is_lost(&last, &change));
}

#[test]
fn a_file_that_goes_without_a_trace_is_lost() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\nrest();\n"), ("b.c", "other();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\nrest();\n")]);
    fixture.git(&["rm", "--quiet", "a.c"]);
    let gone = fixture.commit("gone", &[("b.c", "other();\nquick();\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = |newer: &CommitId| history.change_until(&parent, &found, newer).unwrap();
    assert!(history.is_lost(&gone, &change(&gone)) && !history.is_lost(&found, &change(&found)));
}
