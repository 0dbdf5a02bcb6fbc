//! The answer without named commits that the bad end does not need. Pure.

use crate::evaluation::{CommitId, Culprit, Finding};
use crate::hunt::confirm::effect::weight;
use crate::hunt::outcome::answer::culprit_sentence;
use crate::hunt::terms::SearchTerms;

/// The finding without these commits, of which a note tells. The account stays: a test showed that the
/// bad end is good without the others. The tests of the main commit go if it is one of them, and the next one takes its place.
pub(super) fn without(finding: Finding, unneeded: &[CommitId], terms: SearchTerms) -> Finding {
    let main = finding.culprit().map(|main| main.info.commit.clone());
    let is_named = |one: &Culprit| !unneeded.contains(&one.info.commit);
    let (culprits, dropped): (Vec<_>, Vec<_>) =
        finding.culprits.iter().cloned().partition(is_named);
    let is_main = |one: &Culprit| Some(&one.info.commit) == main.as_ref();
    let kept_main = culprits.iter().position(is_main);
    let told = dropped.iter().map(|one| note(one, &culprits));
    let notes = finding.notes.iter().cloned().chain(told).collect();
    if kept_main.is_some() {
        return Finding { main: kept_main, culprits, notes, ..finding };
    }
    let next = largest(&culprits.iter().collect::<Vec<_>>()).clone();
    Finding {
        summary: culprit_sentence(&next, terms),
        main: culprits.iter().position(|one| one.info == next.info),
        candidates: vec![next.info.commit],
        cause: None,
        culprits,
        notes,
        ..finding
    }
}

/// The note on a commit that the bad end does not need. `named`: those that it needs.
fn note(dropped: &Culprit, named: &[Culprit]) -> String {
    let commit = dropped.info.commit.short();
    let metrics: Vec<String> =
        dropped.effects.iter().map(|effect| effect.metric.to_string()).collect();
    let named: Vec<String> = named.iter().map(|one| one.info.commit.short().to_owned()).collect();
    format!(
        "{commit} made {} worse, but the bad end does not need {commit}: it is as bad or \
         worse without {commit} alone, and it is good without {}; their steps do not add up",
        metrics.join(" and "),
        named.join(" and "),
    )
}

/// The commit with the largest step in units of its tolerance; of equal ones, the first.
pub(super) fn largest<'c>(culprits: &[&'c Culprit]) -> &'c Culprit {
    let size = |culprit: &Culprit| culprit.effects.first().map_or(f64::INFINITY, weight);
    let larger = |best: &'c Culprit, one: &'c Culprit| {
        if size(one) > size(best) { one } else { best }
    };
    culprits.iter().copied().reduce(larger).expect("at least one commit is named")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, Outcome};
    use crate::hunt::localize::unknown;
    use crate::oracle::fixture::{self, commit, effect};

    fn step(digit: char, from: f64, to: f64) -> Culprit {
        Culprit { effects: vec![effect(from, to, 0.1)], ..fixture::culprit(digit, '2') }
    }

    /// A finding that names two commits: commit 3 worsens the level by 0.5, commit 5 by another 0.1.
    fn two() -> Finding {
        let culprits = vec![step('3', 7.0, 7.5), step('5', 7.5, 7.6)];
        let account = fixture::account(0.6, 0.6);
        Finding {
            cause: Some(unknown(&culprits[0], String::new())),
            culprits,
            main: Some(0),
            candidates: vec![commit('3')],
            accounts: vec![account],
            ..Finding::plain(Outcome::Culprit, "3 is the first bad commit")
        }
    }

    #[test]
    fn the_next_commit_takes_the_place_of_an_unneeded_main_one() {
        let left = without(two(), &[commit('3')], SearchTerms::of(Aim::Regression));
        assert_eq!((left.main, left.culprits.len(), left.cause), (Some(0), 1, None));
        assert_eq!(left.candidates, [commit('5')]);
        assert!(left.summary.starts_with(commit('5').short()), "{}", left.summary);
        assert_eq!(left.accounts, two().accounts, "a test shows that 5 explains all");
        assert!(left.notes[0].starts_with(commit('3').short()), "{:?}", left.notes);
        assert!(left.notes[0].contains("the bad end does not need"), "{:?}", left.notes);
    }

    #[test]
    fn the_main_commit_keeps_its_tests_if_another_one_is_unneeded() {
        let left = without(two(), &[commit('5')], SearchTerms::of(Aim::Regression));
        assert_eq!((left.main, left.candidates), (Some(0), vec![commit('3')]));
        assert_eq!(left.summary, "3 is the first bad commit");
        assert!(left.cause.is_some());
    }
}
