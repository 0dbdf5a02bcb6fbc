//! Lets a search by git test a commit that an earlier hunt has built, if it halves the range nearly
//! as well as the commit that git asks for.
//!
//! `git bisect run` names the commit that halves the range best. Git also takes verdicts on other
//! commits of the range, so the oracle may test another one: it gives git no verdict then, which
//! stops git, and the driver tells git the verdict and starts git again.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Phase};
use crate::git::BisectSession;
use crate::oracle::{Oracle, Request};

use super::HuntError;

/// The commit to test in place of `asked`: one whose build an earlier hunt left. `None` if there is
/// none, if an earlier hunt also left the build of `asked`, or if `asked` needs no run.
pub(crate) fn built_choice(
    oracle: &mut Oracle,
    session: &BisectSession,
    asked: &CommitId,
    measures: &[String],
) -> Result<Option<CommitId>, HuntError> {
    if !oracle.has_earlier_builds()? {
        return Ok(None);
    }
    let splits = session.splits()?;
    let near = nearly_equal(&splits, asked);
    let built = oracle.built_earlier(&near)?;
    if built.is_empty() || built.contains(asked) {
        return Ok(None);
    }
    let known = oracle.evaluate(Request::look(asked, measures, Phase::Search))?;
    let is_measured = known.build_failure.is_some()
        || measures.iter().all(|measure| !known.of(measure).is_empty());
    if is_measured {
        return Ok(None);
    }
    // The best split first.
    Ok(splits.into_iter().map(|(commit, _)| commit).find(|commit| built.contains(commit)))
}

/// The commits that split the range nearly as well as the best one: by at most a tenth less. Empty
/// if git asks about a commit outside its list, such as a merge base.
fn nearly_equal<'s>(splits: &'s [(CommitId, usize)], asked: &CommitId) -> BTreeSet<&'s CommitId> {
    if splits.iter().all(|(commit, _)| commit != asked) {
        return BTreeSet::new();
    }
    let best = splits.iter().map(|(_, split)| *split).max().unwrap_or(0);
    let is_near = |split: usize| split > 0 && split * 10 >= best * 9;
    splits.iter().filter(|(_, split)| is_near(*split)).map(|(commit, _)| commit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(number: usize) -> CommitId {
        format!("{number:040x}").parse().unwrap()
    }

    /// The splits of a line of commits, as git counts them.
    fn line(count: usize) -> Vec<(CommitId, usize)> {
        let of = |number: usize| (commit(number), number.min(count - number));
        (1..=count).map(of).collect()
    }

    fn near(splits: &[(CommitId, usize)], asked: usize) -> Vec<usize> {
        let near = nearly_equal(splits, &commit(asked));
        near.iter().map(|one| usize::from_str_radix(one.as_str(), 16).unwrap()).collect()
    }

    #[test]
    fn a_split_that_is_a_tenth_worse_is_nearly_equal() {
        assert_eq!(near(&line(40), 20), [18, 19, 20, 21, 22]);
    }

    #[test]
    fn in_a_short_range_only_equal_splits_are_near() {
        assert_eq!(near(&line(5), 2), [2, 3]);
        assert_eq!(near(&line(8), 4), [4]);
    }

    #[test]
    fn nothing_is_near_if_git_asks_outside_its_range_or_one_commit_is_left() {
        assert!(near(&line(8), 99).is_empty());
        assert!(near(&[(commit(1), 0)], 1).is_empty());
    }
}
