use super::*;
use crate::git::tests::Fixture;

#[test]
fn quoted_pathspecs_are_read_back() {
    assert_eq!(paths(""), [""; 0]);
    assert_eq!(paths(" '--'\n"), [""; 0]);
    assert_eq!(paths(" '--' '.' ':(exclude)it'\\''s d'\\!'x'\n"), [".", ":(exclude)it's d!x"]);
}

#[test]
fn without_a_session_there_is_no_state() {
    let (fixture, _) = Fixture::line(1);
    assert_eq!(fixture.repository().bisect_state_here().unwrap(), None);
}

#[test]
fn the_users_session_is_read_with_their_words() {
    let (fixture, commits) = Fixture::line(6);
    fixture.git(&["bisect", "start", "--term-old", "fast", "--term-new", "slow"]);
    let state = || fixture.repository().bisect_state_here().unwrap().unwrap();
    assert_eq!((state().range(), state().current), (None, Some(commits[5].clone())));
    fixture.git(&["bisect", "slow"]);
    fixture.git(&["bisect", "fast", "HEAD~5"]);
    assert_eq!(state().terms, ("fast".to_owned(), "slow".to_owned()));
    assert_eq!(state().range(), Some(Range::between(&commits[0], &commits[5])));
    assert_eq!(state().current, Some(fixture.head()));
    assert_eq!(state().end, None);
    fixture.git(&["bisect", "run", "sh", "-c", "[ $(cat n) -lt 4 ]"]);
    assert_eq!(state().end, Some(End::FirstBad(commits[3].clone())));
}
