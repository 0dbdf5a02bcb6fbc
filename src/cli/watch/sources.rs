//! Where shown results come from: runs of now, the store, or a run at another commit. Pure.

use crate::evaluation::CommitId;
use crate::store::journal::RunDone;

/// When the newest of these runs was made. `None` if one of them is new, or if there are none.
pub(super) fn stored_at<'r>(runs: impl Iterator<Item = &'r RunDone>) -> Option<&'r str> {
    let stored = runs.map(|run| run.stored_at.as_deref());
    stored.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// The commit at which the first of these results was made, if all are those of other commits'
/// runs in this hunt: these commits have the same program.
pub(super) fn same_program<'r>(
    mut runs: impl Iterator<Item = &'r RunDone>,
) -> Option<&'r CommitId> {
    let first = runs.next()?.same_as.as_ref()?;
    runs.all(|run| run.same_as.is_some()).then_some(first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evaluation::Phase;

    fn run(stored_at: Option<&str>, same_as: Option<char>) -> RunDone {
        let commit = |digit: char| digit.to_string().repeat(40).parse().unwrap();
        RunDone {
            commit: commit('1'),
            measure: "ppl".to_owned(),
            attempt: "1-a".to_owned(),
            run_key: String::new(),
            phase: Phase::Search,
            wall_s: 1.0,
            log: String::new(),
            values: BTreeMap::new(),
            failure: None,
            reused: stored_at.is_some() || same_as.is_some(),
            stored_at: stored_at.map(str::to_owned),
            same_as: same_as.map(commit),
            argv: Vec::new(),
            text: None,
            repeats: BTreeMap::new(),
            apart: None,
            host: None,
            machine: None,
        }
    }

    #[test]
    fn results_are_stored_ones_only_if_no_run_is_new() {
        let [early, late] = ["2026-11-22T00:57:10Z", "2026-11-23T01:00:00Z"];
        let stored = [run(Some(late), None), run(Some(early), None)];
        assert_eq!(stored_at(stored.iter()), Some(late));
        let mixed = [run(Some(late), None), run(None, None)];
        assert_eq!(stored_at(mixed.iter()), None);
        assert_eq!(stored_at([].iter()), None);
    }

    #[test]
    fn a_program_is_the_same_only_if_all_results_are_of_other_commits() {
        let other = [run(None, Some('2')), run(None, Some('2'))];
        assert_eq!(same_program(other.iter()), other[0].same_as.as_ref());
        assert!(other[0].same_as.is_some());
        let mixed = [run(None, Some('2')), run(None, None)];
        assert_eq!(same_program(mixed.iter()), None);
        assert_eq!(same_program([].iter()), None);
    }
}
