use super::*;
use crate::hunt::localize::unknown;
use crate::oracle::fixture;

#[test]
fn an_end_that_stays_bad_without_a_part_of_the_change_tells_nothing() {
    let cause = |revert, in_part| {
        let culprit = fixture::culprit('5', '4');
        Cause { revert, in_part, ..unknown(&culprit, String::new()) }
    };
    assert!(!has_told(&cause(Some(Revert::StillBad), true)));
    assert!(has_told(&cause(Some(Revert::StillBad), false)));
    assert!(has_told(&cause(Some(Revert::Heals), true)));
    let conflict = Revert::Conflict("patch does not apply".to_owned());
    assert!(!has_told(&cause(Some(conflict), false)) && !has_told(&cause(None, false)));
}

#[test]
fn an_end_that_loses_the_step_with_lines_of_later_commits_says_why_that_does_not_tell() {
    let commit = fixture::commit('5');
    let told = |need| untold(&need, &commit, "bad");
    let plain = "no test of the bad end tells whether it still needs 5555555555";
    assert_eq!(told(EndNeed::Open), plain);
    let lines = told(EndNeed::LinesNeeded);
    assert!(
        lines.starts_with(plain) && lines.ends_with("what later commits made of these lines"),
        "{lines}"
    );
}
