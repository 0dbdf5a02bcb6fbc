//! In a hunt for a fix: an earlier commit that is good already, up to which the search goes on.
//! Pure.

use crate::evaluation::{CommitId, Culprit, Finding, Outcome};

/// A good commit before a found fix: a later commit broke this again, and that fix mended it.
#[derive(Clone, Debug)]
pub(crate) struct EarlierGood {
    /// The commit. The search ends there.
    pub(crate) at: CommitId,
    /// The answer if that search finds nothing: each commit up to there is a candidate.
    pub(crate) otherwise: Finding,
}

impl EarlierGood {
    /// The answer of the hunt: what the search up to this commit found, if all that it names lies
    /// there.
    pub(crate) fn answer(&self, found: Finding) -> Finding {
        let lies_there = |one: &CommitId| self.otherwise.candidates.contains(one);
        let is_named_there = |one: &Culprit| lies_there(&one.info.commit);
        let is_answer = matches!(found.outcome, Outcome::Culprit | Outcome::Candidates)
            && !found.candidates.is_empty()
            && found.candidates.iter().all(lies_there)
            && found.culprits.iter().all(is_named_there);
        if is_answer { found } else { self.otherwise.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::{self, commit};

    /// Commit 5 is good already, and the bad end is commit 2.
    fn answer(outcome: Outcome, candidates: &str, named: &str) -> Vec<CommitId> {
        let of = |outcome, digits: &str| Finding {
            candidates: digits.chars().map(commit).collect(),
            ..Finding::plain(outcome, "")
        };
        let otherwise = of(Outcome::Candidates, "345");
        let culprits = named.chars().map(|digit| fixture::culprit(digit, '2')).collect();
        let found = Finding { culprits, ..of(outcome, candidates) };
        EarlierGood { at: commit('5'), otherwise }.answer(found).candidates
    }

    #[test]
    fn what_a_search_finds_up_to_the_good_commit_is_the_answer() {
        assert_eq!(answer(Outcome::Culprit, "4", "4"), [commit('4')]);
        assert_eq!(answer(Outcome::Candidates, "45", ""), ['4', '5'].map(commit));
    }

    #[test]
    fn without_such_a_commit_all_up_to_the_good_one_are_candidates() {
        let all = ['3', '4', '5'].map(commit);
        assert_eq!(answer(Outcome::Candidates, "456", "4"), all);
        assert_eq!(answer(Outcome::Culprit, "4", "47"), all);
        assert_eq!(answer(Outcome::NoRegression, "", ""), all);
    }
}
