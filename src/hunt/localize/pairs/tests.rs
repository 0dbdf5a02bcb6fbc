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
