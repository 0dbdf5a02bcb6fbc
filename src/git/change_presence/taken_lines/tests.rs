use super::*;
use crate::git::tests::Fixture;

const PLAIN: &str = "log 0\nx\nx\na 5\nb 2\nx\nx\nc 1\n";

/// What the last commit takes back of what those before it brought.
fn taken(fixture: &Fixture, commits: &[CommitId]) -> TakenBack {
    let (last, line) = commits.split_last().unwrap();
    fixture.history().takes_back(line, last, &[]).unwrap()
}

/// Each of these texts is that of the file `k` in one commit.
fn taken_by(texts: &[&str]) -> TakenBack {
    let fixture = Fixture::new();
    let commits: Vec<CommitId> =
        texts.iter().map(|text| fixture.commit("step", &[("k", *text)])).collect();
    taken(&fixture, &commits)
}

/// These places, of which all commits are taken back as a whole.
fn whole(places: &[usize]) -> TakenBack {
    TakenBack { places: places.to_vec(), ..TakenBack::default() }
}

fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(PLAIN.to_owned(), |text, (old, new)| text.replace(*old, new))
}

#[test]
fn a_line_goes_back_while_another_one_of_its_commit_stays() {
    let both = edited(&[("log 0", "log 1"), ("a 5", "a 4")]);
    let back = TakenBack { places: vec![1], in_part: vec![1] };
    assert_eq!(taken_by(&[PLAIN, &both, &edited(&[("log 0", "log 1")])]), back);
    // The neighbour of the line stays.
    let both = edited(&[("a 5", "a 4"), ("b 2", "b 1")]);
    assert_eq!(taken_by(&[PLAIN, &both, &edited(&[("b 2", "b 1")])]), back);
}

#[test]
fn two_commits_are_taken_back_by_one_and_another_edit_stays() {
    let one = edited(&[("a 5", "a 4")]);
    let two = edited(&[("a 5", "a 4"), ("log 0", "log 1")]);
    let other = edited(&[("a 5", "a 4"), ("log 0", "log 1"), ("c 1", "c 2")]);
    let back = edited(&[("c 1", "c 2")]);
    assert_eq!(taken_by(&[PLAIN, &one, &two, &other, &back]), whole(&[1, 2]));
    // A line was edited twice: its first edit has other lines.
    let twice = edited(&[("a 5", "a 3"), ("c 1", "c 2")]);
    let taken = taken_by(&[PLAIN, &one, &twice, &back]);
    assert_eq!(taken, TakenBack { places: vec![1, 2], in_part: vec![1, 2] });
}

#[test]
fn two_commits_take_back_one_line_each() {
    let both = edited(&[("a 5", "a 4"), ("c 1", "c 0")]);
    let one = edited(&[("c 1", "c 0")]);
    let back = TakenBack { places: vec![1], in_part: vec![1] };
    assert_eq!(taken_by(&[PLAIN, &both, &one]), back);
    // The last one leaves the file as at the older end.
    assert_eq!(taken_by(&[PLAIN, &both, &one, PLAIN]), whole(&[1, 2]));
    let other = edited(&[("c 1", "c 0"), ("log 0", "log 1")]);
    let last = edited(&[("log 0", "log 1")]);
    assert_eq!(taken_by(&[PLAIN, &both, &one, &other, &last]), back);
}

#[test]
fn a_line_that_goes_back_and_forth_is_a_switch() {
    let on = edited(&[("a 5", "a 4")]);
    let other = edited(&[("a 5", "a 4"), ("log 0", "log 1")]);
    let back = edited(&[("log 0", "log 1")]);
    assert_eq!(taken_by(&[PLAIN, &on, &other, &back]), whole(&[1]));
    // Another line of the file did.
    let noted = edited(&[("a 5", "a 4"), ("c 1", "c 2")]);
    let taken = TakenBack { places: vec![1], in_part: vec![1] };
    assert_eq!(taken_by(&[PLAIN, &noted, &on, &other, &back]), taken);
    // This line did.
    let off = edited(&[("c 1", "c 2")]);
    let again = edited(&[("a 5", "a 4"), ("c 1", "c 2"), ("log 0", "log 1")]);
    let last = edited(&[("c 1", "c 2"), ("log 0", "log 1")]);
    assert_eq!(taken_by(&[PLAIN, &noted, &off, &again, &last]), TakenBack::default());
}

#[test]
fn a_line_that_the_older_end_does_not_have_is_new() {
    let one = edited(&[("a 5", "a 4"), ("log 0", "log 1")]);
    for last in [
        edited(&[("a 5", "a 5.0"), ("log 0", "log 1")]),
        edited(&[("log 0", "log 1"), ("c 1", "c 2")]),
        edited(&[("a 5\n", ""), ("log 0", "log 1")]),
    ] {
        assert_eq!(taken_by(&[PLAIN, &one, &last]), TakenBack::default(), "{last}");
    }
    // The older end has what goes away.
    let gone = edited(&[("a 5\n", "")]);
    assert_eq!(taken_by(&[PLAIN, &edited(&[("c 1", "c 2")]), &gone]), TakenBack::default());
}

#[test]
fn a_file_is_followed_through_a_rename() {
    let fixture = Fixture::new();
    let mut commits = vec![fixture.commit("first", &[("k", PLAIN), ("n", "0\n")])];
    commits.push(fixture.commit("brought", &[("k", &edited(&[("a 5", "a 4")])), ("n", "1\n")]));
    fixture.git(&["mv", "k", "moved"]);
    commits.push(fixture.commit("renamed", &[]));
    commits.push(fixture.commit("back", &[("moved", PLAIN)]));
    assert_eq!(taken(&fixture, &commits), whole(&[1]));
    fixture.git(&["reset", "--quiet", "--hard", commits[2].as_str()]);
    let other = edited(&[("a 5", "a 4"), ("log 0", "log 1")]);
    commits[3] = fixture.commit("other", &[("moved", &other)]);
    commits.push(fixture.commit("back", &[("moved", &edited(&[("log 0", "log 1")]))]));
    assert_eq!(taken(&fixture, &commits), whole(&[1]));
}

#[test]
fn lines_that_nearly_every_commit_edits_do_not_matter() {
    let fixture = Fixture::new();
    let fast = edited(&[("a 5", "a 4"), ("log 0", "log 1")]);
    let text = |number: usize| match number {
        0..3 => PLAIN.to_owned(),
        3..9 => fast.clone(),
        _ => edited(&[("log 0", "log 1")]),
    };
    let commit = |number: usize, counter: &str| {
        fixture.commit("step", &[("k", &text(number)), ("version", &format!("{counter}\n"))])
    };
    let commits: Vec<CommitId> =
        (0..10).map(|number| commit(number, &format!("v = {number}"))).collect();
    assert_eq!(taken(&fixture, &commits), TakenBack { places: vec![3], in_part: vec![3] });
    // Few commits edit it.
    let fixture = Fixture::new();
    let commit = |number: usize| {
        let counter = format!("v = {}\n", number / 3);
        fixture.commit("step", &[("k", &text(number)), ("version", &counter)])
    };
    let commits: Vec<CommitId> = (0..10).map(commit).collect();
    assert_eq!(taken(&fixture, &commits), TakenBack::default());
}

#[test]
fn a_commit_whose_lines_in_another_taken_back_file_stay_is_taken_back_in_part() {
    let fixture = Fixture::new();
    let other = edited(&[("log 0", "log 1")]);
    let both = edited(&[("log 0", "log 1"), ("a 5", "a 4")]);
    let commits = [(PLAIN, PLAIN), (&*other, &*both), (&*both, &*both), (&*other, PLAIN)];
    let commits = commits.map(|(k, l)| fixture.commit("step", &[("k", k), ("l", l)]));
    assert_eq!(taken(&fixture, &commits), TakenBack { places: vec![1, 2], in_part: vec![1] });
}
