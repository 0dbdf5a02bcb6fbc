//! Finds other commits with the same change as the found one: an earlier one that was reverted, or
//! a cherry-pick on another branch.

use std::collections::BTreeSet;

use crate::evaluation::CommitId;
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::culprit_status::Mend;
use super::found_step::FoundStep;

/// Maximum number of other branches that are searched.
const MOST_BRANCHES: usize = 2;

impl Driver<'_> {
    /// If an earlier commit has the same change and is bad: a search range up to that commit, and a
    /// mend at the found commit's parent, where the change is gone.
    pub(crate) fn landed_before(
        &mut self,
        step: &FoundStep<'_>,
    ) -> Result<Option<(SearchRange, Mend)>, HuntError> {
        let FoundStep { search_range, culprit, .. } = step;
        let [older, _] = search_range.ends();
        let parent = &culprit.parent;
        if parent == older {
            return Ok(None);
        }
        let history = &self.oracle.history;
        let change = history.change(parent, &culprit.info.commit)?;
        let touching = history.touching(older, parent, &change)?;
        let landed =
            |commit: &&CommitId| history.carries_mostly(commit, &change) && *commit != parent;
        if history.contains_change(older, &change) != Some(false) {
            return Ok(None);
        }
        let Some(commit) = touching.iter().find(landed).cloned() else { return Ok(None) };
        let judgement = self.judge(&commit, &search_range.targets)?;
        if !search_range.is_newer(judgement.verdict) {
            return Ok(None);
        }
        let effect = culprit.effects.first();
        let mend = Mend {
            by: parent.clone(),
            before: None,
            metric: effect.map(|effect| effect.metric.clone()),
            amount: effect.and_then(|effect| effect.own_step).unwrap_or(f64::INFINITY),
            left: 0.0,
            limit: effect.map_or(0.0, |effect| effect.limit),
            // The amount is that of the later commit's step.
            repeats: false,
        };
        Ok(Some(((*search_range).clone().up_to(commit), mend)))
    }

    /// A search range for each branch that has the change but not the found commit, as after a
    /// cherry-pick.
    pub(crate) fn on_other_branches(
        &mut self,
        step: &FoundStep<'_>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let FoundStep { search_range, culprit, .. } = step;
        let found = &culprit.info.commit;
        let change = self.oracle.history.change(&culprit.parent, found)?;
        let mut next = Vec::new();
        for tip in self.tips_without(search_range, found)?.into_iter().take(MOST_BRANCHES) {
            if !self.oracle.history.carries_mostly(&tip, &change) {
                continue;
            }
            let mut is_bad_from_the_start = false;
            for base in self.oracle.history.merge_bases(search_range.ends()[0], &tip)? {
                let judgement = self.judge(&base, &search_range.targets)?;
                is_bad_from_the_start |= search_range.is_newer(judgement.verdict);
            }
            if is_bad_from_the_start {
                continue;
            }
            let judgement = self.judge(&tip, &search_range.targets)?;
            if search_range.is_newer(judgement.verdict) {
                next.push((*search_range).clone().up_to(tip));
            }
        }
        Ok(next)
    }

    /// The tips of side branches of the search range that were merged after the found commit:
    /// parents of merges that are neither descendants nor ancestors of the found commit.
    fn tips_without(
        &self,
        search_range: &SearchRange,
        found: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
        let with: BTreeSet<CommitId> = history.descending(found, newer)?.into_iter().collect();
        let range = Range::between(older, newer);
        let inside: BTreeSet<CommitId> = history.commits(&range)?.into_iter().collect();
        let mut tips = Vec::new();
        for merge in &with {
            for parent in history.parents(merge)? {
                let is_other = parent != *found && !with.contains(&parent);
                if is_other
                    && inside.contains(&parent)
                    && !tips.contains(&parent)
                    && !history.is_ancestor(&parent, found)?
                {
                    tips.push(parent);
                }
            }
        }
        Ok(tips)
    }
}
