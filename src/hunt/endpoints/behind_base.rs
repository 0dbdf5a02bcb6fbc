//! What the commits between a merge base and the newer end show, in words, if the merge base has
//! the newer end's verdict. Pure.

use crate::evaluation::{Aim, CommitId};
use crate::hunt::terms::SearchTerms;
use crate::ui::text;

/// What the hunt found when it measured commits between a merge base and the newer end. The merge
/// base has the newer end's verdict already.
#[derive(Debug)]
pub(super) struct LookBehind {
    /// A commit with the older end's verdict, from which the search can begin.
    pub(super) start: Option<CommitId>,
    /// How many commits were measured.
    pub(super) measured: usize,
    /// How many commits are between the merge base and the newer end.
    pub(super) between: usize,
}

impl LookBehind {
    /// Whether some commits on the way to the newer end were not measured. One of them may have the
    /// older end's verdict.
    fn is_partial(&self) -> bool {
        self.measured < self.between
    }

    /// Where the problem was mended or introduced, and how far the measured commits show this.
    pub(super) fn in_words(&self, terms: SearchTerms) -> String {
        let (side, other) = match terms.aim() {
            Aim::Regression => ("mended on the way to good", "introduced on the way to bad"),
            Aim::Fix => ("introduced on the way to bad", "mended on the way to good"),
        };
        let [older, newer] = [terms.older(), terms.newer()];
        let between = text::plural(self.between, "commit");
        match self.measured {
            0 if self.is_partial() => format!(
                "{side}. None of {between} on the way to {newer} was measured: if one of them is \
                 {older}, the problem was {other} too"
            ),
            0 => format!("{side}, not {other}"),
            measured if self.is_partial() => format!(
                "{side}. On the way to {newer}, {measured} of {between} were measured, and none \
                 is clearly {older}: if another one is, the problem was {other} too"
            ),
            measured => format!(
                "{side}, not {other}; of {} measured on the way to {newer}, none is clearly \
                 {older}",
                text::plural(measured, "commit")
            ),
        }
    }

    /// How to search behind a commit that was not measured, if there is one.
    pub(super) fn next(
        &self,
        base: &CommitId,
        newer: &CommitId,
        terms: SearchTerms,
    ) -> Option<String> {
        let [base, end] = [base, newer].map(CommitId::short);
        let start = match terms.aim() {
            Aim::Regression => format!("`bisect-ppl start --good COMMIT --bad {end}`"),
            Aim::Fix => format!("`bisect-ppl start --find-fix --good {end} --bad COMMIT`"),
        };
        let older = terms.older();
        self.is_partial().then(|| {
            format!("if you know a {older} commit between {base} and {end}, {start} begins there")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn only_if_all_commits_were_measured_is_another_cause_excluded() {
        let looked = |measured, between| LookBehind { start: None, measured, between };
        let terms = SearchTerms::of(Aim::Regression);
        let said = |measured, between| looked(measured, between).in_words(terms);
        let firm = "mended on the way to good, not introduced on the way to bad";
        assert_eq!(said(0, 0), firm);
        let expected =
            format!("{firm}; of 2 commits measured on the way to bad, none is clearly good");
        assert_eq!(said(2, 2), expected);
        let expected = "mended on the way to good. On the way to bad, 4 of 28 commits were \
                        measured, and none is clearly good: if another one is, the problem was \
                        introduced on the way to bad too";
        assert_eq!(said(4, 28), expected);
        let expected = "mended on the way to good. None of 3 commits on the way to bad was \
                        measured: if one of them is good, the problem was introduced on the way to \
                        bad too";
        assert_eq!(said(0, 3), expected);
        let fix = looked(1, 2).in_words(SearchTerms::of(Aim::Fix));
        assert!(
            fix.starts_with("introduced on the way to bad. On the way to good, 1 of 2"),
            "{fix}"
        );
    }

    #[test]
    fn a_known_commit_may_begin_another_hunt() {
        let next = |measured, aim| {
            let looked = LookBehind { start: None, measured, between: 2 };
            looked.next(&commit('1'), &commit('5'), SearchTerms::of(aim))
        };
        let expected = "if you know a good commit between 1111111111 and 5555555555, `bisect-ppl \
                        start --good COMMIT --bad 5555555555` begins there";
        assert_eq!(next(1, Aim::Regression).unwrap(), expected);
        assert!(next(1, Aim::Fix).unwrap().contains("--find-fix --good 5555555555 --bad COMMIT"));
        assert_eq!(next(2, Aim::Regression), None);
    }
}
