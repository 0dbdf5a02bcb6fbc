//! Which commits stay candidates if runs of one commit differ, and something contradicts that a
//! single commit made the change: runs show that it was taken back, or commits on one side fail at
//! different rates. A list that rests on a single change may then lack the commit that made the
//! change again.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, Lineage, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::answer::names;
use crate::hunt::range::SearchRange;
use crate::hunt::searched::Searched;
use crate::oracle::measures_of;
use crate::store::journal::Event;

use super::rate_sides::{
    RateSide, is_taken_back, left_by_one_change, not_excluded, sides_by_rates,
};

impl Driver<'_> {
    /// The result of a search whose claims were all rejected. `last_word`: why the last one was.
    pub(super) fn contradictory(
        &mut self,
        search_range: &SearchRange,
        last_word: &str,
    ) -> Result<Searched, HuntError> {
        let why = format!("measurements of one commit contradict each other: {last_word}");
        let among = self.open_range(search_range)?;
        let (open, why) = self.with_all_open(search_range, among, &why)?;
        Ok(Searched::Candidates(open, why.into()))
    }

    /// The candidates and their reason: all commits of the hunt that its runs do not exclude if the
    /// change was taken back at some commit, otherwise `among`, the candidates if a single commit
    /// made the change.
    pub(crate) fn with_all_open(
        &mut self,
        search_range: &SearchRange,
        among: Vec<CommitId>,
        why: &str,
    ) -> Result<(Vec<CommitId>, String), HuntError> {
        Ok(match self.open_if_contradicted(search_range)? {
            Some(open) => {
                let why = all_open_reason(why, &among, &open);
                (open, why)
            }
            None => {
                (among, format!("{why}; the candidates assume that one commit made the change"))
            }
        })
    }

    /// All commits of the hunt that its runs do not exclude, if they show that the change was taken
    /// back at some commit. `None` if they do not, and for builds that fail: they have no runs. A
    /// rejected claim alone is no reason: where runs differ, single runs often mislead a search.
    pub(crate) fn open_if_contradicted(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<Option<Vec<CommitId>>, HuntError> {
        if measures_of(&search_range.targets).is_empty() {
            return Ok(None);
        }
        let (lineage, sides) = self.measured_sides(search_range)?;
        Ok(is_taken_back(&lineage, &sides).then(|| not_excluded(&lineage, &sides)))
    }

    /// The candidates if a single commit made the change. Where runs of one commit differ, single
    /// runs mislead: only a commit that is surely on one side leaves out others. A failure that no
    /// commit without the change shows needs no such care (see [`Self::open_range`]).
    pub(crate) fn open_by_rates(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<Vec<CommitId>, HuntError> {
        let is_failure = |target: &Target| matches!(target, Target::Failure { .. });
        let targets = &search_range.targets;
        if targets.iter().any(is_failure) || measures_of(targets).is_empty() {
            return self.open_range(search_range);
        }
        let (lineage, sides) = self.measured_sides(search_range)?;
        let open = left_by_one_change(&lineage, &sides);
        Ok(if open.is_empty() { not_excluded(&lineage, &sides) } else { open })
    }

    /// All commits of the hunt but those that its runs exclude.
    pub(crate) fn all_open(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<Vec<CommitId>, HuntError> {
        let (lineage, sides) = self.measured_sides(search_range)?;
        Ok(not_excluded(&lineage, &sides))
    }

    /// The commits of the hunt, and the sides on which their runs surely are. Not only those of the
    /// search range: a few runs may have chosen its ends. Makes no runs.
    fn measured_sides(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<(Vec<Lineage>, BTreeMap<CommitId, RateSide>), HuntError> {
        let by_builds = self.builds_differ(&search_range.targets)?;
        let with_runs = self.with_runs()?;
        let counts = self.counts_in(search_range, &with_runs, by_builds)?;
        let first_parent = self.begun.options.first_parent;
        let range = Range { first_parent, ..self.whole() };
        let mut lineage = Vec::new();
        for mut one in self.oracle.history.lineage(&range)? {
            if first_parent {
                one.parents.truncate(1);
            }
            if !self.is_aside(&one.commit, search_range)? {
                lineage.push(one);
            }
        }
        let sides = sides_by_rates(&counts, self.begun.ends());
        Ok((lineage, sides))
    }

    /// The commits that were judged, compared, or run in a search in noise: such a search writes a
    /// verdict only if a single change makes it sure.
    fn with_runs(&self) -> Result<BTreeSet<CommitId>, HuntError> {
        let mut known = self.measured()?;
        for entry in &self.hunt.entries_in_force()? {
            if let Event::Weighed(weighed) = &entry.event {
                let sampled = weighed.commits.iter().filter(|one| one.samples > 0);
                known.extend(sampled.map(|one| one.commit.clone()));
            }
        }
        Ok(known)
    }
}

/// Why all these commits are candidates. `likely`: the candidates if a single commit made the
/// change; not named if they are not fewer.
pub(super) fn all_open_reason(why: &str, likely: &[CommitId], open: &[CommitId]) -> String {
    let all = format!(
        "{why}; several commits may have changed the result, so the list has all commits of the \
         hunt that the runs do not exclude"
    );
    let likely = if likely.len() < open.len() { likely } else { &[] };
    match likely {
        [] => all,
        [only] => format!("{all}; if one commit made the whole change, it is {}", only.short()),
        _ => format!("{all}; if one commit made the whole change, it is one of {}", names(likely)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn the_reason_names_what_a_single_change_would_leave() {
        let open: Vec<CommitId> = ('1'..='9').map(commit).collect();
        let said = |likely: &[CommitId]| all_open_reason("the search ended", likely, &open);
        let [one, other] = [open[0].short(), open[1].short()];
        assert!(said(&open[..1]).ends_with(&format!("it is {one}")));
        assert!(said(&open[..2]).ends_with(&format!("it is one of {one}, {other}")));
        for none in [&open[..0], &open[..]] {
            assert!(said(none).starts_with("the search ended; several commits"));
            assert!(said(none).ends_with("do not exclude"));
        }
    }
}
